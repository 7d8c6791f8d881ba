/** The proxies and their assignments, held in memory for the hot path. They are read before the first call is made. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { Proxy } from "../domain/Proxy.ts"
import { ProxyRoutes } from "../egress/proxy/ProxyRoutes.ts"
import { ProxyHealth } from "../egress/proxy/ProxyHealth.ts"
import { direct, resolveRoute, routingTable, type Switches } from "../egress/proxy/ProxyRoute.ts"
import { Flags } from "../flags/Flags.ts"
import { GatewaySettings } from "../flags/GatewaySettings.ts"
import { booleanOf } from "../kernel/BooleanText.ts"
import { AppConfig } from "../platform/AppConfig.ts"
import type { StoreError } from "../store/Errors.ts"
import { ProxyRepo } from "../store/repo/ProxyRepo.ts"

export class ProxyPlan extends Context.Tag("gateway/providers/ProxyPlan")<
  ProxyPlan,
  {
    /** To be run after every change of a proxy or an assignment. */
    readonly reload: Effect.Effect<void, StoreError>
    /** All proxies as they are in force, the oldest first. */
    readonly proxies: () => ReadonlyArray<Proxy>
    /** Ids of proxies that calls may go through by themselves: those that are assigned, and all while one is chosen automatically. */
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
  // Without knowing the assignments no call may be made: it could leave by the wrong address.
  let table = yield* Effect.orDie(read)

  const isAutomatic = (): boolean => flags.isOn("PROXY_AUTO_SELECT_ENABLED")
  const switches = (): Switches => {
    const { enabled, freeProxiesMayCarryKeys } = gateway.current().proxies
    const free = !flags.isOn("FREE_PROXY_ENABLED") ? "never" : freeProxiesMayCarryKeys ? "always" : "without_keys"
    return { isEnabled: enabled, isSocksOn, autoSelect: isAutomatic(), free }
  }
  const health = new ProxyHealth()
  const listeners = new Set<() => void>()
  const plan = ProxyPlan.of({
    isSocksOn,
    health,
    proxies: () => [...table.proxies.values()],
    inUse: () => new Set(isAutomatic() ? table.proxies.keys() : table.assigned.values()),
    reload: Effect.withSpan(
      Effect.map(read, (fresh) => {
        table = fresh
        for (const listener of listeners) listener()
      }),
      "ProxyPlan.reload"
    )
  })
  const routes = ProxyRoutes.of({
    health,
    onChange: (listener) => {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    routeOf: (owner) =>
      // Hot: most gateways have no proxies.
      table.assigned.size === 0 && !isAutomatic() ? direct : resolveRoute(table, switches(), owner, health.isFailing)
  })
  return Context.make(ProxyPlan, plan).pipe(Context.add(ProxyRoutes, routes))
})

export const layer: Layer.Layer<ProxyPlan | ProxyRoutes, never, AppConfig | Flags | GatewaySettings | ProxyRepo> =
  Layer.effectContext(make)
