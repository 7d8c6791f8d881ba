/** Routing settings: hot for the request path, kept in the settings table (`/api/settings/routing`). Shape: `domain/RoutingSettings.ts`. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Layer from "effect/Layer"
import * as ParseResult from "effect/ParseResult"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import * as Shape from "../domain/RoutingSettings.ts"
import type { StoreError } from "../store/Errors.ts"
import * as SettingsRepo from "../store/repo/SettingsRepo.ts"

export class RoutingSettings extends Context.Tag("gateway/routing/RoutingSettings")<
  RoutingSettings,
  {
    /** Hot: the settings in force. */
    readonly current: () => Shape.RoutingSettings
    /** Saves a change and puts it in force at once, or changes nothing. */
    readonly patch: (patch: Shape.RoutingPatch) => Effect.Effect<Shape.RoutingSettings, StoreError>
  }
>() {}

const namespace = "routing"
const key = "settings"
const decodePatch = Schema.decodeUnknownEither(Shape.RoutingPatch)

/** What of a stored value can be used over the defaults, field by field. Pure. */
export const usable = (
  stored: unknown
): { readonly settings: Shape.RoutingSettings; readonly problems: ReadonlyArray<string> } => {
  if (stored === null || stored === undefined) return { settings: Shape.defaultRouting, problems: [] }
  if (!Predicate.isRecord(stored))
    return { settings: Shape.defaultRouting, problems: ["The stored value is no object"] }
  let settings = Shape.defaultRouting
  const problems: Array<string> = []
  for (const field of Object.keys(Shape.RoutingPatch.fields)) {
    if (!(field in stored)) continue
    const decoded = decodePatch({ [field]: stored[field] })
    if (Either.isRight(decoded)) settings = Shape.mergeRouting(settings, decoded.right)
    else problems.push(ParseResult.TreeFormatter.formatErrorSync(decoded.left))
  }
  return { settings, problems }
}

export const make = Effect.gen(function* () {
  const repo = yield* SettingsRepo.SettingsRepo
  const loaded = usable(yield* repo.get(namespace, key))
  if (loaded.problems.length > 0) {
    yield* Effect.logWarning(`Stored routing settings are not valid and left out: ${loaded.problems.join("; ")}`)
  }
  let settings = loaded.settings
  const oneAtATime = yield* Effect.makeSemaphore(1)

  const apply = Effect.fnUntraced(function* (change: Shape.RoutingPatch) {
    const next = Shape.mergeRouting(settings, change)
    yield* repo.set(namespace, key, next)
    settings = next
    return next
  }, Effect.uninterruptible)

  return RoutingSettings.of({
    current: () => settings,
    patch: Effect.fn("RoutingSettings.patch")((change: Shape.RoutingPatch) => oneAtATime.withPermits(1)(apply(change)))
  })
})

export const layer: Layer.Layer<RoutingSettings, StoreError, SettingsRepo.SettingsRepo> = Layer.effect(
  RoutingSettings,
  make
)
