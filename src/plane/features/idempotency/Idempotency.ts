/**
 * Idempotency: a request that comes again under the key its client gave it gets the answer of the first one, also while that is in
 * progress (`docs/idempotency.md`). Not for requests that the gateway makes itself, searches, and jobs that no client waits for.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { IdempotencyStats } from "../../cache/IdempotencyStats.ts"
import { type ContentPermission, mayKeepContent } from "../../../contract/domain/ContentPermission.ts"
import { IdempotencyKeyReused } from "../../../contract/domain/Errors.ts"
import { GatewaySettings } from "../../../subjects/flags/StoredFlags.ts"
import { FairPool } from "../../../kernel/collections/FairPool.ts"
import { type Timer, Timers } from "../../../platform/Timers.ts"
import { Rooms } from "../../reply/HeldChunks.ts"
import type { Work } from "../../request/Exchange.ts"
import type { Answer, Answered, Feature } from "../Feature.ts"
import { answeredAgain, type SharedAnswer, SharedCall } from "../sharing/SharedCall.ts"
import { hasKey, identityWithFiles, type RequestIdentity, requestIdentity } from "./RequestIdentity.ts"

export class Idempotency extends Context.Tag("gateway/plane/features/idempotency/Idempotency")<
  Idempotency,
  Feature
>() {}

/** The largest answer that is given again. */
export const maxAnswerBytes = 8 * 1_048_576
/** Most bytes of all answers that are being received, and of all that are stored. */
const roomBytes = 64 * 1_048_576
const maxKept = 10_000

const marks = ["X-Gateway-Idempotent", "true"]

interface Flight {
  readonly body: string
  readonly call: SharedCall
}

interface Kept {
  readonly owner: string
  readonly body: string
  /** Null: it is too large, so that only its key is known. */
  readonly answer: SharedAnswer | null
  /** Epoch milliseconds. */
  readonly untilMs: number
}

const weightOf = ({ answer }: Kept): number => 512 + (answer?.recorded.bytes ?? 0)

/** Hot: checks whether it is a request of a client that waits for its answer. */
const isClients = ({ exchange }: Work): boolean =>
  exchange.madeFor === "client" && exchange.service === undefined && exchange.job?.isDetached !== true

const services = Effect.all({ settings: GatewaySettings, timers: Timers })
interface Deps extends Effect.Effect.Success<typeof services> {
  readonly kept: FairPool<string, Kept>
  sweep: Timer | null
  readonly rooms: Rooms
  /** Requests in progress, by key. */
  readonly flights: Map<string, Flight>
}

const windowMs = ({ settings }: Deps): number => settings.current().idempotencyWindowMs

const removeExpired = ({ kept, timers }: Deps): void => {
  const nowMs = timers.nowMs()
  kept.prune(({ untilMs }) => untilMs <= nowMs)
}

const sweepLater = (deps: Deps): void => {
  const { kept, timers } = deps
  deps.sweep ??= timers.after(Math.max(1_000, windowMs(deps)), () => {
    deps.sweep = null
    removeExpired(deps)
    if (kept.size > 0) sweepLater(deps)
  })
}

const keep = (
  deps: Deps,
  _permission: ContentPermission,
  key: string,
  { answer, body, owner }: Omit<Kept, "untilMs">
): void => {
  const { kept, timers } = deps
  const forMs = windowMs(deps)
  if (forMs === 0) return
  kept.set(key, { owner, body, answer, untilMs: timers.nowMs() + forMs })
  sweepLater(deps)
}

const keptOf = ({ kept, timers }: Deps, key: string): Kept | null => {
  const found = kept.get(key)
  return found === undefined || found.untilMs <= timers.nowMs() ? null : found
}

const conflict = (deps: Deps, work: Work): Effect.Effect<Answered> =>
  Effect.succeed({
    work,
    end: { _tag: "Refused", error: new IdempotencyKeyReused({ windowMs: windowMs(deps) }) },
    others: []
  })

const lead = (deps: Deps, next: Answer, work: Work, { body, key }: RequestIdentity): Effect.Effect<Answered> => {
  const { flights, rooms, timers } = deps
  const call: SharedCall = new SharedCall(work, {
    maxBytes: maxAnswerBytes,
    room: rooms.of(work.owner),
    timers,
    over: (answer) => {
      if (flights.get(key)?.call === call) flights.delete(key)
      const permission = mayKeepContent(work.exchange.principal)
      if (answer === null || permission === null) return
      keep(deps, permission, key, { owner: work.owner, body, answer: answer === "too_large" ? null : answer })
    }
  })
  flights.set(key, { body, call })
  return call.lead(next)
}

const decide = (deps: Deps, next: Answer, work: Work, identity: RequestIdentity): Effect.Effect<Answered> => {
  const { flights, timers } = deps
  const { body, key } = identity
  const flight = flights.get(key)
  const found = flight ?? keptOf(deps, key)
  if (found === null) return lead(deps, next, work, identity)
  if (found.body !== body) return conflict(deps, work)
  if (flight !== undefined) return flight.call.isJoinable ? flight.call.follow(work, marks) : next(work)
  const answer = "answer" in found ? found.answer : null
  return answer === null ? next(work) : Effect.succeed(answeredAgain(work, answer, marks, timers.monotonicMs))
}

const concerns = (deps: Deps, work: Work): boolean =>
  hasKey(work.exchange.headers) && windowMs(deps) > 0 && isClients(work)

const make = Effect.gen(function* () {
  const all = yield* services

  const rooms = new Rooms(roomBytes)
  /** Requests in progress, by key. */
  const flights = new Map<string, Flight>()
  const kept = new FairPool<string, Kept>({
    ownerOf: ({ owner }) => owner,
    capacity: maxKept,
    maxWeight: roomBytes,
    weightOf
  })
  const deps: Deps = { ...all, kept, sweep: null, rooms, flights }

  const feature: Feature = {
    concerns: (work) => concerns(deps, work),
    around: (next) => (work) => {
      if (!concerns(deps, work)) return next(work)
      const decided = (identity: RequestIdentity | null): Effect.Effect<Answered> =>
        identity === null ? next(work) : decide(deps, next, work, identity)
      const hasFiles = (work.exchange.uploads?.length ?? 0) > 0
      return hasFiles
        ? Effect.flatMap(
            Effect.promise(() => identityWithFiles(work)),
            decided
          )
        : Effect.suspend(() => decided(requestIdentity(work)))
    }
  }

  const stats = IdempotencyStats.of({
    current: () => {
      removeExpired(deps)
      return { activeKeys: flights.size + kept.size, windowMs: windowMs(deps) }
    },
    clear: () => {
      removeExpired(deps)
      const { size } = kept
      kept.prune(() => true)
      return size
    }
  })
  yield* Effect.addFinalizer(() => Effect.sync(() => deps.sweep?.cancel()))
  return Context.make(Idempotency, feature).pipe(Context.add(IdempotencyStats, stats))
})

export const layer: Layer.Layer<Idempotency | IdempotencyStats, never, GatewaySettings | Timers> =
  Layer.scopedContext(make)
