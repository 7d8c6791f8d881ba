/**
 * Resilience settings: hot for the request path, kept in the settings table (contract B3 `/api/resilience`).
 * This file holds the shape, the limits and the current value; the parts are read by the rooms they belong to.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Layer from "effect/Layer"
import * as ParseResult from "effect/ParseResult"
import * as Schema from "effect/Schema"
import * as SettingsRepo from "../store/repo/SettingsRepo.ts"
import type { StoreError } from "../store/Errors.ts"

const timeoutMs = Schema.Int.pipe(Schema.between(50, 86_400_000))

/** The four timeouts of a request; contract B5 "Timeouts". All in milliseconds. */
export const Timeouts = Schema.Struct({
  /** One connection attempt: DNS, TCP and TLS. */
  connectMs: timeoutMs,
  /** Each attempt until its first content. */
  firstByteMs: timeoutMs,
  /** Between upstream bytes after content has begun. */
  idleMs: timeoutMs,
  /** The whole client request over all attempts. */
  totalMs: timeoutMs
}).annotations({ identifier: "Timeouts" })
export type Timeouts = typeof Timeouts.Type

export const ResilienceSettings = Schema.Struct({ timeouts: Timeouts }).annotations({
  identifier: "ResilienceSettings"
})
export type ResilienceSettings = typeof ResilienceSettings.Type

/** Any part of the settings, as `PATCH /api/resilience` takes it. */
export const ResiliencePatch = Schema.partialWith(
  Schema.Struct({ timeouts: Schema.partialWith(Timeouts, { exact: true }) }),
  { exact: true }
).annotations({ identifier: "ResiliencePatch" })
export type ResiliencePatch = typeof ResiliencePatch.Type

export const defaults: ResilienceSettings = {
  timeouts: { connectMs: 30_000, firstByteMs: 120_000, idleMs: 300_000, totalMs: 600_000 }
}

/** Lays a patch over settings; what the patch leaves out stays. */
export const merge = (settings: ResilienceSettings, patch: ResiliencePatch): ResilienceSettings => ({
  timeouts: { ...settings.timeouts, ...patch.timeouts }
})

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
  let settings = merge(
    defaults,
    Either.getOrElse(loaded, () => ({}))
  )

  const patch = Effect.fn("Settings.patch")(function* (change: ResiliencePatch) {
    const next = merge(settings, change)
    yield* repo.set(namespace, "settings", next)
    settings = next
    return next
  })
  return Settings.of({ current: () => settings, patch })
})

export const layer: Layer.Layer<Settings, StoreError, SettingsRepo.SettingsRepo> = Layer.effect(Settings, make)
