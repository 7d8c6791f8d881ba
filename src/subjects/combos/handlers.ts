/** `/api/combos`. */
import * as HttpApiBuilder from "@effect/platform/HttpApiBuilder"
import * as Effect from "effect/Effect"
import { contractOf } from "../../contract/GroupContract.ts"
import type { AutoCombo } from "./AutoCombos.ts"
import { autoListing, comboListing, Combos as CombosGroup } from "./routes.ts"
import type { Combo } from "./entity.ts"
import { Combos } from "./service.ts"
import { answered } from "../../entry/handling/Answers.ts"
import { asJson, entriesText, listAnswer, listed, type ListOf } from "../../entry/handling/Lists.ts"
import { autoComboView, candidateView, comboView } from "../../entry/handling/Views.ts"

const viewed = (combo: Combo) => ({ combo: comboView(combo) })

const listOf: ListOf<Combo, typeof comboListing> = {
  listing: comboListing,
  idOf: ({ id }) => id,
  texts: ({ id, name, strategy, targets }) => [name, id, strategy, ...targets.map(({ model }) => model)],
  sorts: {
    name: ({ name }) => name,
    strategy: ({ strategy }) => strategy,
    createdAt: ({ createdAtMs }) => createdAtMs,
    updatedAt: ({ updatedAtMs }) => updatedAtMs
  }
}

const summaryOf = ({ id, isActive, name, strategy, targets }: Combo) => ({
  id,
  name,
  strategy,
  isActive,
  targetCount: targets.length
})

const autoListOf: ListOf<AutoCombo, typeof autoListing> = {
  listing: autoListing,
  idOf: ({ spec }) => spec.id,
  texts: ({ spec }) => [spec.id],
  sorts: { id: ({ spec }) => spec.id, candidateCount: ({ pool }) => pool.length }
}

const autoSummaryOf = (combo: AutoCombo) => {
  const { id, isHidden, name, type, variant } = autoComboView({ ...combo, pool: [] })
  return { id, name, variant, type, isHidden, candidateCount: combo.pool.length }
}

export const layer = HttpApiBuilder.group(contractOf(CombosGroup), "combos", (handlers) =>
  Effect.map(Combos, (combos) =>
    handlers
      .handle("list", () =>
        Effect.gen(function* () {
          const page = yield* listed(yield* answered(combos.list), listOf)
          return yield* listAnswer("combos", page, asJson(page.isSummary ? summaryOf : comboView))
        })
      )
      .handle("auto", () =>
        Effect.gen(function* () {
          const page = yield* listed(yield* combos.listAuto, autoListOf)
          if (page.isSummary) return yield* listAnswer("combos", page, asJson(autoSummaryOf))
          // Ids choose from one pool mostly: it is written once.
          const pools = new Map<AutoCombo["pool"], string>()
          for (const { pool } of page.items) {
            if (!pools.has(pool)) pools.set(pool, yield* entriesText(pool, asJson(candidateView)))
          }
          return yield* listAnswer("combos", page, (combo) => {
            const { candidatePool: _pool, ...rest } = autoComboView({ ...combo, pool: [] })
            const own = JSON.stringify({ ...rest, candidateCount: combo.pool.length })
            return `{"candidatePool":${pools.get(combo.pool) ?? "[]"},${own.slice(1)}`
          })
        })
      )
      .handle("get", ({ path }) => answered(Effect.map(combos.get(path.id), viewed)))
      .handle("create", ({ payload }) => answered(Effect.map(combos.create(payload), viewed)))
      .handle("update", ({ path, payload }) => answered(Effect.map(combos.update(path.id, payload), viewed)))
      .handle("remove", ({ path }) => answered(combos.remove(path.id)))
  )
)
