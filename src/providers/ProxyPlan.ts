/** The proxies and their assignments, held in memory for the hot path. They are read before the first call is made. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { ProxyRoutes } from "../egress/proxy/ProxyRoutes.ts"
import { resolveRoute, routingTable, type Switches } from "../egress/proxy/ProxyRoute.ts"
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

  const switches = (): Switches => ({
    isEnabled: gateway.current().proxiesEnabled,
    isSocksOn,
    autoSelect: flags.isOn("PROXY_AUTO_SELECT_ENABLED")
  })
  const plan = ProxyPlan.of({
    isSocksOn,
    reload: Effect.withSpan(
      Effect.map(read, (fresh) => {
        table = fresh
      }),
      "ProxyPlan.reload"
    )
  })
  const routes = ProxyRoutes.of({ routeOf: (owner) => resolveRoute(table, switches(), owner) })
  return Context.make(ProxyPlan, plan).pipe(Context.add(ProxyRoutes, routes))
})

export const layer: Layer.Layer<ProxyPlan | ProxyRoutes, never, AppConfig | Flags | GatewaySettings | ProxyRepo> =
  Layer.effectContext(make)
