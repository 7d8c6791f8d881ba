/** `/api/combos`. */
import * as HttpApiBuilder from "@effect/platform/HttpApiBuilder"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { GatewayApi } from "../../api/Api.ts"
import { Conflict } from "../../api/Errors.ts"
import type { BadRequest } from "../../api/Errors.ts"
import type { Combo } from "../../domain/Combo.ts"
import { IdGen } from "../../platform/IdGen.ts"
import { ComboRepo } from "../../store/repo/ComboRepo.ts"
import * as Rules from "../../routing/ComboRules.ts"
import { badField, ConfigChanges, notFound, stored } from "./Support.ts"
import { comboView } from "./Views.ts"

const refused = (problem: Rules.ComboProblem): BadRequest => {
  switch (problem._tag) {
    case "StrategyNotBuilt":
      return badField("strategy", `'${problem.strategy}' is not available in this version; use 'priority'`)
    case "UnknownCombo":
      return badField(`targets.${problem.index}.model`, `there is no combo '${problem.name}'`)
    case "Cycle":
      return badField("targets", "the combo would contain itself")
    case "TooDeep":
      return badField(
        "targets",
        `combos would nest ${problem.levels} levels deep; at most ${Rules.maxNesting} are allowed`
      )
  }
}

const taken = (combo: Combo, what: string): Conflict =>
  what === "id"
    ? new Conflict({ message: `There is already a combo with the id '${combo.id}'.`, param: "id" })
    : new Conflict({ message: `There is already a combo named '${combo.name}'.`, param: "name" })

const inUse = (name: string, users: ReadonlyArray<string>): Conflict =>
  new Conflict({ message: `The combo '${name}' is used by: ${users.join(", ")}.` })

export const layer = HttpApiBuilder.group(GatewayApi, "combos", (handlers) =>
  Effect.gen(function* () {
    const repo = yield* ComboRepo
    const ids = yield* IdGen
    const changes = yield* ConfigChanges

    const find = Effect.fnUntraced(function* (id: string) {
      return (yield* repo.get(id)) ?? (yield* notFound("combo", id))
    })

    const check = Effect.fnUntraced(function* (combo: Combo) {
      if (combo.targets.length === 0 && combo.strategy !== "auto") {
        return yield* badField("targets", `the strategy '${combo.strategy}' needs at least one target`)
      }
      const others = (yield* repo.list).filter((other) => other.id !== combo.id)
      const problem = Rules.problemOf(combo, others)
      if (problem !== null) return yield* refused(problem)
    })

    return handlers
      .handle("list", () => Effect.map(repo.list, (combos) => ({ combos: combos.map(comboView) })).pipe(stored))
      .handle("get", ({ path }) => Effect.map(find(path.id), (combo) => ({ combo: comboView(combo) })).pipe(stored))
      .handle("create", ({ payload }) =>
        Effect.gen(function* () {
          const nowMs = yield* Clock.currentTimeMillis
          const combo: Combo = {
            id: payload.id ?? ids.next(nowMs),
            name: payload.name,
            strategy: payload.strategy ?? "priority",
            targets: payload.targets ?? [],
            config: payload.config ?? {},
            isActive: payload.isActive ?? true,
            createdAtMs: nowMs,
            updatedAtMs: nowMs
          }
          const clash = (yield* repo.list).find((other) => other.id === combo.id || other.name === combo.name)
          if (clash !== undefined) return yield* taken(combo, clash.name === combo.name ? "name" : "id")
          yield* check(combo)
          yield* Effect.catchTag(repo.insert(combo), "AlreadyStored", Effect.die)
          return { combo: comboView(combo) }
        }).pipe(changes.apply, stored)
      )
      .handle("update", ({ path, payload }) =>
        Effect.gen(function* () {
          const before = yield* find(path.id)
          const combo: Combo = { ...before, ...payload, updatedAtMs: yield* Clock.currentTimeMillis }
          const all = yield* repo.list
          if (combo.name !== before.name) {
            if (all.some((other) => other.name === combo.name)) return yield* taken(combo, "name")
            const users = Rules.usersOf(before.name, all)
            if (users.length > 0) return yield* inUse(before.name, users)
          }
          yield* check(combo)
          yield* Effect.catchTag(repo.update(combo), "AlreadyStored", Effect.die)
          return { combo: comboView(combo) }
        }).pipe(changes.apply, stored)
      )
      .handle("remove", ({ path }) =>
        Effect.gen(function* () {
          const combo = yield* find(path.id)
          const users = Rules.usersOf(combo.name, yield* repo.list)
          if (users.length > 0) return yield* inUse(combo.name, users)
          yield* repo.remove(combo.id)
        }).pipe(changes.apply, stored)
      )
  })
)
