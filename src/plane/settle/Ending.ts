/**
 * Ends a request: it is settled, then the client gets its last byte. Every way a request can end is here.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { AttemptRecord } from "../../subjects/routing/entity.ts"
import { describe, type InferenceError, TargetsFailed, TargetsUnavailable } from "../../contract/domain/Errors.ts"
import * as Events from "../../observe/Events.ts"
import type { Listens } from "../../agents/plugins/hooks/ActiveListeners.ts"
import { Hooks } from "../../agents/plugins/hooks/Hooks.ts"
import * as HookEvents from "../hooks/Events.ts"
import * as QuotaWindows from "../routing/quota/QuotaWindows.ts"
import type { Target } from "../routing/resolve/ModelResolver.ts"
import * as Engine from "../routing/decide/Engine.ts"
import type { FailoverEnd, RequestEnd } from "../failover/FailoverEnd.ts"
import { apiKeyIdOf, type Exchange, type Work } from "../request/Exchange.ts"
import { answerHeaders, costFacts, mappedFacts, streamHeaders } from "../request/Headers.ts"
import { errorKindOf } from "../attempt/ClientError.ts"
import { RunningRequests } from "../request/RunningRequests.ts"
import * as Timers from "../../platform/Timers.ts"
import { streamWithUsage } from "../../wire/EstimatedUsage.ts"
import type { AttemptResult } from "../attempt/AttemptResult.ts"
import type { Bill, Served } from "./Bill.ts"
import { answerError } from "../request/OwnAnswer.ts"
import { optional } from "../../wire/json/Json.ts"
import { ComboSwitches, type Place } from "./ComboSwitches.ts"
import { Settlement } from "./Settlement.ts"
import type { Instead, Kept } from "../request/KeptAnswer.ts"
import { asSentence } from "../../kernel/text/Sentence.ts"

const nothing = (): void => {}
const nothingLost = { dropped: [] }

type Settle = typeof Settlement.Service.settle

/** A request that is about to be settled. */
interface Closing {
  readonly settle: Settle
  readonly work: Work
  /** Calls that were made for it beside the one that answered. */
  readonly others: ReadonlyArray<Served>
}

/** Settles what the client gets in the place of the answer, which goes to those further in alone. */
const settlingInstead =
  (settle: Settle, { answer, ending }: Instead): Settle =>
  (settled, further) =>
    settle({ ...settled, ending }, () => {
      further()
      answer()
    })

/**
 * Returns the last bytes of a stream, with the estimate that the bill has where the upstream reported no usage and the
 * client is to see some.
 */
const lastOf = (
  { envelope, exchange }: Work,
  { body, report }: Extract<AttemptResult, { _tag: "Completed" }>,
  { source, tokens }: Bill
): Buffer | string => {
  const { codec, requestId, wire } = exchange
  if (source !== "estimated" || !envelope.wantsUsage || codec.endpoint !== undefined || report.usage !== null)
    return body
  return streamWithUsage(wire, body, tokens, { requestId, model: envelope.model })
}

const outcomes = { Completed: "completed", Broken: "failed", Aborted: "aborted" } as const

type Failed = Extract<FailoverEnd, { _tag: "Failed" }>

export class Ending extends Context.Tag("gateway/plane/settle/Ending")<
  Ending,
  {
    /**
     * Hot: settles the request, then gives the client its last byte. `others`: what was done for the request beside the call that ended it.
     * Returns its bill.
     */
    readonly finish: (work: Work, end: RequestEnd, others: ReadonlyArray<Served>, instead?: Instead) => Bill
    /** Answers a request that goes no further than its opening. `headers`: further ones of its answer, as a flat name–value list. */
    readonly refuse: (exchange: Exchange, error: InferenceError, headers?: ReadonlyArray<string>) => void
    /** Settles a request that took no call of its own, then runs `answer`. */
    readonly keep: (exchange: Exchange, kept: Kept, answer: () => void) => void
  }
>() {}

