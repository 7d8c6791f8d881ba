/** Routing settings: hot for the request path, kept in the settings table (`/api/settings/routing`). Shape: `subjects/routingSettings/entity.ts`. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Shape from "../../subjects/routingSettings/entity.ts"
import type { StoreError } from "../../store/Errors.ts"
import type { SettingsRepo } from "../../subjects/settings/repo.ts"
import * as StoredSettings from "../../store/StoredSettings.ts"

export class RoutingSettings extends Context.Tag("gateway/plane/routing/RoutingSettings")<
  RoutingSettings,
  StoredSettings.StoredSettings<Shape.RoutingSettings, Shape.RoutingPatch>
>() {}

const shape = { patch: Shape.RoutingPatch, defaults: Shape.defaultRouting, merge: Shape.mergeRouting }

/** Returns the fields of a stored value that are valid, over the defaults. Pure. */
export const usable = (stored: unknown) => StoredSettings.usable(shape, stored)

export const make = Effect.map(
  StoredSettings.make({ namespace: "routing", key: "settings", name: "routing settings" }, shape),
  RoutingSettings.of
)

export const layer: Layer.Layer<RoutingSettings, StoreError, SettingsRepo> = Layer.effect(RoutingSettings, make)
