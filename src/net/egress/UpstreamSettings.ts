/** The settings of the transport that may change while it runs; the numbers are `timeouts` of the resilience settings. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { AppConfig } from "../../platform/AppConfig.ts"
import { readEnvironmentProxies } from "./proxy/EnvironmentProxy.ts"
import type { ProxyHop } from "./proxy/ProxyRoute.ts"

export class UpstreamSettings extends Context.Tag("gateway/net/egress/UpstreamSettings")<
  UpstreamSettings,
  {
    /** Hot: returns the time limit in ms for name resolution, TCP and TLS together; called for every new connection. */
    readonly connectTimeoutMs: () => number
    /** Hot: the proxy that the environment names for an origin. Absent: none. */
    readonly environmentProxy?: ((origin: string) => ProxyHop | null) | undefined
  }
>() {}

export const layerOf = (values: { readonly connectTimeoutMs: number }): Layer.Layer<UpstreamSettings> =>
  Layer.succeed(UpstreamSettings, { connectTimeoutMs: () => values.connectTimeoutMs })

/** Layer with the proxies of the process's environment. */
export const layerFromEnvironment = (connectTimeoutMs: () => number): Layer.Layer<UpstreamSettings, never, AppConfig> =>
  Layer.effect(
    UpstreamSettings,
    Effect.map(AppConfig, ({ environment }) => ({
      connectTimeoutMs,
      environmentProxy: readEnvironmentProxies(environment).hopOf
    }))
  )
