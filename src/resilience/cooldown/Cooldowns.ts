/**
 * The health of all connections: in memory for the request path, kept in the store so that a restart does not forget an exhausted
 * account.
 */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import { type ConnectionHealth, healthy } from "../../domain/Connection.ts"
import * as ConnectionRepo from "../../store/repo/ConnectionRepo.ts"
import * as EnvHealthRepo from "../../store/repo/EnvHealthRepo.ts"
import * as SettingsRepo from "../../store/repo/SettingsRepo.ts"
import type { StoreError } from "../../store/Errors.ts"
import { makeKeeper } from "../Keeper.ts"
import * as Cooldown from "./Cooldown.ts"
import * as Rests from "./Rests.ts"

export class Cooldowns extends Context.Tag("gateway/resilience/Cooldowns")<
  Cooldowns,
  {
    /** Hot: what is known of a connection. One that is doubted, or has a model that rests, shows as if it cooled for that long. */
    readonly healthOf: (connectionId: string) => ConnectionHealth
    /** Hot: milliseconds until it may be used; 0 now, null when only an operator can help. */
    readonly waitMs: (connectionId: string, nowMs: number) => number | null
    /** Hot: milliseconds for which this model of it rests; others are asked first. */
    readonly restMs: (connectionId: string, model: string, nowMs: number) => number
    /** What is known of a model that rests; null when none of its failures is remembered. */
    readonly restOf: (connectionId: string, model: string) => ConnectionHealth | null
    /** Hot: milliseconds for which others are asked first. A restart forgets it. */
    readonly doubtMs: (connectionId: string, nowMs: number) => number
    readonly fail: (
      connectionId: string,
      profile: Cooldown.CooldownProfile,
      nowMs: number,
      failure: Cooldown.CooldownFailure
    ) => void
    /** Hot: other models of the connection have failed since their last good answer, and this one has not. */
    readonly onlyOthersFailed: (connectionId: string, model: string) => boolean
    /** The model failed in a way that passes (`isPassing`): it rests, and the other models of the connection do not. */
    readonly rest: (
      connectionId: string,
      model: string,
      profile: Cooldown.CooldownProfile,
      nowMs: number,
      failure: Omit<Cooldown.CooldownFailure, "penalty">
    ) => void
    /**
     * Hot: a call that began at `startedMs` was answered well. True when it ended a trouble. It ends the rest of its model; without
     * one that of every model.
     */
    readonly succeed: (connectionId: string, startedMs: number, model?: string) => boolean
    /** An operator's word, or new credentials: the connection is as new, whatever calls that began before still bring. */
    readonly reset: (connectionId: string) => Effect.Effect<void>
    /**
     * The fingerprint of the credential an environment connection has now. Another one than its health was observed with makes it
     * as new: a dead key that was replaced in the environment is not dead any more. True when it is another.
     */
    readonly credentialIs: (connectionId: string, fingerprint: string) => boolean
    /** The connection is gone; calls that are still under way teach nothing any more. */
    readonly forget: (connectionId: string) => void
    /** Done when all that was learned before is in the store, or could not be written (which is logged). Never fails. */
    readonly flush: Effect.Effect<void>
  }
>() {}

const fresh: Cooldown.CooldownState = { ...healthy, failedAtMs: null, resetAtMs: null, doubtedUntilMs: null }

/** Connections remembered as gone; beyond it the oldest goes. Only calls that outlive their connection ask. */
const goneCapacity = 1_000

const namespace = "connection_cooldowns"
const decode = Schema.decodeUnknownEither(Rests.Stored)

const isSame = (one: ConnectionHealth, other: ConnectionHealth): boolean =>
  one.testStatus === other.testStatus && one.rateLimitedUntilMs === other.rateLimitedUntilMs

