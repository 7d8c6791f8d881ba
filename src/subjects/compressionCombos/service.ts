/** Pipelines of engines with names, for people who run the gateway, and the settings of the engine for prose. */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { makeLane } from "../../kernel/Lane.ts"
import { mostCombos, Profiles } from "../../plane/compression/Profiles.ts"
import {
  type CavemanSettings,
  type CavemanSettingsInput,
  type CompressionCombo,
  defaultCavemanSettings,
  type PipelineStep
} from "../compression/entity/CompressionProfiles.ts"
import { IdGen } from "../../platform/IdGen.ts"
import type { StoreError } from "../../store/Errors.ts"
import { ComboRepo } from "../combos/repo.ts"
import * as Errors from "../Errors.ts"

export interface ComboInput {
  readonly name: string
  readonly pipeline: ReadonlyArray<PipelineStep>
  /** Absent: false. */
  readonly isActive?: boolean
}

type Refused = Errors.EntityNotFound | Errors.InvalidInput | StoreError

export class CompressionCombos extends Context.Tag("gateway/subjects/compressionCombos/CompressionCombos")<
  CompressionCombos,
  {
    readonly list: () => ReadonlyArray<CompressionCombo>
    readonly get: (id: string) => Effect.Effect<CompressionCombo, Errors.EntityNotFound>
    readonly create: (input: ComboInput) => Effect.Effect<CompressionCombo, Errors.InvalidInput | StoreError>
    /** Replaces it, but for its assignments. */
    readonly replace: (id: string, input: ComboInput) => Effect.Effect<CompressionCombo, Refused>
    readonly remove: (id: string) => Effect.Effect<void, Errors.EntityNotFound | StoreError>
    /** Requests of these routing combos pass it, and no other pipeline. */
    readonly assign: (id: string, routingComboIds: ReadonlyArray<string>) => Effect.Effect<CompressionCombo, Refused>
    readonly caveman: () => CavemanSettings
    /** Replaces the settings; an absent one gets its default. */
    readonly replaceCaveman: (input: CavemanSettingsInput) => Effect.Effect<CavemanSettings, StoreError>
  }
>() {}

/** One of them only is the active profile. Pure. */
export const withActive = (
  combos: ReadonlyArray<CompressionCombo>,
  changed: CompressionCombo
): ReadonlyArray<CompressionCombo> =>
  combos.map((combo) => {
    if (combo.id === changed.id) return changed
    return changed.isActive && combo.isActive ? { ...combo, isActive: false } : combo
  })

/** A routing combo has one pipeline. Pure. */
export const withAssigned = (
  combos: ReadonlyArray<CompressionCombo>,
  id: string,
  routingComboIds: ReadonlyArray<string>
): ReadonlyArray<CompressionCombo> => {
  const taken = new Set(routingComboIds)
  return combos.map((combo) =>
    combo.id === id
      ? { ...combo, routingComboIds: [...taken] }
      : { ...combo, routingComboIds: combo.routingComboIds.filter((each) => !taken.has(each)) }
  )
}

export const make = Effect.gen(function* () {
  const profiles = yield* Profiles
  const ids = yield* IdGen
  const routing = yield* ComboRepo
  const oneAtATime = makeLane(1)
  const list = (): ReadonlyArray<CompressionCombo> => profiles.combos.current().combos

  const get = (id: string): Effect.Effect<CompressionCombo, Errors.EntityNotFound> =>
    Effect.suspend(() => {
      const found = list().find((combo) => combo.id === id)
      return found === undefined
        ? new Errors.EntityNotFound({ entity: "compression combo", id })
        : Effect.succeed(found)
    })

  const checked = (name: string, id: string | null): Effect.Effect<void, Errors.InvalidInput> => {
    const lower = name.toLowerCase()
    const isTaken = list().some((combo) => combo.id !== id && combo.name.toLowerCase() === lower)
    return Errors.refuseOne(isTaken ? { field: "name", message: "is the name of another compression combo" } : null)
  }

  const create = Effect.fn("CompressionCombos.create")(function* (input: ComboInput) {
    yield* checked(input.name, null)
    if (list().length >= mostCombos) {
      yield* Errors.refuseOne({ field: "name", message: `there are ${mostCombos} compression combos already` })
    }
    const nowMs = yield* Clock.currentTimeMillis
    const made: CompressionCombo = {
      id: ids.next(nowMs),
      name: input.name,
      pipeline: input.pipeline,
      isActive: input.isActive ?? false,
      routingComboIds: [],
      createdAtMs: nowMs,
      updatedAtMs: nowMs
    }
    yield* profiles.combos.patch({ combos: withActive([...list(), made], made) })
    return made
  }, oneAtATime.inTurn)

  const replace = Effect.fn("CompressionCombos.replace")(function* (id: string, input: ComboInput) {
    const found = yield* get(id)
    yield* checked(input.name, id)
    const updatedAtMs = yield* Clock.currentTimeMillis
    const { name, isActive = false, pipeline } = input
    const changed: CompressionCombo = { ...found, name, pipeline, isActive, updatedAtMs }
    yield* profiles.combos.patch({ combos: withActive(list(), changed) })
    return changed
  }, oneAtATime.inTurn)

  const remove = Effect.fn("CompressionCombos.remove")(function* (id: string) {
    yield* get(id)
    yield* profiles.combos.patch({ combos: list().filter((combo) => combo.id !== id) })
  }, oneAtATime.inTurn)

  const assign = Effect.fn("CompressionCombos.assign")(function* (id: string, asked: ReadonlyArray<string>) {
    yield* get(id)
    const known = new Set((yield* routing.list).map((combo) => combo.id))
    const unknown = asked.find((each) => !known.has(each))
    yield* Errors.refuseOne(
      unknown === undefined ? null : { field: "routingComboIds", message: `there is no combo with the id '${unknown}'` }
    )
    yield* profiles.combos.patch({ combos: withAssigned(list(), id, asked) })
    return yield* get(id)
  }, oneAtATime.inTurn)

  return CompressionCombos.of({
    list,
    get,
    create,
    replace,
    remove,
    assign,
    caveman: profiles.caveman.current,
    replaceCaveman: (input) => profiles.caveman.patch({ ...defaultCavemanSettings, ...input })
  })
})

export const layer: Layer.Layer<CompressionCombos, never, Profiles | IdGen | ComboRepo> = Layer.effect(
  CompressionCombos,
  make
)
