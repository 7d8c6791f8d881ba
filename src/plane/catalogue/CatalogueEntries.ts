/**
 * The entries of the model list, put together from a snapshot. One entry serves OpenAI's and Anthropic's clients alike; members
 * whose value is not known are left out. Pure.
 */
import type { Combo } from "../../subjects/combos/entity.ts"
import type { ProviderSpec } from "../../contract/domain/Provider.ts"
import type { Account, CatalogSnapshot } from "../providers/Catalog.ts"
import { commonFacts, layFacts, type Modality, type ModelFacts } from "../providers/ModelFacts.ts"
import type { AutoSpec } from "../routing/resolve/AutoId.ts"
import { suited } from "../routing/auto/Filters.ts"
import { noThinkingPrefix } from "../routing/resolve/ModelIds.ts"
import { autoIds, resolve, type ResolverView, type Target } from "../routing/resolve/ModelResolver.ts"

export interface EntryCapabilities {
  readonly vision?: boolean
  readonly reasoning?: boolean
  readonly tool_calling?: boolean
  readonly structured_output?: boolean
}

export interface CatalogueEntry {
  readonly id: string
  readonly object: "model"
  readonly type: "model"
  /** Epoch seconds. */
  readonly created: number
  readonly created_at: string
  /** Provider id, `combo`, `alias`, or `gateway` for the automatic ids. */
  readonly owned_by: string
  /** Anthropic's clients need it: the id when names are not to be shown. */
  readonly display_name: string
  readonly name?: string
  /** Tokens. */
  readonly context_length?: number
  readonly max_output_tokens?: number
  readonly input_modalities?: ReadonlyArray<Modality>
  readonly output_modalities?: ReadonlyArray<Modality>
  readonly capabilities?: EntryCapabilities
}

/** The flag `MODELS_CATALOG_PREFIX_MODE`: which prefixes models are listed with. */
export type PrefixMode = "canonical" | "alias" | "dual"

export interface CatalogueView {
  readonly snapshot: CatalogSnapshot
  readonly modelsOf: (account: Account) => ReadonlyArray<string>
  readonly factsOf: (account: Account, model: string) => ModelFacts
  /** The flag `MODEL_CATALOG_INCLUDE_NAMES`. */
  readonly includeNames: boolean
  readonly prefixMode: PrefixMode
}

const capabilitiesOf = (facts: ModelFacts): EntryCapabilities => ({
  ...(facts.vision === null ? {} : { vision: facts.vision }),
  ...(facts.reasoning === null ? {} : { reasoning: facts.reasoning }),
  ...(facts.toolCalling === null ? {} : { tool_calling: facts.toolCalling }),
  ...(facts.structuredOutput === null ? {} : { structured_output: facts.structuredOutput })
})

interface Listed {
  readonly id: string
  readonly owner: string
  readonly createdMs: number
  readonly name: string
  readonly facts: ModelFacts
}

const entryOf = ({ createdMs, facts, id, name, owner }: Listed, includeNames: boolean): CatalogueEntry => {
  const capabilities = capabilitiesOf(facts)
  return {
    id,
    object: "model",
    type: "model",
    created: Math.floor(createdMs / 1000),
    created_at: new Date(createdMs).toISOString(),
    owned_by: owner,
    display_name: includeNames ? name : id,
    ...(includeNames ? { name } : {}),
    ...(facts.contextLength === null ? {} : { context_length: facts.contextLength }),
    ...(facts.maxOutputTokens === null ? {} : { max_output_tokens: facts.maxOutputTokens }),
    ...(facts.inputModalities === null ? {} : { input_modalities: facts.inputModalities }),
    ...(facts.outputModalities === null ? {} : { output_modalities: facts.outputModalities }),
    ...(Object.keys(capabilities).length === 0 ? {} : { capabilities })
  }
}

/** The prefixes of a provider's models; the first is the one that further spellings are built on. */
const prefixesOf = (
  spec: ProviderSpec,
  mode: PrefixMode,
  provider: CatalogSnapshot["provider"]
): ReadonlyArray<string> => {
  // A node may have taken the alias for its own prefix.
  const alias = spec.aliases.find((candidate) => provider(candidate)?.id === spec.id) ?? spec.id
  if (mode === "canonical") return [spec.id]
  return mode === "alias" || alias === spec.id ? [alias] : [spec.id, alias]
}

const resolverView = ({ factsOf, modelsOf, snapshot }: CatalogueView): ResolverView => ({
  catalog: snapshot,
  modelsOf,
  factsOf
})

/** Selects the models that an automatic id chooses from: `auto/vision` sees when one of them does. */
const chosenFrom = (auto: AutoSpec | null, facts: ReadonlyArray<ModelFacts>): ReadonlyArray<ModelFacts> =>
  auto === null ? facts : suited(auto.filter, facts, (of) => of)

