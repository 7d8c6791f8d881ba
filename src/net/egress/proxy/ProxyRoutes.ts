/** Chooses the route of each call, on the hot path. */
import * as Context from "effect/Context"
import * as Layer from "effect/Layer"
import type { CallOwner } from "../../../subjects/proxies/entity.ts"
import { ProxyHealth } from "./ProxyHealth.ts"
import { direct, type ProxyRoute } from "./ProxyRoute.ts"

export class ProxyRoutes extends Context.Tag("gateway/net/egress/proxy/ProxyRoutes")<
  ProxyRoutes,
  {
    /** Hot. */
    readonly routeOf: (owner: CallOwner) => ProxyRoute
    /** Calls `listener` after each change of a proxy or an assignment. Returns the function that stops it. */
    readonly onChange: (listener: () => void) => () => void
    /** Shared by all that use proxies. */
    readonly health: ProxyHealth
  }
>() {}

/** Layer without proxies. */
export const layerDirect: Layer.Layer<ProxyRoutes> = Layer.succeed(ProxyRoutes, {
  routeOf: () => direct,
  onChange: () => () => {},
  health: new ProxyHealth()
})
