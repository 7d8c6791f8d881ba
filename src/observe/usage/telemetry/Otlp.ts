/** The OTLP export as a service: does nothing, and loads nothing, when no endpoint is configured. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { readEnvironmentProxies } from "../../../net/egress/proxy/EnvironmentProxy.ts"
import { AppConfig } from "../../../platform/AppConfig.ts"
import type { OtlpExport } from "./OtlpExport.ts"

export class Otlp extends Context.Tag("gateway/observe/usage/telemetry/Otlp")<Otlp, OtlpExport>() {}

const none: OtlpExport = { offer: () => {}, publish: () => Effect.void }

export const make = Effect.gen(function* () {
  const { environment, otlpEndpoint, otlpHeaders, otlpResource } = yield* AppConfig
  if (otlpEndpoint === null) return none
  const { makeLive } = yield* Effect.promise(() => import("./OtlpExport.ts"))
  return yield* makeLive(otlpEndpoint, {
    headers: otlpHeaders,
    attributes: otlpResource,
    proxy: URL.canParse(otlpEndpoint) ? readEnvironmentProxies(environment).hopOf(new URL(otlpEndpoint).origin) : null
  })
})

export const layer: Layer.Layer<Otlp, never, AppConfig> = Layer.scoped(Otlp, make)
