/** Settings of the gateway as a whole: hot for the request path, kept in the settings table (`/api/settings`). Shape: `subjects/settings/entity.ts`. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Shape from "../settings/entity.ts"
import { readOrigin } from "../../kernel/text/Origins.ts"
import { readPublicUrl } from "../../kernel/text/PublicUrl.ts"
import type { StoreError } from "../../store/Errors.ts"
import type { SettingsRepo } from "../settings/repo.ts"
import * as StoredSettings from "../../store/StoredSettings.ts"
import * as AccessSettings from "./AccessFlags.ts"
import { makeModelFallbacks } from "./ModelFallbacks.ts"

export class GatewaySettings extends Context.Tag("gateway/subjects/flags/GatewaySettings")<
  GatewaySettings,
  StoredSettings.StoredSettings<Shape.GatewaySettings, Shape.GatewaySettingsPatch> & {
    /** The settings that have routes of their own. */
    readonly access: AccessSettings.AccessSettings
    /** Hot: the names in `allowedHosts`, as a set. */
    readonly allowedHosts: () => ReadonlySet<string>
    /** Hot: the origins in `corsOrigins`, as a set. */
    readonly corsOrigins: () => ReadonlySet<string>
    /** Hot: the setting `publicUrl`, without a slash at its end. */
    readonly publicUrl: () => string | null
    /** Hot: the model that `modelFallbacks` maps an unserved id to; null when it has no entry for it. */
    readonly fallbackOf: (modelId: string) => string | null
  }
>() {}

const place = { namespace: "gateway", key: "settings", name: "gateway settings" }

export const shape = {
  patch: Shape.GatewaySettingsPatch,
  defaults: Shape.defaultGatewaySettings,
  merge: Shape.mergeGatewaySettings
}

export const make = Effect.gen(function* () {
  let allowedHosts: ReadonlySet<string> = new Set()
  let corsOrigins: ReadonlySet<string> = new Set()
  let publicUrl: string | null = null
  let fallbackOf = makeModelFallbacks({})
  const stored = yield* StoredSettings.make(place, shape, (settings) => {
    allowedHosts = new Set(settings.allowedHosts.map((host) => host.replace(/^\[|\]$/g, "")))
    corsOrigins = new Set(settings.corsOrigins.flatMap((origin) => readOrigin(origin) ?? []))
    publicUrl = settings.publicUrl === null ? null : readPublicUrl(settings.publicUrl)
    fallbackOf = makeModelFallbacks(settings.modelFallbacks)
  })
  const access = yield* AccessSettings.make
  return GatewaySettings.of({
    ...stored,
    access,
    allowedHosts: () => allowedHosts,
    corsOrigins: () => corsOrigins,
    publicUrl: () => publicUrl,
    fallbackOf: (modelId) => fallbackOf(modelId)
  })
})

export const layer: Layer.Layer<GatewaySettings, StoreError, SettingsRepo> = Layer.effect(GatewaySettings, make)
