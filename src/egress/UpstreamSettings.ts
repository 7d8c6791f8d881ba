/** The settings of the transport that may change while it runs; the numbers are `timeouts` of the resilience settings. */
import * as Context from "effect/Context"
import * as Layer from "effect/Layer"

export class UpstreamSettings extends Context.Tag("gateway/egress/UpstreamSettings")<
  UpstreamSettings,
  {
    /** Hot: read for every new connection. The limit for name resolution, TCP and TLS together. */
    readonly connectTimeoutMs: () => number
  }
>() {}

export const layerOf = (values: { readonly connectTimeoutMs: number }): Layer.Layer<UpstreamSettings> =>
  Layer.succeed(UpstreamSettings, { connectTimeoutMs: () => values.connectTimeoutMs })
