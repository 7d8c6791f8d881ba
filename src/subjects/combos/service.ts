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
    readonly create: (
      input: CreateCombo
    ) => Effect.Effect<Combo, Errors.InvalidInput | Errors.StateConflict | StoreError>
    /**
     * Returns a combo as it would be stored, refused for whatever would refuse it: made anew, or changed where one of its id or name is
     * stored. Nothing is.
     */
    readonly draft: (
      input: CreateCombo
    ) => Effect.Effect<Combo, Errors.EntityNotFound | Errors.InvalidInput | Errors.StateConflict | StoreError>
    /** A combo in use keeps its name. */
    readonly update: (
      id: string,
      input: UpdateCombo
    ) => Effect.Effect<Combo, Errors.EntityNotFound | Errors.InvalidInput | Errors.StateConflict | StoreError>
    readonly remove: (id: string) => Effect.Effect<void, Errors.EntityNotFound | Errors.StateConflict | StoreError>
  }
>() {}

const services = Effect.all({
  changes: ConfigChanges,
  pipelines: Profiles,
  catalog: Catalog,
  repo: ComboRepo,
  aliases: AliasRepo,
  routers: RouterStrategies,
  ids: IdGen
})
type Services = Effect.Effect.Success<typeof services>

const applied = <A, E, R>(change: Effect.Effect<A, E, R>, { changes }: Services) => changes.apply(change)

const find = Effect.fnUntraced(function* ({ repo }: Services, id: string) {
  return (yield* repo.get(id)) ?? (yield* new Errors.EntityNotFound({ entity: "combo", id }))
})

const knownAliases = ({ aliases }: Services) =>
  Effect.map(aliases.list, (all) => new Map(all.map(({ alias, model }) => [alias, model])))

/** Combos and aliases that would lead nowhere without the combo. */
const checkUnused = Effect.fnUntraced(function* (services: Services, name: string, all: ReadonlyArray<Combo>) {
  const known = yield* knownAliases(services)
  const users = [
    ...Rules.usersOf(name, all, known),
    ...Rules.aliasesOf(name, known).map((alias) => `the alias ${alias}`)
  ]
  if (users.length > 0) return yield* Errors.conflict(`The combo '${name}' is used by: ${users.join(", ")}.`)
})

const checkName = Effect.fnUntraced(function* (services: Services, { id, name }: Combo, all: ReadonlyArray<Combo>) {
  const clash = all.find((other) => other.name === name || other.id === id)
  if (clash !== undefined) {
    if (clash.name === name) return yield* Errors.nameTaken("a combo", name)
    return yield* Errors.conflict(`There is already a combo with the id '${id}'.`, "id")
  }
  const reserved = reservedName(name, { catalog: services.catalog.current() })
  if (reserved !== null) return yield* Errors.invalid("name", reserved)
  if (!(yield* knownAliases(services)).has(name)) return
  return yield* Errors.conflict(`There is already an alias '${name}'.`, "name")
})

const referenceView = ({ catalog }: Services, all: ReadonlyArray<Combo>): ReferenceView => {
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

const routerNames = ({ routers }: Services) => routers.list().map(({ name }) => name)

/** `before`: what is stored. What it refers to may be gone since, which must not forbid other changes. */
const check = Effect.fnUntraced(function* (
  services: Services,
  combo: Combo,
  before: Combo | null,
  others: ReadonlyArray<Combo>
) {
  yield* Errors.refuse(configProblems(combo.config, routerNames(services)))
  const problem = Rules.problemOf(combo, others, yield* knownAliases(services))
  if (problem !== null) return yield* new Errors.InvalidInput({ problems: [Rules.fieldProblemOf(problem)] })
  const changed = {
    targets: combo.targets === before?.targets ? [] : combo.targets,
    config: combo.config === before?.config ? {} : combo.config
  }
  yield* Errors.refuse(referenceProblems(changed, referenceView(services, [...others, combo])))
})

const listAuto = ({ catalog }: Services) =>
  Effect.sync(() => autoCombos({ catalog: catalog.current(), modelsOf: catalog.modelsOf, factsOf: catalog.factsOf }))

/** The new combo of a body, when it may be stored. */
const made = Effect.fnUntraced(function* (services: Services, input: CreateCombo) {
  const nowMs = yield* Clock.currentTimeMillis
  const combo: Combo = {
    id: input.id ?? services.ids.next(nowMs),
    name: input.name,
    strategy: input.strategy ?? "priority",
    targets: input.targets ?? [],
    config: input.config ?? {},
    isActive: input.isActive ?? true,
    createdAtMs: nowMs,
    updatedAtMs: nowMs
  }
  const all = yield* services.repo.list
  yield* checkName(services, combo, all)
  yield* check(services, combo, null, all)
  return combo
})

const create = Effect.fn("Combos.create")(function* (services: Services, input: CreateCombo) {
  const combo = yield* made(services, input)
  yield* Effect.catchTag(services.repo.insert(combo), "AlreadyStored", Effect.die)
  return combo
}, applied)

/** The stored combo with the members of a body, when it may be stored so. */
const changedBy = Effect.fnUntraced(function* (services: Services, id: string, input: UpdateCombo) {
  const { createdAt: _createdAt, id: _id, updatedAt: _updatedAt, ...changed } = input
  const before = yield* find(services, id)
  const combo: Combo = { ...before, ...changed, updatedAtMs: yield* Clock.currentTimeMillis }
  const all = yield* services.repo.list
  const others = all.filter((other) => other.id !== combo.id)
  if (combo.name !== before.name) {
    yield* checkName(services, combo, others)
    yield* checkUnused(services, before.name, all)
  }
  yield* check(services, combo, before, others)
  return combo
})

const update = Effect.fn("Combos.update")(function* (services: Services, id: string, input: UpdateCombo) {
  const combo = yield* changedBy(services, id, input)
  yield* Effect.catchTag(services.repo.update(combo), "AlreadyStored", Effect.die)
  return combo
}, applied)

const draft = Effect.fn("Combos.draft")(function* (services: Services, input: CreateCombo) {
  const all = yield* services.repo.list
  const stored =
    all.find(({ id }) => id === input.id) ??
    (input.id === undefined ? all.find(({ name }) => name === input.name) : undefined)
  if (stored === undefined) return yield* made(services, input)
  const { id: _id, ...members } = input
  return yield* changedBy(services, stored.id, members)
})

const remove = Effect.fn("Combos.remove")(function* (services: Services, id: string) {
  const combo = yield* find(services, id)
  yield* checkUnused(services, combo.name, yield* services.repo.list)
  yield* services.repo.remove(combo.id)
  const { combos } = services.pipelines.combos.current()
  if (combos.some(({ routingComboIds }) => routingComboIds.includes(combo.id))) {
    yield* services.pipelines.combos.patch({ combos: withoutRoutingCombo(combos, combo.id) })
  }
}, applied)

export const make = Effect.gen(function* () {
  const all = yield* services

  return Combos.of({
    list: all.repo.list,
    listAuto: listAuto(all),
    get: Effect.fn("Combos.get")((id) => find(all, id)),
    create: (combo) => create(all, combo),
    draft: (input) => draft(all, input),
    update: (id, input) => update(all, id, input),
    remove: (id) => remove(all, id)
  })
})

export const layer: Layer.Layer<
  Combos,
  never,
  AliasRepo | Catalog | ComboRepo | ConfigChanges | IdGen | Profiles | RouterStrategies
> = Layer.effect(Combos, make)
