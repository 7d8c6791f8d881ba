/** The states of providers, connections and models, and how an operator resets them. */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { ClearCooldowns, ClearLockouts } from "./routes.ts"
import type { Connection, ConnectionHealth } from "../connections/entity.ts"
import { Catalog } from "../../plane/providers/Catalog.ts"
import { Breakers, type BreakerView } from "../../plane/resilience/breaker/Breakers.ts"
import { ConcurrencyGate } from "../../plane/resilience/ConcurrencyGate.ts"
import { waitMs } from "../../plane/resilience/cooldown/Cooldown.ts"
import { Cooldowns } from "../../plane/resilience/cooldown/Cooldowns.ts"
import type { LockoutKey } from "../../plane/resilience/lockout/LockoutKey.ts"
import { Lockouts, type LockoutView } from "../../plane/resilience/lockout/Lockouts.ts"
import * as Errors from "../Errors.ts"
import {
  breakersOf,
  classOf,
  healthAt,
  isUntroubled,
  locksNow,
  type Standing,
  standingOf
} from "../connections/Standings.ts"

/** A locked model; `connection` is the name, null when the connection is gone. */
export interface NamedLockout extends LockoutView {
  readonly connection: string | null
}

export interface AccountState {
  readonly connection: Connection
  readonly health: ConnectionHealth
  readonly standing: Standing
  /** Milliseconds until it may be used: 0 now, null when only an operator or new credentials can help. */
  readonly remainingMs: number | null
  /** Requests at the connection: those it works on, and those that wait for a place. */
  readonly inUse: number
  readonly waiting: number
}

export class Resilience extends Context.Tag("gateway/subjects/resilience/Resilience")<
  Resilience,
  {
    /** Breakers of all connected providers, and of all others that have counted something. */
    readonly breakers: Effect.Effect<ReadonlyArray<BreakerView>>
    /** The models that are locked now, the longest first. */
    readonly lockouts: Effect.Effect<ReadonlyArray<NamedLockout>>
    readonly accounts: Effect.Effect<ReadonlyArray<AccountState>>
    /** Resets the breakers of one provider by id, alias or prefix, or of all; returns how many there were. */
    readonly resetBreakers: (provider: string | null) => Effect.Effect<number, Errors.InvalidInput>
    /** Unlocks either all models or one; gives how many locks were in force. */
    readonly clearLockouts: (input: ClearLockouts) => Effect.Effect<number, Errors.InvalidInput | Errors.EntityNotFound>
    /** Resets the health of all connections or of one; gives how many were troubled. */
    readonly clearCooldowns: (
      input: ClearCooldowns
    ) => Effect.Effect<number, Errors.InvalidInput | Errors.EntityNotFound>
  }
>() {}

const eitherOr = (field: string, other: string): Errors.InvalidInput =>
  Errors.invalid(field, `give either 'all' or ${other}, not both`)

export const make = Effect.gen(function* () {
  const catalog = yield* Catalog
  const store = yield* Breakers
  const cooldowns = yield* Cooldowns
  const locks = yield* Lockouts
  const gate = yield* ConcurrencyGate

  const counted = Effect.map(Clock.currentTimeMillis, (nowMs) => store.list(nowMs, classOf(catalog.current())))

  const accountAt =
    (nowMs: number) =>
    (connection: Connection): AccountState => {
      const health = cooldowns.healthOf(connection.id)
      return {
        connection,
        health: healthAt(health, nowMs),
        standing: standingOf(connection, health, nowMs),
        remainingMs: waitMs(health, nowMs),
        inUse: gate.inUse(connection.id),
        waiting: gate.waiting(connection.id)
      }
    }

  const namedLocks = (nowMs: number): ReadonlyArray<NamedLockout> => {
    const names = new Map(catalog.current().connections.map(({ id, name }) => [id, name]))
    return locksNow(locks, nowMs).map((lock): NamedLockout =>
      Object.assign({ connection: names.get(lock.connectionId) ?? null }, lock)
    )
  }

  /** A provider that is gone may have left its breaker. */
  const breakerIdOf = Effect.fnUntraced(function* (provider: string) {
    const spec = catalog.current().provider(provider)
    if (spec !== null) return spec.id
    if ((yield* counted).some((breaker) => breaker.provider === provider)) return provider
    return yield* Errors.unknownProvider(provider)
  })

  const resetBreakers = Effect.fn("Resilience.resetBreakers")(function* (provider: string | null) {
    return yield* store.reset(provider === null ? null : yield* breakerIdOf(provider))
  })

  /** Unlocks what matches any of these. */
  const unlock = Effect.fnUntraced(function* (matches: ReadonlyArray<Partial<LockoutKey>>) {
    const nowMs = yield* Clock.currentTimeMillis
    const before = locksNow(locks, nowMs).length
    for (const match of matches) locks.clear(match)
    return before - locksNow(locks, nowMs).length
  })

  const clearLockouts = Effect.fn("Resilience.clearLockouts")(function* (input: ClearLockouts) {
    const { all, connection, model, provider } = input
    const one = "'provider' and 'model'"
    if (all === true) {
      if (provider !== undefined || model !== undefined || connection !== undefined) return yield* eitherOr("all", one)
      return yield* unlock([{}])
    }
    if (provider === undefined) return yield* Errors.invalid("provider", `is missing; give ${one}, or {"all": true}`)
    if (model === undefined) return yield* Errors.invalid("model", `is missing; give ${one}, or {"all": true}`)
    const { connections, provider: specOf } = catalog.current()
    const key = { provider: specOf(provider)?.id ?? provider, model }
    if (connection === undefined) return yield* unlock([key])
    const accounts = connections.filter(({ id, name }) => id === connection || name === connection)
    if (accounts.length === 0) {
      return yield* new Errors.EntityNotFound({ entity: "connection", id: connection, field: "connection" })
    }
    return yield* unlock(accounts.map(({ id }) => Object.assign({ connectionId: id }, key)))
  })

  const clearCooldowns = Effect.fn("Resilience.clearCooldowns")(function* ({ all, connectionId }: ClearCooldowns) {
    if (all !== true && connectionId === undefined) {
      return yield* Errors.invalid("connectionId", `is missing; give it, or {"all": true}`)
    }
    if (all === true && connectionId !== undefined) return yield* eitherOr("all", "'connectionId'")
    const wanted = catalog.current().connections.filter(({ id }) => all === true || id === connectionId)
    if (connectionId !== undefined && wanted.length === 0) {
      return yield* new Errors.EntityNotFound({ entity: "connection", id: connectionId, field: "connectionId" })
    }
    const troubled = wanted.filter(({ id }) => !isUntroubled(cooldowns.healthOf(id)))
    yield* Effect.forEach(troubled, ({ id }) => cooldowns.reset(id), { discard: true })
    return troubled.length
  })

  return Resilience.of({
    breakers: Effect.map(counted, (breakers) => breakersOf(catalog.current(), breakers)),
    lockouts: Effect.map(Clock.currentTimeMillis, namedLocks),
    accounts: Effect.map(Clock.currentTimeMillis, (nowMs) => catalog.current().connections.map(accountAt(nowMs))),
    resetBreakers,
    clearLockouts,
    clearCooldowns
  })
})

export const layer: Layer.Layer<Resilience, never, Breakers | Catalog | ConcurrencyGate | Cooldowns | Lockouts> =
  Layer.effect(Resilience, make)
