/**
 * Resilience settings: hot for the request path, kept in the settings table (`/api/resilience`).
 * Shape and limits are in `subjects/resilience/entity.ts`; each part is read by the module it configures.
 */
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Layer from "effect/Layer"
import * as ParseResult from "effect/ParseResult"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import { makeLane } from "../../kernel/Lane.ts"
import {
  contradictions,
  defaultResilience,
  mergeResilience,
  ResiliencePatch,
  type ResilienceSettings,
  type SettingProblem
} from "../../subjects/resilience/entity.ts"
import * as SettingsRepo from "../../subjects/settings/repo.ts"
import type { StoreError } from "../../store/Errors.ts"
import { Snapshots } from "../../store/Snapshots.ts"

/** The settings would contradict one another; nothing was changed. Never without problems. */
export class SettingsContradict extends Data.TaggedError("SettingsContradict")<{
  readonly problems: readonly [SettingProblem, ...ReadonlyArray<SettingProblem>]
}> {}

export class Settings extends Context.Tag("gateway/plane/resilience/Settings")<
  Settings,
  {
    /** Hot: the settings in force. */
    readonly current: () => ResilienceSettings
    /** Saves a change and puts it in force at once, or changes nothing. */
    readonly patch: (patch: ResiliencePatch) => Effect.Effect<ResilienceSettings, StoreError | SettingsContradict>
  }
>() {}

/** The settings where nothing is stored. The program takes `loadShedding.maxInFlight` from the machine's memory. */
export class Defaults extends Context.Reference<Defaults>()("gateway/plane/resilience/Defaults", {
  defaultValue: (): ResilienceSettings => defaultResilience
}) {}

export const defaultsFor = (maxInFlight: number): ResilienceSettings => ({
  ...defaultResilience,
  loadShedding: { ...defaultResilience.loadShedding, maxInFlight }
})

/**
 * Selects the part of the settings that is stored: without a limit that is the default one, which another machine would
 * not have.
 */
const storedOf = (settings: ResilienceSettings, defaults: ResilienceSettings): unknown =>
  settings.loadShedding.maxInFlight === defaults.loadShedding.maxInFlight
    ? { ...settings, loadShedding: { retryAfterMs: settings.loadShedding.retryAfterMs } }
    : settings

const namespace = "resilience"
const key = "settings"
const decodePatch = (stored: unknown) => Schema.decodeUnknownEither(ResiliencePatch)(stored)

/**
 * Reads the valid parts of a stored value over the defaults, section by section, so that one bad value does not cost the
 * others. Pure.
 */
export const usable = (
  stored: unknown,
  defaults: ResilienceSettings = defaultResilience
): { readonly settings: ResilienceSettings; readonly problems: ReadonlyArray<string> } => {
  if (stored === null || stored === undefined) return { settings: defaults, problems: [] }
  if (!Predicate.isRecord(stored)) return { settings: defaults, problems: ["The stored value is no object"] }
  let settings = defaults
  const problems: Array<string> = []
  for (const section of Object.keys(ResiliencePatch.fields)) {
    if (!(section in stored)) continue
    const decoded = decodePatch({ [section]: stored[section] })
    if (Either.isLeft(decoded)) {
      problems.push(ParseResult.TreeFormatter.formatErrorSync(decoded.left))
      continue
    }
    const next = mergeResilience(settings, decoded.right)
    const contradicting = contradictions(next)
    if (contradicting.length === 0) settings = next
    else problems.push(...contradicting.map(({ field, message }) => `${field} ${message}`))
  }
  return { settings, problems }
}

export const make = Effect.gen(function* () {
  const repo = yield* SettingsRepo.SettingsRepo
  const defaults = yield* Defaults
  const load = Effect.gen(function* () {
    const loaded = usable(yield* repo.get(namespace, key), defaults)
    if (loaded.problems.length > 0) {
      yield* Effect.logWarning(`Stored resilience settings are not valid and left out: ${loaded.problems.join("; ")}`)
    }
    return loaded.settings
  })
  let settings = yield* load
  const oneAtATime = makeLane(1)
  yield* (yield* Snapshots).register([`settings/${namespace}`], () =>
    oneAtATime.inTurn(Effect.map(load, (next) => void (settings = next)))
  )

  const apply = Effect.fnUntraced(function* (change: ResiliencePatch) {
    const next = mergeResilience(settings, change)
    const [first, ...others] = contradictions(next)
    if (first !== undefined) return yield* new SettingsContradict({ problems: [first, ...others] })
    yield* repo.set(namespace, key, storedOf(next, defaults))
    settings = next
    return next
  }, Effect.uninterruptible)

  const patch = Effect.fn("Settings.patch")((change: ResiliencePatch) => oneAtATime.inTurn(apply(change)))
  return Settings.of({ current: () => settings, patch })
})

export const layer: Layer.Layer<Settings, StoreError, SettingsRepo.SettingsRepo> = Layer.effect(Settings, make)