const attemptPlace = ({ connectionId, model, provider }: AttemptRecord): Place => ({
  key: `${connectionId} ${model}`,
  name: `${provider}/${model}`
})

const placeOf = ({ account, model }: Target): Place => ({
  key: `${account.connection.id} ${model}`,
  name: `${account.spec.id}/${model}`
})

const services = Effect.all({
  engine: Engine.Engine,
  events: Events.Events,
  hooks: Hooks,
  quotas: QuotaWindows.QuotaWindows,
  running: RunningRequests,
  settlement: Settlement,
  timers: Timers.Timers
})
interface Deps extends Effect.Effect.Success<typeof services> {
  readonly listens: Listens
  readonly switches: ComboSwitches
}

/** Counts a call against the quotas of its account, and against the key's share of them. */
const countQuota = (
  { engine, quotas, timers }: Deps,
  work: Work,
  { report, target }: Served,
  { costNanoUsd, tokens }: Bill
): void => {
  if (report === null) return
  const { connection } = target.account
  const used = { tokens: tokens.in + tokens.out, costNanoUsd }
  const atMs = timers.nowMs()
  quotas.count(connection, used, atMs)
  engine.shares.count(target.share ?? null, apiKeyIdOf(work.exchange), connection, used, atMs)
}

/** Failure of all targets. */
interface TargetsError {
  readonly error: TargetsFailed | TargetsUnavailable
  readonly reason: string
  /** The failure as a stream; null: as an error answer. */
  readonly stream?: string | null
}

const failed = (
  { hooks, listens, settlement }: Deps,
  { others, settle, work }: Closing,
  target: Target | null,
  { error, reason, stream = null }: TargetsError
): Bill => {
  const served = target === null ? null : { target, report: null, firstContentMs: null }
  const ending = { outcome: "failed", status: error.status, error: reason } as const
  const bill = settlement.bill(work, served, others)
  if (listens.any) HookEvents.refused(hooks, work.exchange, error, work.trail.attempts, work.envelope)
  settle({ work, served, bill, ending }, () => {
    if (stream === null || target === null) return answerError(work.exchange, error, work.trail.headers)
    work.exchange.reply.head(200, streamHeaders(work, target, nothingLost))
    work.exchange.reply.end(stream)
  })
  return bill
}

/**
 * Writes the failure as a stream of its own, where the client's wire reports it so; null where an error status does.
 */
const failedStream = (
  { timers }: Deps,
  { asked, envelope, exchange }: Work,
  { failure, target }: Failed,
  error: TargetsFailed
) => {
  const { codec, requestId, wire } = exchange
  if (!envelope.stream || codec.renderFailedStream === undefined) return null
  // An upstream of the same wire has chosen the form itself.
  if (failure.place === "status" && error.native?.wire === wire) return null
  return codec.renderFailedStream(describe(error), requestId, {
    nowMs: timers.nowMs(),
    fallbackId: requestId,
    model: target.model,
    wantsUsage: envelope.wantsUsage,
    request: asked
  })
}

const finish = (
  deps: Deps,
  work: Work,
  end: RequestEnd,
  others: ReadonlyArray<Served>,
  instead: Instead | undefined
): Bill => {
  const bill = ended(deps, work, end, others, instead)
  if (deps.listens.any) endHooks(deps, work, end, bill, instead)
  return bill
}

/** Emits the events of an answer to plugins that only listen. Errors of targets were emitted where they were made. */
const endHooks = ({ hooks }: Deps, work: Work, end: RequestEnd, bill: Bill, instead: Instead | undefined): void => {
  const { exchange, trail } = work
  const error = (status: number, code: string, message: string): void =>
    HookEvents.endedAsError(hooks, exchange, { status, code, message }, trail.attempts, work.envelope)
  if (instead?.ending.outcome === "failed" && end._tag !== "Failed" && end._tag !== "Unavailable") {
    const { error: code, status } = instead.ending
    error(status, code ?? "", "The answer was not given.")
  } else if (end._tag === "Kept" && end.kept.ending.outcome === "failed") {
    error(end.kept.ending.status, end.kept.ending.error ?? "", "The answer that the request was to share failed.")
  } else if (end._tag === "Answered" && end.result._tag === "Broken") {
    const { message, reason, status } = end.result.failure
    error(status, reason, message)
  }
  const outcome = instead?.ending.outcome ?? (end._tag === "Answered" ? outcomes[end.result._tag] : "failed")
  if (exchange.hooks !== undefined) HookEvents.streamEnded(hooks, work, outcome, bill)
}

