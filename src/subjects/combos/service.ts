/** Routing combos: how they are listed, made, changed and removed. */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { CreateCombo, UpdateCombo } from "./routes.ts"
import { configProblems } from "./entity/ComboPolicy.ts"
import { Profiles, withoutRoutingCombo } from "../../plane/compression/Profiles.ts"
import type { Combo } from "./entity.ts"
import { IdGen } from "../../platform/IdGen.ts"
import { Catalog } from "../../plane/providers/Catalog.ts"
import * as Registry from "../../plane/providers/Registry.ts"
import { RouterStrategies } from "../../plane/routing/auto/RouterStrategies.ts"
import type { StoreError } from "../../store/Errors.ts"
import { AliasRepo } from "../aliases/repo.ts"
import { ComboRepo } from "./repo.ts"
import { type AutoCombo, autoCombos } from "./AutoCombos.ts"
import { type ReferenceView, referenceProblems, reservedName } from "./ComboReferences.ts"
import * as Rules from "./rules.ts"
import { ConfigChanges } from "../ConfigChanges.ts"
import * as Errors from "../Errors.ts"

export class Combos extends Context.Tag("gateway/subjects/combos/Combos")<
  Combos,
  {
    /** Lists by name. */
    readonly list: Effect.Effect<ReadonlyArray<Combo>, StoreError>
    /** The automatic ids, which are stored nowhere. */
    readonly listAuto: Effect.Effect<ReadonlyArray<AutoCombo>>
    readonly get: (id: string) => Effect.Effect<Combo, Errors.EntityNotFound | StoreError>
    readonly create: (input: CreateCombo) => Effect.Effect<Combo, Errors.InvalidInput | Errors.NameTaken | StoreError>
    /** A combo in use keeps its name. */
    readonly update: (
      id: string,
      input: UpdateCombo
    ) => Effect.Effect<
      Combo,
      Errors.EntityNotFound | Errors.InvalidInput | Errors.NameTaken | Errors.ComboInUse | StoreError
    >
    readonly remove: (id: string) => Effect.Effect<void, Errors.EntityNotFound | Errors.ComboInUse | StoreError>
  }
>() {}

export const make = Effect.gen(function* () {
  const pipelines = yield* Profiles
  const catalog = yield* Catalog
  const repo = yield* ComboRepo
  const aliases = yield* AliasRepo
  const routers = yield* RouterStrategies
  const ids = yield* IdGen
  const { apply } = yield* ConfigChanges

  const find = Effect.fnUntraced(function* (id: string) {
    return (yield* repo.get(id)) ?? (yield* new Errors.EntityNotFound({ entity: "combo", id }))
  })

  const knownAliases = Effect.map(aliases.list, (all) => new Map(all.map(({ alias, model }) => [alias, model])))

  /** Combos and aliases that would lead nowhere without the combo. */
  const checkUnused = Effect.fnUntraced(function* (name: string, all: ReadonlyArray<Combo>) {
    const known = yield* knownAliases
    const users = [
      ...Rules.usersOf(name, all, known),
      ...Rules.aliasesOf(name, known).map((alias) => `the alias ${alias}`)
    ]
    if (users.length > 0) return yield* new Errors.ComboInUse({ name, users })
  })

  const checkName = Effect.fnUntraced(function* ({ id, name }: Combo, all: ReadonlyArray<Combo>) {
    const clash = all.find((other) => other.name === name || other.id === id)
    if (clash !== undefined) {
      const isName = clash.name === name
      return yield* new Errors.NameTaken({
        field: isName ? "name" : "id",
        name: isName ? name : id,
        holder: "combo"
      })
    }
    const reserved = reservedName(name, { catalog: catalog.current() })
    if (reserved !== null) return yield* Errors.invalid("name", reserved)
    if (!(yield* knownAliases).has(name)) return
    return yield* new Errors.NameTaken({ field: "name", name, holder: "alias" })
  })

  const referenceView = (all: ReadonlyArray<Combo>): ReferenceView => {
    const current = catalog.current()
    const names = new Set(all.map(({ name }) => name))
    return {
      catalog: current,
      modelsOf: catalog.modelsOf,
      factsOf: catalog.factsOf,
      isCombo: (name) => names.has(name),
      providerIds: [...current.nodes.map(({ prefix }) => prefix), ...Registry.registry.keys()]
    }
  }

  const routerNames = () => routers.list().map(({ name }) => name)

  /** `before`: what is stored. What it refers to may be gone since, which must not forbid other changes. */
  const check = Effect.fnUntraced(function* (combo: Combo, before: Combo | null, others: ReadonlyArray<Combo>) {
    yield* Errors.refuse(configProblems(combo.config, routerNames()))
    const problem = Rules.problemOf(combo, others, yield* knownAliases)
    if (problem !== null) return yield* new Errors.InvalidInput({ problems: [Rules.fieldProblemOf(problem)] })
    const changed = {
      targets: combo.targets === before?.targets ? [] : combo.targets,
      config: combo.config === before?.config ? {} : combo.config
    }
    yield* Errors.refuse(referenceProblems(changed, referenceView([...others, combo])))
  })

  const listAuto = Effect.sync(() =>
    autoCombos({ catalog: catalog.current(), modelsOf: catalog.modelsOf, factsOf: catalog.factsOf })
  )

  const create = Effect.fn("Combos.create")(function* (input: CreateCombo) {
    const nowMs = yield* Clock.currentTimeMillis
    const combo: Combo = {
      id: input.id ?? ids.next(nowMs),
      name: input.name,
      strategy: input.strategy ?? "priority",
      targets: input.targets ?? [],
      config: input.config ?? {},
      isActive: input.isActive ?? true,
      createdAtMs: nowMs,
      updatedAtMs: nowMs
    }
    const all = yield* repo.list
    yield* checkName(combo, all)
    yield* check(combo, null, all)
    yield* Effect.catchTag(repo.insert(combo), "AlreadyStored", Effect.die)
    return combo
  }, apply)

  const update = Effect.fn("Combos.update")(function* (id: string, input: UpdateCombo) {
    const { createdAt: _createdAt, id: _id, updatedAt: _updatedAt, ...changed } = input
    const before = yield* find(id)
    const combo: Combo = { ...before, ...changed, updatedAtMs: yield* Clock.currentTimeMillis }
    const all = yield* repo.list
    const others = all.filter((other) => other.id !== combo.id)
    if (combo.name !== before.name) {
      yield* checkName(combo, others)
      yield* checkUnused(before.name, all)
    }
    yield* check(combo, before, others)
    yield* Effect.catchTag(repo.update(combo), "AlreadyStored", Effect.die)
    return combo
  }, apply)

  const remove = Effect.fn("Combos.remove")(function* (id: string) {
    const combo = yield* find(id)
    yield* checkUnused(combo.name, yield* repo.list)
    yield* repo.remove(combo.id)
    const { combos } = pipelines.combos.current()
    if (combos.some(({ routingComboIds }) => routingComboIds.includes(combo.id))) {
      yield* pipelines.combos.patch({ combos: withoutRoutingCombo(combos, combo.id) })
    }
  }, apply)

  return Combos.of({ list: repo.list, listAuto, get: Effect.fn("Combos.get")(find), create, update, remove })
})

export const layer: Layer.Layer<
  Combos,
  never,
  AliasRepo | Catalog | ComboRepo | ConfigChanges | IdGen | Profiles | RouterStrategies
> = Layer.effect(Combos, make)
