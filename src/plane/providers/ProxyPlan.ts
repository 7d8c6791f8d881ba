/** The proxies and their assignments, held in memory for the hot path. They are read before the first call is made. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { makeLane } from "../../kernel/Lane.ts"
import type { Proxy, ProxyScope } from "../../subjects/proxies/entity.ts"
import { ProxyRoutes } from "../../net/egress/proxy/ProxyRoutes.ts"
import { ProxyHealth } from "../../net/egress/proxy/ProxyHealth.ts"
import { assignmentKey, direct, resolveRoute, routingTable, type Switches } from "../../net/egress/proxy/ProxyRoute.ts"
import { Flags } from "../../subjects/flags/service.ts"
import { GatewaySettings } from "../../subjects/flags/StoredFlags.ts"
import { booleanOf } from "../../kernel/text/BooleanText.ts"
import { AppConfig } from "../../platform/AppConfig.ts"
import type { StoreError } from "../../store/Errors.ts"
import { Snapshots } from "../../store/Snapshots.ts"
import { ProxyRepo } from "../../subjects/proxies/repo.ts"

export class ProxyPlan extends Context.Tag("gateway/plane/providers/ProxyPlan")<
  ProxyPlan,
  {
    /** Reloads the plan; to be run after every change of a proxy. */
    readonly reload: Effect.Effect<void, StoreError>
    /** Writes an assignment; calls made after it hold to it. `proxyId` null: the scope has no proxy of its own any more. */
    readonly assign: (
      scope: ProxyScope,
      scopeId: string | null,
      proxyId: string | null
    ) => Effect.Effect<void, StoreError>
    /** The id of the proxy assigned to a scope itself; null: none is. */
    readonly assignedTo: (scope: ProxyScope, scopeId: string | null) => string | null
    readonly has: (proxyId: string) => boolean
    /** All proxies as they are in force, the oldest first. */
    readonly proxies: () => ReadonlyArray<Proxy>
    /** Ids of proxies that calls go through now: those that are assigned, and all while one is chosen automatically. */
    readonly inUse: () => ReadonlySet<string>
    readonly health: ProxyHealth
    /** False by the variable `ENABLE_SOCKS5_PROXY`: SOCKS5 proxies are then not used. */
    readonly isSocksOn: boolean
  }
>() {}

export const make = Effect.gen(function* () {
  const { environment } = yield* AppConfig
  const flags = yield* Flags
  const gateway = yield* GatewaySettings
  const repo = yield* ProxyRepo
  const isSocksOn = booleanOf(environment.get("ENABLE_SOCKS5_PROXY") ?? "") !== false

  const read = Effect.zipWith(repo.list, repo.assignments, routingTable)
  // What was read first must not be put in force last.
  const oneAtATime = makeLane(1).inTurn
  // Without knowing the assignments no call may be made: it could leave by the wrong address.
  let table = yield* Effect.orDie(read)

  const isGlobalOn = (): boolean => gateway.current().proxies.enabled
  const isAutomatic = (): boolean => isGlobalOn() && flags.isOn("PROXY_AUTO_SELECT_ENABLED")
  const switches = (): Switches => {
    const { freeProxiesMayCarryKeys } = gateway.current().proxies
    const free = !flags.isOn("FREE_PROXY_ENABLED") ? "never" : freeProxiesMayCarryKeys ? "always" : "without_keys"
    return { isGlobalOn: isGlobalOn(), isSocksOn, autoSelect: isAutomatic(), free }
  }
  const health = new ProxyHealth()
  const listeners = new Set<() => void>()
  const refresh = Effect.map(read, (fresh) => {
    table = fresh
    for (const listener of listeners) listener()
  })
  yield* (yield* Snapshots).register(["proxies", "proxy_assignments"], () => oneAtATime(refresh))
  const inUse = (): ReadonlySet<string> => {
    if (isAutomatic()) return new Set(table.proxies.keys())
    const global = isGlobalOn() ? null : assignmentKey("global", null)
    return new Set([...table.assigned].flatMap(([key, proxyId]) => (key === global ? [] : [proxyId])))
  }
  const plan = ProxyPlan.of({
    isSocksOn,
    health,
    proxies: () => [...table.proxies.values()],
    has: (proxyId) => table.proxies.has(proxyId),
    inUse,
    assignedTo: (scope, scopeId) => table.assigned.get(assignmentKey(scope, scopeId)) ?? null,
    assign: Effect.fn("ProxyPlan.assign")((scope: ProxyScope, scopeId: string | null, proxyId: string | null) =>
      oneAtATime(Effect.zipRight(repo.assign(scope, scopeId, proxyId), refresh))
    ),
    reload: Effect.withSpan(oneAtATime(refresh), "ProxyPlan.reload")
  })
  const routes = ProxyRoutes.of({
    health,
    onChange: (listener) => {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    routeOf: (owner) =>
      // Hot: most gateways have no proxies.
      table.assigned.size === 0 && owner.proxyId === null && !isAutomatic()
        ? direct
        : resolveRoute(table, switches(), owner, health.isFailing)
  })
  return Context.make(ProxyPlan, plan).pipe(Context.add(ProxyRoutes, routes))
})

export const layer: Layer.Layer<ProxyPlan | ProxyRoutes, never, AppConfig | Flags | GatewaySettings | ProxyRepo> =
  Layer.effectContext(make)
