/**
 * Named configurations: endpoint, model, system prompt and parameters. All callers read them; its author changes one, and so does a manager of the
 * gateway. The number that each key may make is limited, so that none takes the space of others.
 */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Layer from "effect/Layer"
import { makeLane } from "../../kernel/Lane.ts"
import { mayManage } from "../../subjects/auth/Access.ts"
import type { Principal } from "../../subjects/keys/entity.ts"
import type { Preset, PresetFields } from "../../subjects/playground/entity.ts"
import { IdGen } from "../../platform/IdGen.ts"
import type { StoreError } from "../../store/Errors.ts"
import { PlaygroundPresetRepo } from "../../subjects/playground/repo.ts"
import { InvalidPlaygroundInput, PresetNotFound, PresetOfOther, TooManyPresets } from "./Errors.ts"
import { readParams } from "./Params.ts"

/** Presets of callers without a key, those who manage the gateway by other means among them. */
export const maxPresets = 500
/** Presets of one API key. */
export const maxPresetsOfKey = 100

export class Presets extends Context.Tag("gateway/agents/playground/Presets")<
  Presets,
  {
    /** Oldest first. */
    readonly list: Effect.Effect<ReadonlyArray<Preset>, StoreError>
    readonly get: (id: string) => Effect.Effect<Preset, PresetNotFound | StoreError>
    readonly create: (
      fields: PresetFields,
      caller: Principal
    ) => Effect.Effect<Preset, InvalidPlaygroundInput | TooManyPresets | StoreError>
    /** Updates a preset; an absent member stays as it is. */
    readonly update: (
      id: string,
      changes: Partial<PresetFields>,
      caller: Principal
    ) => Effect.Effect<Preset, InvalidPlaygroundInput | PresetNotFound | PresetOfOther | StoreError>
    readonly remove: (id: string, caller: Principal) => Effect.Effect<void, PresetNotFound | PresetOfOther | StoreError>
  }
>() {}

const ownerOf = (caller: Principal): string => (caller._tag === "Key" ? caller.key.id : "")

/**
 * Decides whether a caller may change a preset. One that no key has made belongs to all callers without one; where keys
 * are required, these manage the gateway.
 */
const mayChange = ({ owner }: Preset, caller: Principal): boolean =>
  caller._tag !== "Key" || mayManage(caller.key) ? caller._tag !== "Anonymous" || owner === "" : owner === caller.key.id

/** Null: it is fine. */
const problemIn = ({ paramsJson }: PresetFields): InvalidPlaygroundInput | null =>
  Either.match(readParams(paramsJson), {
    onLeft: (message) => new InvalidPlaygroundInput({ field: "params_json", message }),
    onRight: () => null
  })

export const make = Effect.gen(function* () {
  const ids = yield* IdGen
  const repo = yield* PlaygroundPresetRepo
  const oneAtATime = makeLane(1)

  const get = Effect.fn("Presets.get")(function* (id: string) {
    const preset = yield* repo.get(id)
    return preset ?? (yield* new PresetNotFound({ id }))
  })

  const ownOrManaged = Effect.fnUntraced(function* (id: string, caller: Principal) {
    const preset = yield* get(id)
    return mayChange(preset, caller) ? preset : yield* new PresetOfOther({ id })
  })

  const create = Effect.fn("Presets.create")(function* (fields: PresetFields, caller: Principal) {
    const problem = problemIn(fields)
    if (problem !== null) return yield* problem
    const owner = ownerOf(caller)
    const limit = owner === "" ? maxPresets : maxPresetsOfKey
    if ((yield* repo.countOf(owner)) >= limit) return yield* new TooManyPresets({ limit })
    const createdAtMs = yield* Clock.currentTimeMillis
    const preset: Preset = { ...fields, id: ids.next(createdAtMs), owner, createdAtMs }
    // Ids never repeat.
    yield* Effect.catchTag(repo.insert(preset), "AlreadyStored", (error) => Effect.die(error))
    return preset
  }, oneAtATime.inTurn)

  const update = Effect.fn("Presets.update")(function* (id: string, changes: Partial<PresetFields>, caller: Principal) {
    const preset: Preset = { ...(yield* ownOrManaged(id, caller)), ...changes }
    const problem = problemIn(preset)
    if (problem !== null) return yield* problem
    yield* repo.update(id, preset)
    return preset
  }, oneAtATime.inTurn)

  const remove = Effect.fn("Presets.remove")(function* (id: string, caller: Principal) {
    yield* ownOrManaged(id, caller)
    if (!(yield* repo.remove(id))) return yield* new PresetNotFound({ id })
  })

  return Presets.of({ list: repo.list, get, create, update, remove })
})

export const layer: Layer.Layer<Presets, never, IdGen | PlaygroundPresetRepo> = Layer.effect(Presets, make)
