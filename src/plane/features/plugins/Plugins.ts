/**
 * `onResponse` of plugins (`docs/plugins.md`): a whole answer waits for those that may change it, a stream goes to them at its end, or is held back where
 * a plugin asks for that. Outside of what keeps and shares answers: those are kept as the model gave them, and plugins see them each time that they
 * are given. An idempotent replay is what the client saw.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import { PluginFailed } from "../../../contract/domain/Errors.ts"
import type { RequestPayload } from "../../../contract/domain/PluginPayload.ts"
import { Timers } from "../../../platform/Timers.ts"
import type { Listens } from "../../../agents/plugins/hooks/ActiveListeners.ts"
import { type HookedAnswer, Hooks, type ResponseVerdict } from "../../../agents/plugins/hooks/Hooks.ts"
import type { HookRun } from "../../../agents/plugins/hooks/HookRun.ts"
import type { JsonObject } from "../../../wire/json/Json.ts"
import { TokenCounter } from "../../counting/TokenCounter.ts"
import { restOf } from "../../failover/FailoverEnd.ts"
import { tokensOf, usdOf } from "../../hooks/Events.ts"
import { Rooms } from "../../reply/HeldChunks.ts"
import { unlessDisconnected } from "../../request/ClientDisconnect.ts"
import type { Work } from "../../request/Exchange.ts"
import { promptTexts } from "../../request/PromptTokens.ts"
import * as StopSignal from "../../request/StopSignal.ts"
import { type Bill, isUncounted } from "../../settle/Bill.ts"
import { Settlement } from "../../settle/Settlement.ts"
import type { Answer, Answered, Feature } from "../Feature.ts"
import { type SeenAnswer, seenStream, seenWhole } from "./ChangedAnswer.ts"
import { HookedReply, roomBytes } from "./HookedReply.ts"
import { namingPlugins } from "./PluginHeader.ts"

export class Plugins extends Context.Tag("gateway/plane/features/plugins/Plugins")<Plugins, Feature>() {}

/** Facts that are sent to plugins when the request is settled. */
interface Observed {
  readonly seen: Pick<SeenAnswer, "body">
  readonly status: number
}

const nothing = (): void => {}
const clientLeft = { outcome: "aborted", status: 499, error: "client_left" } as const
const unseen = { body: null }

/** The end of an answer that its client is to get; null where it is none. */
const answerEnd = ({ end, replacement, instead }: Answered): Buffer | string | null => {
  if (instead !== undefined) return null
  if (end._tag === "Kept") return end.kept.ending.outcome === "completed" ? (replacement ?? end.rest) : null
  if (end._tag !== "Answered" || end.result._tag !== "Completed") return null
  return replacement ?? restOf(end)
}

/** Bytes that were relayed as they came, or text of another type. */
const isJson = ({ end }: Answered, work: Work): boolean => {
  if (end._tag !== "Answered" || end.result._tag !== "Completed") return true
  const { form, type } = end.result
  return work.envelope.stream || (form === "whole" && type === undefined)
}

const servedOf = ({ end }: Answered): { readonly provider: string | null; readonly model: string | null } => {
  if (end._tag === "Answered") return { provider: end.target.account.spec.id, model: end.target.model }
  if (end._tag === "Kept" && end.kept.provider !== null) return { provider: end.kept.provider, model: end.kept.model }
  return { provider: null, model: null }
}

const services = Effect.all({
  counter: TokenCounter,
  hooks: Hooks,
  settlement: Settlement,
  stop: StopSignal.StopSignal,
  timers: Timers
})
interface Deps extends Effect.Effect.Success<typeof services> {
  readonly observed: WeakMap<HookRun, Observed>
  readonly listens: Listens
  readonly rooms: Rooms
}

/** A request whose answer plugins see. */
interface Hooked {
  readonly run: HookRun
  readonly work: Work
  readonly reply: HookedReply
  /** True when its stream is held until they have seen it. */
  readonly holds: boolean
}

