/** Named configurations: endpoint, model, system prompt and parameters. All callers share them. */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Layer from "effect/Layer"
import type { Preset, PresetFields } from "../domain/Playground.ts"
import { IdGen } from "../platform/IdGen.ts"
import type { StoreError } from "../store/Errors.ts"
import { PlaygroundPresetRepo } from "../store/repo/PlaygroundPresetRepo.ts"
import { InvalidPlaygroundInput, PresetNotFound, TooManyPresets } from "./Errors.ts"
import { readParams } from "./Params.ts"

/** Presets in all. */
export const maxPresets = 500

export class Presets extends Context.Tag("gateway/playground/Presets")<
  Presets,
  {
    /** Oldest first. */
    readonly list: Effect.Effect<ReadonlyArray<Preset>, StoreError>
    readonly get: (id: string) => Effect.Effect<Preset, PresetNotFound | StoreError>
    readonly create: (
      fields: PresetFields
    ) => Effect.Effect<Preset, InvalidPlaygroundInput | TooManyPresets | StoreError>
    /** What is absent stays as it is. */
    readonly update: (
      id: string,
      changes: Partial<PresetFields>
    ) => Effect.Effect<Preset, InvalidPlaygroundInput | PresetNotFound | StoreError>
    readonly remove: (id: string) => Effect.Effect<void, PresetNotFound | StoreError>
  }
>() {}

/** Null: it is fine. */
const problemIn = ({ paramsJson }: PresetFields): InvalidPlaygroundInput | null =>
  Either.match(readParams(paramsJson), {
    onLeft: (message) => new InvalidPlaygroundInput({ field: "params_json", message }),
    onRight: () => null
  })

export const make = Effect.gen(function* () {
  const ids = yield* IdGen
  const repo = yield* PlaygroundPresetRepo
  const oneAtATime = yield* Effect.makeSemaphore(1)

  const get = Effect.fn("Presets.get")(function* (id: string) {
    const preset = yield* repo.get(id)
    return preset ?? (yield* new PresetNotFound({ id }))
  })

  const create = Effect.fn("Presets.create")(function* (fields: PresetFields) {
    const problem = problemIn(fields)
    if (problem !== null) return yield* problem
    if ((yield* repo.count) >= maxPresets) return yield* new TooManyPresets({ limit: maxPresets })
    const createdAtMs = yield* Clock.currentTimeMillis
    const preset: Preset = { ...fields, id: ids.next(createdAtMs), createdAtMs }
    // Ids never repeat.
    yield* Effect.catchTag(repo.insert(preset), "AlreadyStored", (error) => Effect.die(error))
    return preset
  }, oneAtATime.withPermits(1))

  const update = Effect.fn("Presets.update")(function* (id: string, changes: Partial<PresetFields>) {
    const preset: Preset = { ...(yield* get(id)), ...changes }
    const problem = problemIn(preset)
    if (problem !== null) return yield* problem
    yield* repo.update(id, preset)
    return preset
  }, oneAtATime.withPermits(1))

  const remove = Effect.fn("Presets.remove")(function* (id: string) {
    if (!(yield* repo.remove(id))) return yield* new PresetNotFound({ id })
  })

  return Presets.of({ list: repo.list, get, create, update, remove })
})

export const layer: Layer.Layer<Presets, never, IdGen | PlaygroundPresetRepo> = Layer.effect(Presets, make)
