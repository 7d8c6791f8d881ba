/**
 * The list of models for `GET /v1/models` and its like: what is connected, the combos, and the automatic ids. Built again only
 * when the catalogue, the learned lists or a flag about the list changed; a key's own view of it likewise.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { ApiKey } from "../../subjects/keys/entity.ts"
import * as Flags from "../../subjects/flags/service.ts"
import * as Catalog from "../providers/Catalog.ts"
import * as ModelLists from "../providers/ModelLists.ts"
import { isOffered, usesAnyModel } from "../routing/resolve/KeyModels.ts"
import { resolve } from "../routing/resolve/ModelResolver.ts"
import { type CatalogueEntry, entriesOf, type PrefixMode } from "./CatalogueEntries.ts"

export { type CatalogueEntry, type CataloguePage, pageOf } from "./CatalogueEntries.ts"

export class ModelCatalogue extends Context.Tag("gateway/plane/catalogue/ModelCatalogue")<
  ModelCatalogue,
  {
    /**
     * Lists the entries that a caller may see; null key: all. Returns the same array as long as nothing has changed.
     */
    readonly entries: (key: ApiKey | null) => ReadonlyArray<CatalogueEntry>
  }
>() {}

interface Built {
  readonly snapshot: Catalog.CatalogSnapshot
  readonly revision: number
  readonly includeNames: boolean
  readonly prefixMode: PrefixMode
  readonly entries: ReadonlyArray<CatalogueEntry>
  /** Views of keys that may not use every model. A changed key is another object. */
  readonly byKey: WeakMap<ApiKey, ReadonlyArray<CatalogueEntry>>
}

export const make = Effect.gen(function* () {
  const catalog = yield* Catalog.Catalog
  const lists = yield* ModelLists.ModelLists
  const flags = yield* Flags.Flags
  let built: Built | null = null

  const current = (): Built => {
    const snapshot = catalog.current()
    const revision = lists.revision()
    const includeNames = flags.isOn("MODEL_CATALOG_INCLUDE_NAMES")
    const prefixMode = flags.value("MODELS_CATALOG_PREFIX_MODE")
    if (
      built?.snapshot === snapshot &&
      built.revision === revision &&
      built.includeNames === includeNames &&
      built.prefixMode === prefixMode
    ) {
      return built
    }
    const { factsOf, modelsOf } = catalog
    const entries = entriesOf({ snapshot, modelsOf, factsOf, includeNames, prefixMode })
    built = { snapshot, revision, includeNames, prefixMode, entries, byKey: new WeakMap() }
    return built
  }

  const entries = (key: ApiKey | null): ReadonlyArray<CatalogueEntry> => {
    const { byKey, entries: every, snapshot } = current()
    if (key === null || usesAnyModel(key)) return every
    const remembered = byKey.get(key)
    if (remembered !== undefined) return remembered
    const view = { catalog: snapshot, modelsOf: catalog.modelsOf, factsOf: catalog.factsOf }
    const allowed = every.filter(({ id }) => isOffered(key, id, () => resolve(view, id)))
    byKey.set(key, allowed)
    return allowed
  }
  return ModelCatalogue.of({ entries })
})

export const layer: Layer.Layer<ModelCatalogue, never, Catalog.Catalog | ModelLists.ModelLists | Flags.Flags> =
  Layer.effect(ModelCatalogue, make)
