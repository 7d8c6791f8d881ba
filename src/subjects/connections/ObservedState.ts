/**
 * State observed of a connection while it was used: health, locked models, quotas, listed models. Decides in one place how it changes
 * when the connection is changed or removed.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { Connection, ConnectionHealth } from "./entity.ts"
import { type ListState, ModelLists } from "../../plane/providers/ModelLists.ts"
import { ProxyPlan } from "../../plane/providers/ProxyPlan.ts"
import { Cooldowns } from "../../plane/resilience/cooldown/Cooldowns.ts"
import { Lockouts } from "../../plane/resilience/lockout/Lockouts.ts"
import { QuotaWindows } from "../../plane/routing/quota/QuotaWindows.ts"

/** A connection with what is known of it now, which may be newer than its record. */
export interface ObservedConnection {
  readonly connection: Connection
  readonly health: ConnectionHealth
  /** Null before the upstream was first asked for its models. */
  readonly modelList: ListState | null
  /** The proxy of its own; null: none is assigned to it. */
  readonly proxyId: string | null
}

export class ObservedState extends Context.Tag("gateway/subjects/connections/ObservedState")<
  ObservedState,
  {
    readonly of: (connection: Connection) => ObservedConnection
    /** The connection has another credential: what was observed with the former one says nothing about it. */
    readonly reset: (connectionId: string) => Effect.Effect<void>
    /** The connection is gone. */
    readonly forget: (connectionId: string) => Effect.Effect<void>
  }
>() {}

interface Parts {
  readonly cooldowns: typeof Cooldowns.Service
  readonly modelLists: typeof ModelLists.Service
  readonly proxies: Pick<typeof ProxyPlan.Service, "assignedTo">
  readonly lockouts: Pick<typeof Lockouts.Service, "clear">
  readonly quotas: Pick<typeof QuotaWindows.Service, "forget" | "forgetShown">
}

const from = ({ cooldowns, lockouts, modelLists, proxies, quotas }: Parts) =>
  ObservedState.of({
    of: (connection) => ({
      connection,
      health: cooldowns.healthOf(connection.id),
      modelList: modelLists.stateOf(connection.id),
      proxyId: proxies.assignedTo("connection", connection.id)
    }),
    reset: (connectionId) =>
      Effect.suspend(() => {
        lockouts.clear({ connectionId })
        quotas.forgetShown(connectionId)
        return cooldowns.reset(connectionId)
      }),
    forget: (connectionId) =>
      Effect.suspend(() => {
        cooldowns.forget(connectionId)
        lockouts.clear({ connectionId })
        quotas.forget(connectionId)
        return modelLists.forget(connectionId)
      })
  })

export const make = Effect.gen(function* () {
  return from({
    cooldowns: yield* Cooldowns,
    modelLists: yield* ModelLists,
    proxies: yield* ProxyPlan,
    lockouts: yield* Lockouts,
    quotas: yield* QuotaWindows
  })
})

export const layer: Layer.Layer<ObservedState, never, Cooldowns | ModelLists | ProxyPlan | Lockouts | QuotaWindows> =
  Layer.effect(ObservedState, make)

/**
 * Layer for a command beside a running gateway, which owns the stored locks and quotas and writes them. Those of a removed
 * connection expire by themselves.
 */
export const layerLocal: Layer.Layer<ObservedState, never, Cooldowns | ModelLists | ProxyPlan> = Layer.effect(
  ObservedState,
  Effect.gen(function* () {
    return from({
      cooldowns: yield* Cooldowns,
      modelLists: yield* ModelLists,
      proxies: yield* ProxyPlan,
      lockouts: { clear: () => 0 },
      quotas: { forget: () => undefined, forgetShown: () => undefined }
    })
  })
)
