/** `/api/context/combos` and `/api/context/caveman`. */
import * as HttpApiBuilder from "@effect/platform/HttpApiBuilder"
import * as Effect from "effect/Effect"
import { contractOf } from "../../contract/GroupContract.ts"
import { CompressionCombos as CompressionCombosGroup } from "./routes.ts"
import type { CompressionCombo } from "../compression/entity/CompressionProfiles.ts"
import { CompressionCombos } from "./service.ts"
import { answered } from "../../entry/handling/Answers.ts"
import { iso } from "../../entry/handling/Views.ts"

const viewOf = ({ createdAtMs, updatedAtMs, ...combo }: CompressionCombo) => ({
  ...combo,
  createdAt: iso(createdAtMs),
  updatedAt: iso(updatedAtMs)
})

const viewed = <E>(combo: Effect.Effect<CompressionCombo, E>) => Effect.map(combo, (each) => ({ combo: viewOf(each) }))

const assigned = <E>(combo: Effect.Effect<CompressionCombo, E>) =>
  Effect.map(combo, ({ routingComboIds }) => ({ routingComboIds }))

export const layer = HttpApiBuilder.group(contractOf(CompressionCombosGroup), "compressionCombos", (handlers) =>
  Effect.map(CompressionCombos, (combos) =>
    handlers
      .handle("caveman", () => Effect.sync(combos.caveman))
      .handle("setCaveman", ({ payload }) => answered(combos.replaceCaveman(payload)))
      .handle("list", () => Effect.sync(() => ({ combos: combos.list().map(viewOf) })))
      .handle("create", ({ payload }) => answered(viewed(combos.create(payload))))
      .handle("get", ({ path }) => answered(viewed(combos.get(path.id))))
      .handle("replace", ({ path, payload }) => answered(viewed(combos.replace(path.id, payload))))
      .handle("remove", ({ path }) => answered(combos.remove(path.id)))
      .handle("assignments", ({ path }) => answered(assigned(combos.get(path.id))))
      .handle("assign", ({ path, payload }) => answered(assigned(combos.assign(path.id, payload.routingComboIds))))
  )
)
