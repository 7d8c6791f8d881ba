/** Aliases of models: other names for anything that can be asked for. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Catalog } from "../../plane/providers/Catalog.ts"
import type { StoreError } from "../../store/Errors.ts"
import { AliasRepo, type ModelAlias } from "./repo.ts"
import { ComboRepo } from "../combos/repo.ts"
import * as Rules from "./rules.ts"
import { haveCycle } from "../combos/rules.ts"
import { ConfigChanges } from "../ConfigChanges.ts"
import * as Errors from "../Errors.ts"

export class ModelAliases extends Context.Tag("gateway/subjects/aliases/ModelAliases")<
  ModelAliases,
  {
    /** Lists by alias. */
    readonly list: Effect.Effect<ReadonlyArray<ModelAlias>, StoreError>
    /** Stores an alias, in the place of a former one of the same name. */
    readonly set: (
      alias: ModelAlias
    ) => Effect.Effect<ModelAlias, Errors.InvalidInput | Errors.StateConflict | StoreError>
    readonly remove: (alias: string) => Effect.Effect<void, Errors.EntityNotFound | StoreError>
  }
>() {}

export const make = Effect.gen(function* () {
  const catalog = yield* Catalog
  const repo = yield* AliasRepo
  const combos = yield* ComboRepo
  const { apply } = yield* ConfigChanges

  const set = Effect.fn("ModelAliases.set")(function* ({ alias, model }: ModelAlias) {
    const known = new Map((yield* repo.list).map((each) => [each.alias, each.model]))
    const all = yield* combos.list
    const isCombo = (name: string): boolean => all.some((combo) => combo.name === name)
    const problem = Rules.problemOf({ alias, model }, known, {
      isCombo,
      isProvider: (name) => catalog.current().provider(name) !== null
    })
    if (problem !== null) return yield* Rules.refusalOf(alias, problem)
    const named = /^combo[:/](.*)$/.exec(model)?.[1]
    if (named !== undefined && !isCombo(named)) return yield* Errors.invalid("model", `there is no combo '${named}'`)
    if (haveCycle(all, new Map(known).set(alias, model))) {
      return yield* Errors.invalid("model", "is a combo that contains the alias")
    }
    yield* repo.set({ alias, model })
    return { alias, model }
  }, apply)

  const remove = Effect.fn("ModelAliases.remove")(function* (alias: string) {
    if (yield* repo.remove(alias)) return
    return yield* new Errors.EntityNotFound({ entity: "alias", id: alias, field: "alias" })
  }, apply)

  return ModelAliases.of({ list: repo.list, set, remove })
})

export const layer: Layer.Layer<ModelAliases, never, AliasRepo | Catalog | ComboRepo | ConfigChanges> = Layer.effect(
  ModelAliases,
  make
)
