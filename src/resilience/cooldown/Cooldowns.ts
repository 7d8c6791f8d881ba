/**
 * The health of all connections: in memory for the request path, kept in the store so that a restart does not forget an exhausted
 * account.
 */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { type ConnectionHealth, healthy } from "../../domain/Connection.ts"
import * as ConnectionRepo from "../../store/repo/ConnectionRepo.ts"
import * as EnvHealthRepo from "../../store/repo/EnvHealthRepo.ts"
import type { StoreError } from "../../store/Errors.ts"
import { makeKeeper } from "../Keeper.ts"
import * as Cooldown from "./Cooldown.ts"

export class Cooldowns extends Context.Tag("gateway/resilience/Cooldowns")<
  Cooldowns,
  {
    /** Hot: what is known of a connection. One that is doubted shows as if it cooled for that long. */
    readonly healthOf: (connectionId: string) => ConnectionHealth
    /** Hot: milliseconds until it may be used; 0 now, null when only an operator can help. */
    readonly waitMs: (connectionId: string, nowMs: number) => number | null
    /** Hot: milliseconds for which others are asked first. A restart forgets it. */
    readonly doubtMs: (connectionId: string, nowMs: number) => number
    readonly fail: (
      connectionId: string,
      profile: Cooldown.CooldownProfile,
      nowMs: number,
      failure: Cooldown.CooldownFailure
    ) => void
    /** Hot: a call that began at `startedMs` was answered well. True when it ended a trouble. */
    readonly succeed: (connectionId: string, startedMs: number) => boolean
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

export const make = Effect.gen(function* () {
  const connections = yield* ConnectionRepo.ConnectionRepo
  const environment = yield* EnvHealthRepo.EnvHealthRepo
  const states = new Map<string, Cooldown.CooldownState>()
  /** By connection: the credential its health was observed with. Environment connections only. */
  const credentials = new Map<string, string | null>()
  const gone = new Set<string>()

  const load = (id: string, health: ConnectionHealth): void => {
    const { backoffLevel, errorCode, lastError, lastErrorType, rateLimitedUntilMs, testStatus } = health
    states.set(id, {
      ...fresh,
      backoffLevel,
      errorCode,
      lastError,
      lastErrorType,
      rateLimitedUntilMs,
      testStatus
    })
  }
  for (const connection of yield* connections.list) load(connection.id, connection)
  for (const [id, health] of yield* environment.list) {
    load(id, health)
    credentials.set(id, health.credential)
  }

  /** What outlives the process: doubts do not. */
  const lasting = (id: string): ConnectionHealth => {
    const { doubtedUntilMs: _, failedAtMs: __, resetAtMs: ___, ...health } = states.get(id) ?? fresh
    return health
  }

  const healthOf = (id: string): ConnectionHealth => {
    const health = lasting(id)
    const doubtedUntilMs = states.get(id)?.doubtedUntilMs ?? null
    if (doubtedUntilMs === null || Cooldown.isTerminal(health.testStatus)) return health
    const rateLimitedUntilMs = Math.max(doubtedUntilMs, health.rateLimitedUntilMs ?? 0)
    return { ...health, testStatus: "unavailable", rateLimitedUntilMs }
  }

  const keeper = yield* makeKeeper("The health", (id) => {
    const health = lasting(id)
    return Effect.flatMap(connections.updateHealth(id, health), (isStored) =>
      isStored || !states.has(id)
        ? Effect.void
        : environment.save(id, { ...health, credential: credentials.get(id) ?? null })
    )
  })

  const put = (id: string, before: Cooldown.CooldownState, after: Cooldown.CooldownState): boolean => {
    if (after === before || gone.has(id)) return false
    states.set(id, after)
    keeper.touch(id)
    return true
  }

  return Cooldowns.of({
    healthOf,
    waitMs: (id, nowMs) => {
      const state = states.get(id)
      return state === undefined ? 0 : Cooldown.waitMs(state, nowMs)
    },
    doubtMs: (id, nowMs) => {
      const state = states.get(id)
      return state === undefined ? 0 : Cooldown.doubtMs(state, nowMs)
    },
    fail: (id, profile, nowMs, failure) => {
      const before = states.get(id) ?? fresh
      put(id, before, Cooldown.fail(before, profile, nowMs, failure))
    },
    succeed: (id, startedMs) => {
      const before = states.get(id) ?? fresh
      const wasTroubled = before.testStatus === "unavailable" || before.doubtedUntilMs !== null
      return put(id, before, Cooldown.succeed(before, startedMs)) && wasTroubled
    },
    reset: (id) =>
      Effect.flatMap(Clock.currentTimeMillis, (resetAtMs) => {
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
      if (state !== undefined) put(id, state, isAnother ? fresh : { ...state })
      return isAnother
    },
    forget: (id) => {
      states.delete(id)
      credentials.delete(id)
      gone.add(id)
      const [oldest] = gone
      if (gone.size > goneCapacity && oldest !== undefined) gone.delete(oldest)
    },
    flush: keeper.flush
  })
})

export const layer: Layer.Layer<Cooldowns, StoreError, ConnectionRepo.ConnectionRepo | EnvHealthRepo.EnvHealthRepo> =
  Layer.scoped(Cooldowns, make)
