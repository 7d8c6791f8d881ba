/**
 * The health of all connections: in memory for the request path, kept in the store so that a restart does not forget an exhausted
 * account.
 */
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
    /** Hot: what is known of a connection. */
    readonly healthOf: (connectionId: string) => ConnectionHealth
    /** Hot: milliseconds until it may be used; 0 now, null when only an operator can help. */
    readonly waitMs: (connectionId: string, nowMs: number) => number | null
    readonly fail: (
      connectionId: string,
      profile: Cooldown.CooldownProfile,
      nowMs: number,
      failure: Cooldown.CooldownFailure
    ) => void
    /** Hot: a call that began at `startedMs` was answered well. True when it ended a trouble. */
    readonly succeed: (connectionId: string, startedMs: number) => boolean
    /** An operator's word: the connection is as new. */
    readonly reset: (connectionId: string) => Effect.Effect<void>
    /** The connection is gone. */
    readonly forget: (connectionId: string) => void
    readonly flush: Effect.Effect<void>
  }
>() {}

const fresh: Cooldown.CooldownState = { ...healthy, failedAtMs: null }

export const make = Effect.gen(function* () {
  const connections = yield* ConnectionRepo.ConnectionRepo
  const environment = yield* EnvHealthRepo.EnvHealthRepo
  const states = new Map<string, Cooldown.CooldownState>()
  const load = (id: string, health: ConnectionHealth): void => {
    const { backoffLevel, errorCode, lastError, lastErrorType, rateLimitedUntilMs, testStatus } = health
    states.set(id, {
      backoffLevel,
      errorCode,
      lastError,
      lastErrorType,
      rateLimitedUntilMs,
      testStatus,
      failedAtMs: null
    })
  }
  for (const connection of yield* connections.list) load(connection.id, connection)
  for (const [id, health] of yield* environment.list) load(id, health)

  const healthOf = (id: string): ConnectionHealth => {
    const { failedAtMs: _, ...health } = states.get(id) ?? fresh
    return health
  }

  const keeper = yield* makeKeeper("The health", (id) => {
    const health = healthOf(id)
    return Effect.flatMap(connections.updateHealth(id, health), (isStored) =>
      isStored || !states.has(id) ? Effect.void : environment.save(id, health)
    )
  })

  const put = (id: string, before: Cooldown.CooldownState, after: Cooldown.CooldownState): boolean => {
    if (after === before) return false
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
    fail: (id, profile, nowMs, failure) => {
      const before = states.get(id) ?? fresh
      put(id, before, Cooldown.fail(before, profile, nowMs, failure))
    },
    succeed: (id, startedMs) => {
      const before = states.get(id) ?? fresh
      return put(id, before, Cooldown.succeed(before, startedMs)) && before.testStatus === "unavailable"
    },
    reset: (id) =>
      Effect.suspend(() => {
        put(id, states.get(id) ?? fresh, { ...fresh })
        return keeper.flush
      }),
    forget: (id) => void states.delete(id),
    flush: keeper.flush
  })
})

export const layer: Layer.Layer<Cooldowns, StoreError, ConnectionRepo.ConnectionRepo | EnvHealthRepo.EnvHealthRepo> =
  Layer.scoped(Cooldowns, make)
