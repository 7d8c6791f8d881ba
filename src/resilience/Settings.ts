/**
 * Resilience settings: hot for the request path, kept in the settings table (contract B3 `/api/resilience`).
 * Shape and limits are in `domain/Resilience.ts`; the parts are read by the rooms they belong to.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Layer from "effect/Layer"
import * as ParseResult from "effect/ParseResult"
import * as Schema from "effect/Schema"
import { defaultResilience, mergeResilience, ResiliencePatch, type ResilienceSettings } from "../domain/Resilience.ts"
import * as SettingsRepo from "../store/repo/SettingsRepo.ts"
import type { StoreError } from "../store/Errors.ts"

export class Settings extends Context.Tag("gateway/resilience/Settings")<
  Settings,
  {
    /** Hot: the settings in force. */
    readonly current: () => ResilienceSettings
    /** Saves a change and puts it in force at once. */
    readonly patch: (patch: ResiliencePatch) => Effect.Effect<ResilienceSettings, StoreError>
  }
>() {}

const namespace = "resilience"
const decodePatch = Schema.decodeUnknownEither(ResiliencePatch)

export const make = Effect.gen(function* () {
  const repo = yield* SettingsRepo.SettingsRepo
  const stored = yield* repo.get(namespace, "settings")
  const loaded = decodePatch(stored ?? {})
  if (Either.isLeft(loaded)) {
    yield* Effect.logWarning(
      `Stored resilience settings are not valid and are ignored: ${ParseResult.TreeFormatter.formatErrorSync(loaded.left)}`
    )
  }
  let settings = mergeResilience(
    defaultResilience,
    Either.getOrElse(loaded, () => ({}))
  )

  const patch = Effect.fn("Settings.patch")(function* (change: ResiliencePatch) {
    const next = mergeResilience(settings, change)
    yield* repo.set(namespace, "settings", next)
    settings = next
    return next
  })
  return Settings.of({ current: () => settings, patch })
})

export const layer: Layer.Layer<Settings, StoreError, SettingsRepo.SettingsRepo> = Layer.effect(Settings, make)