const ended = (
  deps: Deps,
  work: Work,
  end: RequestEnd,
  others: ReadonlyArray<Served>,
  instead: Instead | undefined
): Bill => {
  const { settlement } = deps
  const settle = instead === undefined ? settlement.settle : settlingInstead(settlement.settle, instead)
  const closing: Closing = { settle, work, others }
  for (const other of others) countQuota(deps, work, other, settlement.bill(work, other))
  if (end._tag === "Unavailable") {
    const { code, detail, limit, rule, status, terminal } = end.unready
    // Of other kinds the code says what holds the target back.
    const clientError = errorKindOf(terminal ?? end.unready.kind, null)
    const kind = clientError === "insufficient_quota" || clientError === "usage_limit" ? clientError : null
    const resetsAtMs = kind === "usage_limit" ? end.unready.untilMs : (limit?.resetsAtMs ?? null)
    // Waiting brings no money back.
    const retryAfterMs = kind === "insufficient_quota" ? null : end.retryAfterMs
    const error = new TargetsUnavailable({
      status,
      code,
      message: `${asSentence(detail)}`,
      kind,
      retryAfterMs,
      resetsAtMs,
      isKeyLimit: rule === "limit",
      ...optional("limit", limit)
    })
    return failed(deps, closing, null, { error, reason: code })
  }
  if (end._tag === "Failed") {
    const { failure, retryAfterMs, target } = end
    const { message, reason, status } = failure
    const clientError = failure.clientError ?? { kind: errorKindOf(failure.kind, null), native: null }
    const resetsAtMs = clientError.kind === "usage_limit" ? failure.untilMs : null
    const error = new TargetsFailed({
      status,
      message,
      ...clientError,
      retryAfterMs,
      resetsAtMs,
      attempts: work.trail.attempts
    })
    return failed(deps, closing, target, { error, reason, stream: failedStream(deps, work, end, error) })
  }
  if (end._tag === "Kept") {
    const bill = settlement.bill(work, null, others)
    settle({ work, served: null, bill, ending: end.kept.ending, kept: end.kept }, end.answer)
    return bill
  }
  if (end._tag === "Refused") return stopped(deps, closing, end.error)
  return answered(deps, closing, end.target, end.result)
}

/** Settles a request that a feature ended; upstream calls before that are on the bill. */
const stopped = (
  { hooks, listens, settlement }: Deps,
  { others, settle, work }: Closing,
  error: InferenceError
): Bill => {
  const { code, status } = describe(error)
  const bill = settlement.bill(work, null, others)
  if (listens.any) HookEvents.refused(hooks, work.exchange, error, work.trail.attempts, work.envelope)
  settle({ work, served: null, bill, ending: { outcome: "failed", status, error: code } }, () =>
    answerError(work.exchange, error, work.trail.headers)
  )
  return bill
}

