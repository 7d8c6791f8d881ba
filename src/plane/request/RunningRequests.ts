/**
 * The requests under way, from their decision to their end, and who watches them. Nothing is made for them but a place in a list: what is known of
 * one is on its trail, and is put together when it is asked for.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { AttemptRecord, DecisionRecord } from "../../subjects/routing/entity.ts"
import { estimateTokens } from "../../observe/usage/Cost.ts"
import { makeSignal } from "../../kernel/collections/Signal.ts"
import { once } from "../../kernel/once.ts"
import { Slots } from "../../kernel/collections/Slots.ts"
import * as Timers from "../../platform/Timers.ts"
import { type DecisionEntry, recordOf } from "../routing/records/DecisionRecords.ts"
import type { Target } from "../routing/resolve/ModelResolver.ts"
import { apiKeyIdOf, type Work } from "./Exchange.ts"

/** `waiting`: no call is under way; `calling`: one is, and nothing of its answer is there; `streaming`: the client gets it. */
export type RunningState = "waiting" | "calling" | "streaming"

export interface RunningRequest {
  readonly requestId: string
  /** Epoch milliseconds. */
  readonly startedMs: number
  readonly apiKeyId: string | null
  readonly requestedModel: string
  /** Number of targets that it was decided among. */
  readonly candidates: number
  /** `provider/model` of the call under way; null: none is. */
  readonly target: string | null
  readonly state: RunningState
  /** Tokens of the answer so far: the upstream's count, else an estimate. */
  readonly tokensOut: number
}

/** An event of a request under way. `data` is put together only where it is told. */
export interface ProgressEvent {
  readonly type: "request.started" | "request.attempt" | "request.streaming"
  readonly atMs: number
  readonly data: () => Readonly<Record<string, unknown>>
}

export class RunningRequests extends Context.Tag("gateway/plane/request/RunningRequests")<
  RunningRequests,
  {
    /** Hot: read before any event is made. */
    readonly watch: { readonly isOn: boolean }
    /** Hot: a request was decided. Returns its place, for `leave`. */
    readonly enter: (work: Work) => number
    /** Hot. */
    readonly leave: (place: number, work: Work) => void
    /** Only while `watch` is on: a call of the request begins. */
    readonly begun: (work: Work, n: number, target: Target) => void
    /** The same: its latest call has ended. */
    readonly ended: (work: Work, n: number, attempt: AttemptRecord) => void
    /** The same: the client gets the first of a stream. */
    readonly streams: (work: Work) => void
    readonly count: () => number
    /** Number of requests that were decided since the start. */
    readonly started: () => number
    /** The oldest first. */
    readonly list: (limit: number) => ReadonlyArray<RunningRequest>
    /** The record of its decision as it is now; null: it is not under way. */
    readonly decision: (requestId: string) => DecisionRecord | null
    /** The same of every process. */
    readonly everywhere: (limit: number) => Effect.Effect<ReadonlyArray<RunningRequest>>
    readonly decisionEverywhere: (requestId: string) => Effect.Effect<DecisionRecord | null>
    /** Calls `listener` with each event until the returned function is called. It must neither throw nor take long. */
    readonly listen: (listener: (event: ProgressEvent) => void) => () => void
  }
>() {}

/** Candidates and calls are named so in decision records. */
const nameOf = ({ account, model }: Target): string => `${account.spec.id}/${model}`

const targetOf = ({ account, model }: Target) => ({
  provider: account.spec.id,
  connectionId: account.connection.id,
  model
})

const tokensOf = ({ trail }: Work): number => {
  const { facts } = trail.live
  if (facts === null) return 0
  const said =
    estimateTokens(facts.textChars) + estimateTokens(facts.toolArgChars, "json") + estimateTokens(facts.reasoningChars)
  return Math.max(facts.usage?.out ?? 0, said)
}

const stateOf = ({ trail }: Work): RunningState => {
  if (trail.live.hasContent) return "streaming"
  return trail.live.target === null ? "waiting" : "calling"
}