export const make = Effect.gen(function* () {
  const connections = yield* ConnectionRepo.ConnectionRepo
  const environment = yield* EnvHealthRepo.EnvHealthRepo
  const settings = yield* SettingsRepo.SettingsRepo
  const states = new Map<string, Cooldown.CooldownState>()
  const rests = new Map<string, Rests.Rests>()
  /** By connection: the credential its health was observed with. Environment connections only. */
  const credentials = new Map<string, string | null>()
  const gone = new Set<string>()
  const details = yield* settings.list(namespace)
  /** Connections with details in the store. */
  const detailed = new Set(details.keys())

  const load = (id: string, health: ConnectionHealth): void => {
    const { backoffLevel, errorCode, lastError, lastErrorType, rateLimitedUntilMs, testStatus } = health
    const row = { backoffLevel, errorCode, lastError, lastErrorType, rateLimitedUntilMs, testStatus }
    states.set(id, { ...fresh, ...row })
    const decoded = decode(details.get(id))
    if (Either.isLeft(decoded)) return
    const known = Rests.restored(decoded.right, fresh)
    // Whoever wrote the row since knew more than the details.
    if (!isSame(Rests.shown(known.own, known.own.failedAtMs, known.rests), row)) return
    states.set(id, known.own)
    rests.set(id, known.rests)
  }
  for (const connection of yield* connections.list) load(connection.id, connection)
  for (const [id, health] of yield* environment.list) {
    load(id, health)
    credentials.set(id, health.credential)
  }

  const restsOf = (id: string): Rests.Rests => rests.get(id) ?? Rests.none

  /** What outlives the process: doubts do not. */
  const lasting = (id: string): ConnectionHealth => {
    const { doubtedUntilMs: _, failedAtMs, resetAtMs: __, ...health } = states.get(id) ?? fresh
    return Rests.shown(health, failedAtMs, restsOf(id))
  }

  const healthOf = (id: string): ConnectionHealth => {
    const health = lasting(id)
    const doubtedUntilMs = states.get(id)?.doubtedUntilMs ?? null
    if (doubtedUntilMs === null || Cooldown.isTerminal(health.testStatus)) return health
    const rateLimitedUntilMs = Math.max(doubtedUntilMs, health.rateLimitedUntilMs ?? 0)
    return { ...health, testStatus: "unavailable", rateLimitedUntilMs }
  }

  const writeDetails = (id: string): Effect.Effect<void, StoreError> => {
    const state = states.get(id)
    const known = state === undefined ? null : Rests.stored(state, restsOf(id))
    if (known !== null) {
      detailed.add(id)
      return settings.set(namespace, id, known)
    }
    return detailed.delete(id) ? Effect.asVoid(settings.remove(namespace, id)) : Effect.void
  }

  const keeper = yield* makeKeeper("The health", (id) => {
    if (!states.has(id)) return writeDetails(id)
    const health = lasting(id)
    return Effect.flatMap(connections.updateHealth(id, health), (isStored) =>
      isStored || !states.has(id)
        ? Effect.void
        : environment.save(id, { ...health, credential: credentials.get(id) ?? null })
    ).pipe(Effect.zipRight(Effect.suspend(() => writeDetails(id))))
  })
  // Of connections that were removed while nobody looked.
  for (const id of detailed) if (!states.has(id)) keeper.touch(id)

  const put = (id: string, before: Cooldown.CooldownState, after: Cooldown.CooldownState): boolean => {
    if (after === before || gone.has(id)) return false
    states.set(id, after)
    keeper.touch(id)
    return true
  }

  const putRests = (id: string, after: Rests.Rests): boolean => {
    if (after === restsOf(id) || gone.has(id)) return false
    if (after.size === 0) rests.delete(id)
    else rests.set(id, after)
    if (!states.has(id)) states.set(id, fresh)
    keeper.touch(id)
    return true
  }

  /** As they are now: what a set-back clock makes begin anew is kept. */
  const stateNow = (id: string, nowMs: number): Cooldown.CooldownState | undefined => {
    const before = states.get(id)
    if (before === undefined) return undefined
    const now = Cooldown.settle(before, nowMs)
    put(id, before, now)
    return now
  }

  const restsNow = (id: string, nowMs: number): Rests.Rests => {
    const before = rests.get(id)
    if (before === undefined) return Rests.none
    const now = Rests.settle(before, nowMs)
    putRests(id, now)
    return now
  }

  const clear = (id: string): void => {
    putRests(id, Rests.none)
  }

  return Cooldowns.of({
    healthOf,
    waitMs: (id, nowMs) => {
      const state = stateNow(id, nowMs)
      return state === undefined ? 0 : Cooldown.waitMs(state, nowMs)
    },
    restMs: (id, model, nowMs) => Rests.waitMs(restsNow(id, nowMs), model, nowMs),
    onlyOthersFailed: (id, model) => Rests.onlyOthers(restsOf(id), model),
    restOf: (id, model) => restsOf(id).get(model)?.state ?? null,
    doubtMs: (id, nowMs) => {
      const state = stateNow(id, nowMs)
      return state === undefined ? 0 : Cooldown.doubtMs(state, nowMs)
    },
    fail: (id, profile, nowMs, failure) => {
      const before = stateNow(id, nowMs) ?? fresh
      put(id, before, Cooldown.fail(before, profile, nowMs, failure))
    },
    rest: (id, model, profile, nowMs, failure) => {
      const own = stateNow(id, nowMs) ?? fresh
      // Who may not be asked at all does not rest, and the failure of credentials that were replaced meanwhile tells nothing.
      if (Cooldown.isTerminal(own.testStatus)) return
      if (own.resetAtMs !== null && failure.startedMs < own.resetAtMs && own.resetAtMs <= nowMs) return
      putRests(
        id,
        Rests.fail(restsNow(id, nowMs), model, profile, nowMs, { ...failure, penalty: { _tag: "Backoff" } }, fresh)
      )
    },
    succeed: (id, startedMs, model) => {
      const before = states.get(id) ?? fresh
      const wasTroubled =
        before.testStatus === "unavailable" || before.doubtedUntilMs !== null || Rests.isShown(restsOf(id))
      const isBetter = putRests(id, Rests.succeed(restsOf(id), model ?? null, startedMs))
      const isWell = put(id, before, Cooldown.succeed(before, startedMs))
      return (isBetter || isWell) && wasTroubled
    },
    reset: (id) =>
      Effect.flatMap(Clock.currentTimeMillis, (resetAtMs) => {
        clear(id)
        put(id, states.get(id) ?? fresh, { ...fresh, resetAtMs })
        return keeper.flush
      }),
    credentialIs: (id, fingerprint) => {
      const before = credentials.get(id)
      if (before === fingerprint) return false
      credentials.set(id, fingerprint)
      // Health of unknown origin is taken to be this credential's.
      const isAnother = before !== null && before !== undefined
      const state = states.get(id)
      if (isAnother) clear(id)
      if (state !== undefined) put(id, state, isAnother ? fresh : { ...state })
      return isAnother
    },
    forget: (id) => {
      states.delete(id)
      rests.delete(id)
      credentials.delete(id)
      gone.add(id)
      if (detailed.has(id)) keeper.touch(id)
      const [oldest] = gone
      if (gone.size > goneCapacity && oldest !== undefined) gone.delete(oldest)
    },
    flush: keeper.flush
  })
})

export const layer: Layer.Layer<
  Cooldowns,
  StoreError,
  ConnectionRepo.ConnectionRepo | EnvHealthRepo.EnvHealthRepo | SettingsRepo.SettingsRepo
> = Layer.scoped(Cooldowns, make)