const answered = (
  deps: Deps,
  { others, settle, work }: Closing,
  target: Target,
  result: Extract<FailoverEnd, { _tag: "Answered" }>["result"]
): Bill => {
  const { engine, hooks, listens, running, settlement, timers } = deps
  const { reply } = work.exchange
  // It is billed when it is over.
  const report = result.report?.isUnderWay === true ? null : result.report
  const served = { target, report, firstContentMs: result.firstContentMs }
  const bill = settlement.bill(work, served, others)
  countQuota(deps, work, served, others.length === 0 ? bill : settlement.bill(work, served))
  switch (result._tag) {
    case "Completed":
      engine.served(work.question, work.decision, target)
      noteSwitch(deps, work, target)
      if (result.form === "replayed") {
        if (listens.any) HookEvents.streamStarted(hooks, work, target, timers.monotonicMs())
        if (work.trail.streams() && running.watch.isOn) running.streams(work)
      }
      settle({ work, served, bill, ending: { outcome: "completed", status: 200, error: null } }, () => {
        if (result.form === "whole") {
          reply.head(200, answerHeaders(work, target, result, bill, Buffer.byteLength(result.body)))
        } else if (result.form === "replayed") {
          reply.head(200, streamHeaders(work, target, result))
        }
        if (result.form === "whole") reply.end(result.body)
        else if (result.form === "replayed") reply.end(lastOf(work, result, bill), () => costFacts(bill))
        else reply.end(lastOf(work, result, bill), () => [...costFacts(bill), ...mappedFacts(result.mapped)])
      })
      return bill
    case "Broken":
      settle({ work, served, bill, ending: { outcome: "failed", status: 200, error: result.failure.reason } }, () =>
        result.ending === null ? reply.cut() : reply.end(result.ending, () => costFacts(bill))
      )
      return bill
    case "Aborted":
      settle({ work, served, bill, ending: { outcome: "aborted", status: 499, error: "client_left" } }, nothing)
      return bill
  }
}

/** Publishes that another target of a combo serves from here on. */
const noteSwitch = ({ events, switches, timers }: Deps, work: Work, target: Target): void => {
  const { combo, targets } = work.resolution
  // A panel has no second choice.
  if (combo === null || combo.strategy === "fusion") return
  // Attempts are noted when they end: a hedge that lost is behind the one that began after it.
  const tried = work.trail.attempts.reduce<AttemptRecord | null>(
    (earliest, each) => (earliest === null || each.startedMs < earliest.startedMs ? each : earliest),
    null
  )
  const served = placeOf(target)
  const isOrdered = combo.strategy === "priority"
  const [head] = targets
  const first = isOrdered && head !== undefined ? placeOf(head) : tried === null ? served : attemptPlace(tried)
  const failed = work.trail.attempts.filter((each) => attemptPlace(each).key !== served.key)
  const wasMissed = (key: string): boolean =>
    failed.some((each) => attemptPlace(each).key === key) ||
    [...work.trail.exclusions.keys()].some((each) => placeOf(each).key === key)
  const reason = failed[0]?.reason ?? "unavailable"
  for (const { from, isReturn, to } of switches.note({
    combo: combo.id,
    isOrdered,
    first,
    served,
    wasMissed
  })) {
    events.publish({
      type: "combo.switched",
      atMs: timers.nowMs(),
      requestId: work.exchange.requestId,
      combo: combo.name,
      from,
      to,
      reason: isReturn ? "recovered" : reason
    })
  }
}

const refuse = (
  { hooks, listens, settlement }: Deps,
  exchange: Exchange,
  error: InferenceError,
  headers: ReadonlyArray<string> | undefined
): void => {
  const { code, status } = describe(error)
  const model = "model" in error ? (error.model ?? "") : ""
  const isUnknownCaller = error._tag === "Unauthenticated" || error._tag === "SessionRefused"
  if (listens.any) HookEvents.refused(hooks, exchange, error)
  settlement.settleRefused(exchange, model, { outcome: "failed", status, error: code }, isUnknownCaller, () =>
    answerError(exchange, error, headers)
  )
}

export const make = Effect.gen(function* () {
  const all = yield* services
  const { listens } = all.hooks
  const deps: Deps = { ...all, listens, switches: new ComboSwitches() }

  return Ending.of({
    finish: (work, end, others, instead) => finish(deps, work, end, others, instead),
    refuse: (exchange, error, headers) => refuse(deps, exchange, error, headers),
    keep: deps.settlement.settleKept
  })
})

export const layer: Layer.Layer<Ending, never, Effect.Effect.Context<typeof services>> = Layer.effect(Ending, make)