const billOf = ({ settlement }: Deps, { end, others, work }: Answered): Bill => {
  const all = [...others, ...work.trail.charged]
  if (end._tag !== "Answered") return settlement.bill(work, null, all)
  const { firstContentMs, report } = end.result
  return settlement.bill(work, { target: end.target, report, firstContentMs }, all)
}

/** Counts the prompt where no upstream has reported its usage: plugins get the numbers of the bill. */
const counted = ({ counter }: Deps, answered: Answered): Effect.Effect<Answered> => {
  const { work } = answered
  if (work.textTokens !== undefined || !isUncounted(answered)) return Effect.succeed(answered)
  return Effect.map(counter.countTexts(promptTexts(work, work.envelope.model)), (textTokens) => ({
    ...answered,
    work: { ...work, textTokens }
  }))
}

const payloadOf = (answered: Answered, bill: Bill, streamed: boolean): RequestPayload<"onResponse"> => ({
  status: 200,
  streamed,
  ...servedOf(answered),
  tokens: tokensOf(bill.tokens),
  costUsd: usdOf(bill.costNanoUsd),
  latencyMs: bill.latencyMs
})

const hookedAnswer = (answered: Answered, bill: Bill, seen: SeenAnswer, streamed: boolean): HookedAnswer => {
  const payload = payloadOf(answered, bill, streamed)
  return {
    payload: payload as unknown as JsonObject,
    body: seen.body,
    provider: payload.provider ?? "",
    isReadable: seen.isReadable
  }
}

const refused = (answered: Answered, reply: HookedReply, plugin: string, model: string): Answered => {
  const ending = { outcome: "failed", status: reply.hasHead() ? 200 : 503, error: "plugin_failed" } as const
  reply.withhold()
  return { ...answered, instead: { ending, answer: () => reply.refuse(new PluginFailed({ plugin, model })) } }
}

const left = (answered: Answered, reply: HookedReply): Answered => {
  reply.withhold()
  return { ...answered, instead: { ending: clientLeft, answer: nothing } }
}

/**
 * Asks the plugins that may change the answer, until the client leaves. When the gateway stops, a complete answer is
 * given, unless it is guarded.
 */
const asked = (
  { hooks, stop }: Deps,
  run: HookRun,
  work: Work,
  answer: HookedAnswer
): Effect.Effect<ResponseVerdict | null> =>
  Effect.match(
    StopSignal.unlessStopped(
      stop,
      unlessDisconnected(work.exchange.reply, hooks.response(run, answer, work.envelope.stream))
    ),
    {
      onFailure: ({ _tag }) => {
        if (_tag === "ClientGone") return null
        const guard = hooks.guardOf("onResponse", work.envelope.stream)
        return guard === null
          ? ({ _tag: "Passed", body: answer.body } as const)
          : ({ _tag: "Refused", plugin: guard } as const)
      },
      onSuccess: (verdict) => verdict
    }
  )

const changed = Effect.fnUntraced(function* (
  deps: Deps,
  { reply, run, work }: Hooked,
  ended: Answered,
  seen: SeenAnswer,
  original: Buffer
) {
  const answered = yield* counted(deps, ended)
  const answer = hookedAnswer(answered, billOf(deps, answered), seen, work.envelope.stream)
  const verdict = yield* asked(deps, run, work, answer)
  if (verdict === null) return left(answered, reply)
  if (verdict._tag === "Refused") return refused(answered, reply, verdict.plugin, work.envelope.model)
  const { body } = verdict
  const isChanged = body !== null && body !== seen.body
  const bytes = isChanged ? seen.sent(body) : original
  if (work.envelope.stream)
    deps.observed.set(run, { seen: { body: isChanged ? Buffer.from(body) : seen.body }, status: 200 })
  // What is not changed and was not held goes out as it comes.
  if (isChanged || work.envelope.stream) reply.conclude(bytes)
  return answered
})

