/** `/api/combos`. */
import * as HttpApiBuilder from "@effect/platform/HttpApiBuilder"
import * as Effect from "effect/Effect"
import { contractOf } from "../../contract/GroupContract.ts"
import { Combos as CombosGroup } from "./routes.ts"
import type { Combo } from "./entity.ts"
import { Combos } from "./service.ts"
import { answered } from "../../entry/handling/Answers.ts"
import { paged } from "../../entry/handling/Pages.ts"
import { autoComboView, comboView } from "../../entry/handling/Views.ts"

const viewed = (combo: Combo) => ({ combo: comboView(combo) })

export const layer = HttpApiBuilder.group(contractOf(CombosGroup), "combos", (handlers) =>
  Effect.map(Combos, (combos) =>
    handlers
      .handle("list", () =>
        Effect.map(
          Effect.flatMap(answered(combos.list), (all) => paged(all, ({ id }) => id)),
          ({ items, nextCursor }) => ({ combos: items.map(comboView), nextCursor })
        )
      )
      .handle("auto", () =>
        Effect.map(
          Effect.flatMap(combos.listAuto, (all) => paged(all, ({ spec }) => spec.id)),
          ({ items, nextCursor }) => ({ combos: items.map(autoComboView), nextCursor })
        )
      )
      .handle("get", ({ path }) => answered(Effect.map(combos.get(path.id), viewed)))
      .handle("create", ({ payload }) => answered(Effect.map(combos.create(payload), viewed)))
      .handle("update", ({ path, payload }) => answered(Effect.map(combos.update(path.id, payload), viewed)))
      .handle("remove", ({ path }) => answered(combos.remove(path.id)))
  )
)