const viewOf = (work: Work): RunningRequest => {
  const { envelope, exchange, resolution, trail } = work
  return {
    requestId: exchange.requestId,
    startedMs: exchange.receivedMs,
    apiKeyId: apiKeyIdOf(exchange),
    requestedModel: envelope.model,
    candidates: resolution.targets.length,
    target: trail.live.target === null ? null : nameOf(trail.live.target),
    state: stateOf(work),
    tokensOut: tokensOf(work)
  }
}

const startedData = ({ decision, envelope, exchange, resolution }: Work) => {
  const [first] = decision.order
  return {
    requestId: exchange.requestId,
    apiKeyId: apiKeyIdOf(exchange),
    requestedModel: envelope.model,
    combo: resolution.combo?.name ?? null,
    strategy: decision.strategy,
    candidates: resolution.targets.length,
    first: first === undefined ? null : nameOf(first)
  }
}

const entryOf = ({ decision, envelope, exchange, resolution, trail }: Work): DecisionEntry => ({
  requestId: exchange.requestId,
  requestedModel: envelope.model,
  resolution,
  decision,
  attempts: trail.attempts,
  exclusions: trail.exclusions,
  chosen: null,
  ...(exchange.hooks === undefined ? {} : { plugins: exchange.hooks.calls })
})

/** Oldest first: ids rise with time, and places are used again. */
const inOrder = (one: Work, other: Work): number => one.exchange.receivedMs - other.exchange.receivedMs

export const make = Effect.gen(function* () {
  const { monotonicMs, nowMs } = yield* Timers.Timers
  const running = new Slots<Work>()
  const watch = { isOn: false }
  let count = 0
  let started = 0
  let listeners = 0
  const signal = makeSignal<ProgressEvent>()

  const tell = (type: ProgressEvent["type"], data: ProgressEvent["data"]): void =>
    signal.tell({ type, atMs: nowMs(), data })

  const all = (): Array<Work> => {
    const found: Array<Work> = []
    running.forEach((work) => void found.push(work))
    return found
  }

  const list = (limit: number): ReadonlyArray<RunningRequest> => all().toSorted(inOrder).slice(0, limit).map(viewOf)
  const decision = (requestId: string): DecisionRecord | null => {
    const work = all().find(({ exchange }) => exchange.requestId === requestId)
    return work === undefined ? null : recordOf(entryOf(work))
  }
  return RunningRequests.of({
    watch,
    enter: (work) => {
      count += 1
      started += 1
      if (watch.isOn) tell("request.started", () => startedData(work))
      return running.add(work)
    },
    leave: (place, work) => {
      if (running.remove(place, work)) count -= 1
    },
    begun: ({ exchange: { requestId } }, n, target) =>
      tell("request.attempt", () => ({
        requestId,
        n,
        target: nameOf(target),
        ...targetOf(target),
        outcome: null,
        reason: null
      })),
    ended: ({ exchange: { requestId } }, n, attempt) =>
      tell("request.attempt", () => ({
        requestId,
        n,
        target: `${attempt.provider}/${attempt.model}`,
        provider: attempt.provider,
        connectionId: attempt.connectionId,
        model: attempt.model,
        outcome: attempt.outcome,
        reason: attempt.reason,
        status: attempt.status,
        latencyMs: attempt.latencyMs
      })),
    streams: ({ exchange: { requestId, startedMs } }) => {
      const ttftMs = Math.max(0, Math.round(monotonicMs() - startedMs))
      tell("request.streaming", () => ({ requestId, ttftMs }))
    },
    count: () => count,
    started: () => started,
    list,
    decision,
    everywhere: (limit) => Effect.sync(() => list(limit)),
    decisionEverywhere: (requestId) => Effect.sync(() => decision(requestId)),
    listen: (listener) => {
      const stop = signal.listen(listener)
      listeners += 1
      watch.isOn = true
      return once(() => {
        stop()
        listeners -= 1
        watch.isOn = listeners > 0
      })
    }
  })
})

export const layer: Layer.Layer<RunningRequests, never, Timers.Timers> = Layer.effect(RunningRequests, make)
