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
import { mostKeptBytes, Replica } from "../../state/Replica.ts"
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

/** Form of an answer that is sent to other gateways: JSON, with its bytes in base64. */
interface ToldAnswer {
  readonly status: number
  readonly headers: ReadonlyArray<string>
  readonly bytes: string
  readonly facts: SharedAnswer["facts"]
}

/** Null: it is too large to be told, so that only its key is known there. Pure. */
export const toldAnswer = (answer: SharedAnswer | null): ToldAnswer | null => {
  if (answer === null || !answer.recorded.isEnded) return null
  const { chunks, headers, status } = answer.recorded
  // A third more than the bytes, and the head.
  if (answer.recorded.bytes * 2 > mostKeptBytes) return null
  return { status, headers, bytes: Buffer.concat(chunks).toString("base64"), facts: answer.facts }
}

/** Makes it an answer that can be given again. Pure. */
export const heardAnswer = (told: ToldAnswer | null): SharedAnswer | null => {
  if (told === null) return null
  const bytes = Buffer.from(told.bytes, "base64")
  const { facts, headers, status } = told
  return { recorded: { status, headers, chunks: [bytes], bytes: bytes.length, isEnded: true }, facts }
}

const services = Effect.all({ settings: GatewaySettings, timers: Timers })
interface Deps extends Effect.Effect.Success<typeof services> {
  /** Tells the other gateways on the database of an answer that is kept here; null: there are none. */
  tell: ((key: string, owner: string, body: string, forMs: number, answer: ToldAnswer | null) => void) | null
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
  deps.tell?.(key, owner, body, forMs, toldAnswer(answer))
}

const keptOf = ({ kept, timers }: Deps, key: string): Kept | null => {
  const found = kept.get(key)
  return found === undefined || found.untilMs <= timers.nowMs() ? null : found
}

/** Keeps what another gateway has told. An answer of this one's own stays, also where both have made a call. */
const hear = (
  deps: Deps,
  key: string,
  { answer, body, forMs, owner }: Omit<Kept, "untilMs"> & { readonly forMs: number }
): void => {
  if (keptOf(deps, key) !== null) return
  deps.kept.set(key, { owner, body, answer, untilMs: deps.timers.nowMs() + forMs })
  sweepLater(deps)
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
  const deps: Deps = { ...all, kept, sweep: null, rooms, flights, tell: null }
  const replica = yield* Replica
  // Workers leave requests with a key to one process.
  if (replica.isOverNodes) {
    deps.tell = replica.kept(
      "idempotent-answer",
      (key: string, owner: string, body: string, forMs: number, answer: ToldAnswer | null) =>
        hear(deps, key, { owner, body, forMs, answer: heardAnswer(answer) }),
      (_key, _owner, _body, _forMs, answer) => 512 + (answer?.bytes.length ?? 0)
    )
  }

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