const streamEnded = (deps: Deps, hooked: Hooked, answered: Answered): Effect.Effect<Answered> => {
  const { holds, reply, run, work } = hooked
  const { hooks, observed, timers } = deps
  const guard = hooks.guardOf("onResponse", true)
  if (reply.isRefused()) return Effect.succeed(refused(answered, reply, guard ?? "", work.envelope.model))
  const rest = answerEnd(answered)
  const before = reply.soFar()
  if (rest === null || before === null) {
    reply.release()
    if (rest !== null) observed.set(run, { seen: unseen, status: 200 })
    return Effect.succeed(answered)
  }
  const bytes = Buffer.concat([before, typeof rest === "string" ? Buffer.from(rest) : rest])
  const { envelope, exchange } = work
  const context = {
    nowMs: timers.nowMs(),
    fallbackId: exchange.requestId,
    model: servedOf(answered).model ?? envelope.model,
    wantsUsage: envelope.wantsUsage,
    request: work.asked
  }
  const seen = seenStream(exchange.codec, bytes, context, envelope.candidates)
  if (holds) return changed(deps, hooked, answered, seen, bytes)
  observed.set(run, { seen, status: 200 })
  return Effect.succeed(answered)
}

const wholeEnded = (deps: Deps, hooked: Hooked, answered: Answered): Effect.Effect<Answered> => {
  const { reply, run, work } = hooked
  const rest = answerEnd(answered)
  if (rest === null) return Effect.succeed(answered)
  if (!reply.isUntouched() || !isJson(answered, work)) {
    deps.observed.set(run, { seen: unseen, status: 200 })
    return Effect.succeed(answered)
  }
  const bytes = typeof rest === "string" ? Buffer.from(rest) : rest
  return changed(deps, hooked, answered, seenWhole(work.exchange.wire, work.exchange.codec, bytes), bytes)
}

const answeredFor = (deps: Deps, run: HookRun, work: Work, next: Answer): Effect.Effect<Answered> => {
  const { hooks, listens, rooms } = deps
  const { envelope, exchange } = work
  const isStream = envelope.stream
  const holds = isStream && listens.bufferedStreams
  run.mayObserve = true
  const reply = new HookedReply(exchange, {
    isStream,
    holds,
    isGuarded: holds && hooks.guardOf("onResponse", true) !== null,
    room: rooms.of(work.owner),
    marked: (headers) => namingPlugins(headers, run.touched)
  })
  const answering = Effect.onExit(next({ ...work, exchange: { ...exchange, reply: reply.reply } }), (exit) =>
    Exit.isSuccess(exit) ? Effect.void : Effect.sync(() => reply.withhold())
  )
  const hooked = { run, work, reply, holds }
  return Effect.flatMap(answering, (answered) =>
    isStream ? streamEnded(deps, hooked, answered) : wholeEnded(deps, hooked, answered)
  )
}

export const make = Effect.gen(function* () {
  const all = yield* services
  const { listens } = all.hooks
  const observed = new WeakMap<HookRun, Observed>()
  const deps: Deps = { ...all, observed, listens, rooms: new Rooms(roomBytes) }

  return Plugins.of({
    concerns: ({ exchange }) => listens.onResponse && exchange.hooks !== undefined,
    around: (next) => (work) => {
      const run = work.exchange.hooks
      return listens.onResponse && run !== undefined
        ? Effect.suspend(() => answeredFor(deps, run, work, next))
        : next(work)
    },
    ended: (work, end, bill) => {
      const run = listens.onResponse ? work.exchange.hooks : undefined
      const observedRun = run === undefined ? undefined : observed.get(run)
      if (run === undefined || observedRun === undefined) return
      observed.delete(run)
      const answered = { work, end, others: [] }
      const seen = {
        body: observedRun.seen.body,
        isReadable: () => false,
        sent: (changed: Uint8Array) => Buffer.from(changed)
      }
      deps.hooks.observe(run, hookedAnswer(answered, bill, seen, work.envelope.stream))
    }
  })
})

export const layer: Layer.Layer<Plugins, never, Effect.Effect.Context<typeof services>> = Layer.effect(Plugins, make)