const autoEntries = (view: CatalogueView, factsOfAll: (targets: ReadonlyArray<Target>) => ReadonlyArray<ModelFacts>) =>
  autoIds.flatMap((id): ReadonlyArray<Listed> => {
    const found = resolve(resolverView(view), id)
    if (found instanceof Error) return []
    const createdMs = view.snapshot.accounts[0]?.connection.createdAtMs ?? 0
    const facts = commonFacts(chosenFrom(found.auto, factsOfAll(found.targets)), "greatest")
    return [{ id, owner: "gateway", createdMs, name: id, facts }]
  })

const comboEntry = (
  view: CatalogueView,
  combo: Combo,
  factsOfAll: (targets: ReadonlyArray<Target>) => ReadonlyArray<ModelFacts>
): Listed => {
  const found = resolve(resolverView(view), combo.name)
  return {
    id: combo.name,
    owner: "combo",
    createdMs: combo.createdAtMs,
    name: combo.name,
    facts: commonFacts(found instanceof Error ? [] : factsOfAll(found.targets))
  }
}

/** Aliases that lead somewhere now. */
const aliasEntries = (
  view: CatalogueView,
  factsOfAll: (targets: ReadonlyArray<Target>) => ReadonlyArray<ModelFacts>
): ReadonlyArray<Listed> =>
  [...view.snapshot.aliases.keys()].flatMap((alias): ReadonlyArray<Listed> => {
    const found = resolve(resolverView(view), alias)
    const first = found instanceof Error ? undefined : found.targets[0]
    if (found instanceof Error || first === undefined) return []
    const facts = commonFacts(
      chosenFrom(found.auto, factsOfAll(found.targets)),
      found.auto === null ? "least" : "greatest"
    )
    return [{ id: alias, owner: "alias", createdMs: first.account.connection.createdAtMs, name: alias, facts }]
  })

/** The same model with its reasoning off. */
const noThinkingEntry = (listed: Listed): Listed => ({
  ...listed,
  id: noThinkingPrefix + listed.id,
  name: `${listed.name} (no thinking)`,
  facts: { ...listed.facts, reasoning: false }
})

const modelEntries = (
  view: CatalogueView,
  spec: ProviderSpec,
  model: string,
  createdMs: number,
  facts: ModelFacts
): ReadonlyArray<Listed> => {
  const spellings = prefixesOf(spec, view.prefixMode, view.snapshot.provider).map((prefix): Listed => {
    const id = `${prefix}/${model}`
    return { id, owner: spec.id, createdMs, name: facts.name ?? id, facts }
  })
  const [first] = spellings
  return facts.noThinkingAlias === true && first !== undefined ? [...spellings, noThinkingEntry(first)] : spellings
}

/** All entries, without repeats, in the order a person expects: auto, combos, aliases, then models by provider. */
export const entriesOf = (view: CatalogueView): ReadonlyArray<CatalogueEntry> => {
  const { snapshot } = view
  const factsOfAll = (targets: ReadonlyArray<Target>) =>
    targets.map(({ account, model, suppressReasoning }) => {
      const facts = view.factsOf(account, model)
      return suppressReasoning ? { ...facts, reasoning: false } : facts
    })
  const entries = new Map<string, CatalogueEntry>()
  const add = (listed: Listed): void => {
    if (!entries.has(listed.id)) entries.set(listed.id, entryOf(listed, view.includeNames))
  }
  for (const listed of autoEntries(view, factsOfAll)) add(listed)
  for (const combo of snapshot.combos.values()) add(comboEntry(view, combo, factsOfAll))
  for (const listed of aliasEntries(view, factsOfAll)) add(listed)
  for (const accounts of snapshot.byProvider.values()) {
    const models = new Map<string, { readonly account: Account; readonly facts: ModelFacts }>()
    for (const account of accounts) {
      for (const model of view.modelsOf(account)) {
        const facts = view.factsOf(account, model)
        const known = models.get(model)
        // Another account's list may have facts that one's leaves out.
        models.set(model, known === undefined ? { account, facts } : { ...known, facts: layFacts(known.facts, facts) })
      }
    }
    for (const [model, { account, facts }] of models) {
      const entriesOfModel = modelEntries(view, account.spec, model, account.connection.createdAtMs, facts)
      for (const listed of entriesOfModel) add(listed)
    }
  }
  return [...entries.values()]
}

/** The list as OpenAI's and Anthropic's clients read it. */
export interface CataloguePage {
  readonly object: "list"
  readonly data: ReadonlyArray<CatalogueEntry>
  readonly has_more: boolean
  readonly first_id: string | null
  readonly last_id: string | null
}

export const pageOf = (data: ReadonlyArray<CatalogueEntry>, hasMore = false): CataloguePage => ({
  object: "list",
  data,
  has_more: hasMore,
  first_id: data[0]?.id ?? null,
  last_id: data.at(-1)?.id ?? null
})
