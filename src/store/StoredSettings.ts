/**
 * A settings object that is kept in memory for hot readers and stored as one value of the settings table. The owner defines its shape,
 * its defaults and how a patch is merged.
 */
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as ParseResult from "effect/ParseResult"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import { makeLane } from "../kernel/Lane.ts"
import type { StoreError } from "./Errors.ts"
import { SettingsRepo } from "../subjects/settings/repo.ts"
import { Snapshots } from "./Snapshots.ts"

/** Defined by the owner of the settings. */
export interface SettingsShape<Settings, Patch, Encoded, Fields extends Schema.Struct.Fields> {
  /** Any part of the settings; each field can be decoded by itself. */
  readonly patch: Schema.Schema<Patch, Encoded> & { readonly fields: Fields }
  readonly defaults: Settings
  readonly merge: (settings: Settings, patch: Patch) => Settings
}

/** Place of stored settings, and their name in the log. */
export interface SettingsPlace {
  readonly namespace: string
  readonly key: string
  readonly name: string
}

export interface StoredSettings<Settings, Patch> {
  /** Hot: the settings in force. */
  readonly current: () => Settings
  /** Saves a change and applies it at once, or changes nothing. */
  readonly patch: (patch: Patch) => Effect.Effect<Settings, StoreError>
}

/** The valid fields of a stored value over the defaults, so that one bad value does not discard the others. Pure. */
export const usable = <Settings, Patch, Encoded, Fields extends Schema.Struct.Fields>(
  shape: SettingsShape<Settings, Patch, Encoded, Fields>,
  stored: unknown
): { readonly settings: Settings; readonly problems: ReadonlyArray<string> } => {
  if (stored === null || stored === undefined) return { settings: shape.defaults, problems: [] }
  if (!Predicate.isRecord(stored)) return { settings: shape.defaults, problems: ["The stored value is no object"] }
  const decode = Schema.decodeUnknownEither(shape.patch)
  let settings = shape.defaults
  const problems: Array<string> = []
  for (const field of Object.keys(shape.patch.fields)) {
    if (!(field in stored)) continue
    const decoded = decode({ [field]: stored[field] })
    if (Either.isRight(decoded)) settings = shape.merge(settings, decoded.right)
    else problems.push(ParseResult.TreeFormatter.formatErrorSync(decoded.left))
  }
  return { settings, problems }
}

/** `onChange` is called with the settings at the start and after each change, before they can be read: for derived values. */
export const make = Effect.fn("StoredSettings.make")(function* <
  Settings,
  Patch,
  Encoded,
  Fields extends Schema.Struct.Fields
>(
  place: SettingsPlace,
  shape: SettingsShape<Settings, Patch, Encoded, Fields>,
  onChange: (settings: Settings) => void = () => {}
) {
  const repo = yield* SettingsRepo
  const load = Effect.gen(function* () {
    const loaded = usable(shape, yield* repo.get(place.namespace, place.key))
    if (loaded.problems.length > 0) {
      yield* Effect.logWarning(`Stored ${place.name} are not valid and left out: ${loaded.problems.join("; ")}`)
    }
    return loaded.settings
  })
  let settings = yield* load
  onChange(settings)
  const oneAtATime = makeLane(1)
  yield* (yield* Snapshots).register([`settings/${place.namespace}`], () =>
    Effect.map(load, (next) => {
      settings = next
      onChange(next)
    }).pipe(oneAtATime.inTurn)
  )

  const apply = Effect.fnUntraced(function* (change: Patch) {
    const next = shape.merge(settings, change)
    yield* repo.set(place.namespace, place.key, next)
    settings = next
    onChange(next)
    return next
  }, Effect.uninterruptible)

  const stored: StoredSettings<Settings, Patch> = {
    current: () => settings,
    patch: (change) => oneAtATime.inTurn(apply(change))
  }
  return stored
})
