/**
 * Idempotency: a request that comes again under the key its client gave it gets the answer of the first one, also while that is in
 * progress (`docs/idempotency.md`). Not for requests that the gateway makes itself, searches, and jobs that no client waits for.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { IdempotencyStats } from "../../cache/IdempotencyStats.ts"
import { type ContentPermission, mayKeepContent } from "../../../domain/ContentPermission.ts"
import { IdempotencyKeyReused } from "../../../domain/Errors.ts"
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

const make = Effect.gen(function* () {
  const settings = yield* GatewaySettings
  const timers = yield* Timers
  const rooms = new Rooms(roomBytes)
  /** Requests in progress, by key. */
  const flights = new Map<string, Flight>()
  const kept = new FairPool<string, Kept>({
    ownerOf: ({ owner }) => owner,
    capacity: maxKept,
    maxWeight: roomBytes,
    weightOf
  })
  let sweep: Timer | null = null

  const windowMs = (): number => settings.current().idempotencyWindowMs

  const removeExpired = (): void => {
    const nowMs = timers.nowMs()
    kept.prune(({ untilMs }) => untilMs <= nowMs)
  }

  const sweepLater = (): void => {
    sweep ??= timers.after(Math.max(1_000, windowMs()), () => {
      sweep = null
      removeExpired()
      if (kept.size > 0) sweepLater()
    })
  }

  const keep = (
    _permission: ContentPermission,
    owner: string,
    key: string,
    body: string,
    answer: SharedAnswer | null
  ): void => {
    const forMs = windowMs()
    if (forMs === 0) return
    kept.set(key, { owner, body, answer, untilMs: timers.nowMs() + forMs })
    sweepLater()
  }

  const keptOf = (key: string): Kept | null => {
    const found = kept.get(key)
    return found === undefined || found.untilMs <= timers.nowMs() ? null : found
  }

  const conflict = (work: Work): Effect.Effect<Answered> =>
    Effect.succeed({
      work,
      end: { _tag: "Refused", error: new IdempotencyKeyReused({ windowMs: windowMs() }) },
      others: []
    })

  const lead = (next: Answer, work: Work, { body, key }: RequestIdentity): Effect.Effect<Answered> => {
    const call: SharedCall = new SharedCall(work, {
      maxBytes: maxAnswerBytes,
      room: rooms.of(work.owner),
      timers,
      over: (answer) => {
        if (flights.get(key)?.call === call) flights.delete(key)
        const permission = mayKeepContent(work.exchange.principal)
        if (answer === null || permission === null) return
        keep(permission, work.owner, key, body, answer === "too_large" ? null : answer)
      }
    })
    flights.set(key, { body, call })
    return call.lead(next)
  }

  const decide = (next: Answer, work: Work, identity: RequestIdentity): Effect.Effect<Answered> => {
    const { body, key } = identity
    const flight = flights.get(key)
    const found = flight ?? keptOf(key)
    if (found === null) return lead(next, work, identity)
    if (found.body !== body) return conflict(work)
    if (flight !== undefined) return flight.call.isJoinable ? flight.call.follow(work, marks) : next(work)
    const answer = "answer" in found ? found.answer : null
    return answer === null ? next(work) : Effect.succeed(answeredAgain(work, answer, marks, timers.monotonicMs))
  }

  const concerns = (work: Work): boolean => hasKey(work.exchange.headers) && windowMs() > 0 && isClients(work)

  const feature: Feature = {
    concerns,
    around: (next) => (work) => {
      if (!concerns(work)) return next(work)
      const decided = (identity: RequestIdentity | null): Effect.Effect<Answered> =>
        identity === null ? next(work) : decide(next, work, identity)
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
      removeExpired()
      return { activeKeys: flights.size + kept.size, windowMs: windowMs() }
    },
    clear: () => {
      removeExpired()
      const { size } = kept
      kept.prune(() => true)
      return size
    }
  })
  yield* Effect.addFinalizer(() => Effect.sync(() => sweep?.cancel()))
  return Context.make(Idempotency, feature).pipe(Context.add(IdempotencyStats, stats))
})

export const layer: Layer.Layer<Idempotency | IdempotencyStats, never, GatewaySettings | Timers> =
  Layer.scopedContext(make)
