/**
 * Finds the accounts that could serve one model id: by provider, by the listed models, or all that is connected. Pure, over a
 * catalogue snapshot.
 */
import type { RoutableCombo } from "../../../subjects/combos/entity/RoutableCombo.ts"
import { ModelNotFound, NoTarget } from "../../../contract/domain/Errors.ts"
import type { ProviderSpec } from "../../../contract/domain/Provider.ts"
import type { Account, CatalogSnapshot } from "../../providers/Catalog.ts"
import { isForPicturesOnly } from "../../../contract/domain/Provider.ts"
import { converses, makesPictures } from "../../providers/ChatModels.ts"
import type { ModelFacts } from "../../providers/ModelFacts.ts"
import { otherSpellings, withoutLongWindow } from "./ModelIds.ts"

/** One account asked for one model of its own. */
export interface Target {
  readonly account: Account
  readonly model: string
  /**
   * True when it was asked for by the no-thinking alias: the request must go out with reasoning off
   * (`wire/NoThinking.ts`).
   */
  readonly suppressReasoning: boolean
  /** The quota group it was asked for by; absent where it was not. Who may draw on the group is decided per request. */
  readonly share?: string
}

export interface ResolverView {
  readonly catalog: CatalogSnapshot
  readonly modelsOf: (account: Account) => ReadonlyArray<string>
  readonly factsOf: (account: Account, model: string) => ModelFacts
  /** `auto` chooses between models that make pictures, not between those that talk. */
  readonly pictures?: boolean
}

/** Accounts that `auto` chooses between: the first of them by priority. */
export const maxPool = 1_000

export const failed = (model: string, reason: string, suggestions: ReadonlyArray<string> = []) =>
  new ModelNotFound({ model, reason, suggestions })

export const isFailure = (value: unknown): value is ModelNotFound | NoTarget =>
  value instanceof ModelNotFound || value instanceof NoTarget

const inactive = (view: ResolverView, model: string, provider: string): ModelNotFound | NoTarget =>
  view.catalog.connections.some((connection) => connection.provider === provider)
    ? new NoTarget({ model, reason: `every connection of '${provider}' is inactive`, retryAfterMs: null })
    : failed(model, `the provider '${provider}' has no connection yet (gateway provider add ${provider})`)

/** Accounts that say they have the model come first; the others follow, for upstreams that list nothing. */
const preferring = (view: ResolverView, accounts: ReadonlyArray<Account>, model: string): ReadonlyArray<Account> => {
  if (accounts.length < 2) return accounts
  const listing = accounts.filter((account) => view.modelsOf(account).includes(model))
  return listing.length === 0 ? accounts : [...listing, ...accounts.filter((account) => !listing.includes(account))]
}

/** Provider and model of a prefixed id; null when the part before the slash is no provider. */
export const splitPrefix = (
  view: ResolverView,
  id: string
): { readonly spec: ProviderSpec; readonly model: string } | null => {
  const slash = id.indexOf("/")
  const spec = slash <= 0 ? null : view.catalog.provider(id.slice(0, slash))
  return spec === null ? null : { spec, model: id.slice(slash + 1) }
}

const isListed = (view: ResolverView, accounts: ReadonlyArray<Account>, model: string): boolean =>
  accounts.some((account) => view.modelsOf(account).includes(model))

/** The model's name at the upstream: another spelling only where that one is listed, or the given one can be no name. */
export const spelled = (view: ResolverView, accounts: ReadonlyArray<Account>, model: string): string =>
  isListed(view, accounts, model)
    ? model
    : (otherSpellings(model).find((other) => isListed(view, accounts, other)) ?? withoutLongWindow(model))

export const target = (account: Account, model: string): Target => ({ account, model, suppressReasoning: false })

export const resolvePrefixed = (
  view: ResolverView,
  id: string
): ReadonlyArray<Target> | ModelNotFound | NoTarget | null => {
  const split = splitPrefix(view, id)
  if (split === null) return null
  if (split.model === "") return failed(id, "the model name after the provider is empty")
  const accounts = view.catalog.byProvider.get(split.spec.id)
  if (accounts === undefined) return inactive(view, id, split.spec.id)
  const model = spelled(view, accounts, split.model)
  return preferring(view, accounts, model).map((account) => target(account, model))
}

const listing = (view: ResolverView, model: string): ReadonlyArray<Target> =>
  view.catalog.accounts
    .filter((account) => view.modelsOf(account).includes(model))
    .map((account) => target(account, model))

export const resolveBare = (view: ResolverView, id: string): ReadonlyArray<Target> =>
  firstFilled([id, ...otherSpellings(id)], (spelling) => listing(view, spelling))

const firstFilled = <A, B>(items: ReadonlyArray<A>, find: (item: A) => ReadonlyArray<B>): ReadonlyArray<B> => {
  for (const item of items) {
    const found = find(item)
    if (found.length > 0) return found
  }
  return []
}

export const comboNamed = (view: ResolverView, id: string): RoutableCombo | undefined =>
  view.catalog.combos.get(id) ??
  (id.startsWith("combo:") || id.startsWith("combo/") ? view.catalog.combos.get(id.slice(6)) : undefined)

/** Targets with their weights, on a scale of their own. */
export interface Found {
  readonly targets: ReadonlyArray<Target>
  readonly weights: ReadonlyArray<number>
}

export const nothing: Found = { targets: [], weights: [] }
export const even = (targets: ReadonlyArray<Target>): Found => ({ targets, weights: targets.map(() => 1) })

/** The weights brought to a sum; equal parts of it where none has a weight. */
export const scaled = (weights: ReadonlyArray<number>, sum: number): ReadonlyArray<number> => {
  const total = weights.reduce((all, weight) => all + weight, 0)
  return weights.map((weight) => (total > 0 ? (sum * weight) / total : sum / weights.length))
}

const suits = ({ factsOf, pictures = false }: ResolverView, account: Account, model: string): boolean => {
  const facts = factsOf(account, model)
  const paintsOnly = isForPicturesOnly(account.spec)
  return pictures ? paintsOnly || makesPictures(model, facts) : converses(model, facts, account.spec)
}

/** One target per account that has a model of the kind that is asked for: its default model, else the first it lists. */
export const poolOf = (view: ResolverView): ReadonlyArray<Target> => {
  const targets: Array<Target> = []
  for (const account of view.catalog.accounts) {
    if (targets.length >= maxPool) break
    const { defaultModel } = account.connection
    const models = view.modelsOf(account)
    const model = (defaultModel === null ? models : [defaultModel, ...models]).find((candidate) =>
      suits(view, account, candidate)
    )
    if (model !== undefined) targets.push(target(account, model))
  }
  return targets
}

/** The id an alias stands for. A provider's prefix is never taken from it by an alias. */
export const aliased = (view: ResolverView, id: string): string | null => {
  const model = view.catalog.aliases.get(id)
  return model === undefined || splitPrefix(view, id) !== null ? null : model
}
