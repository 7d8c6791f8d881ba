/** The way of each call, asked for on the hot path. */
import * as Context from "effect/Context"
import * as Layer from "effect/Layer"
import type { CallOwner } from "../../domain/Proxy.ts"
import { direct, type ProxyRoute } from "./ProxyRoute.ts"

export class ProxyRoutes extends Context.Tag("gateway/egress/ProxyRoutes")<
  ProxyRoutes,
  {
    /** Hot. */
    readonly routeOf: (owner: CallOwner) => ProxyRoute
  }
>() {}

/** For a world without proxies. */
export const layerDirect: Layer.Layer<ProxyRoutes> = Layer.succeed(ProxyRoutes, { routeOf: () => direct })
