/**
 * Resolved model ids, remembered until the catalogue or a learned model list changes. Most requests ask for the same few ids.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { ModelNotFound, NoTarget } from "../domain/Errors.ts"
import * as Catalog from "../providers/Catalog.ts"
import * as ModelLists from "../providers/ModelLists.ts"
import { resolve, type Resolution } from "./ModelResolver.ts"

export const capacity = 1_000

export class Resolutions extends Context.Tag("gateway/routing/Resolutions")<
  Resolutions,
  {
    /** Hot. */
    readonly resolve: (modelId: string) => Resolution | ModelNotFound | NoTarget
  }
>() {}

export const make = Effect.gen(function* () {
  const catalog = yield* Catalog.Catalog
  const lists = yield* ModelLists.ModelLists
  const known = new Map<string, Resolution>()
  let snapshot = catalog.current()
  let revision = lists.revision()

  const find = (modelId: string): Resolution | ModelNotFound | NoTarget => {
    const current = catalog.current()
    if (current !== snapshot || lists.revision() !== revision) {
      snapshot = current
      revision = lists.revision()
      known.clear()
    }
    const remembered = known.get(modelId)
    if (remembered !== undefined) return remembered
    const found = resolve({ catalog: current, modelsOf: catalog.modelsOf, factsOf: catalog.factsOf }, modelId)
    // Failures are not kept: their ids are whatever clients make up.
    if ("_tag" in found) return found
    if (known.size >= capacity) known.clear()
    known.set(modelId, found)
    return found
  }
  return Resolutions.of({ resolve: find })
})

export const layer: Layer.Layer<Resolutions, never, Catalog.Catalog | ModelLists.ModelLists> = Layer.effect(
  Resolutions,
  make
)
