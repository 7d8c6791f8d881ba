/**
 * From the model id a client sends to the targets that could serve it (document 1, "Model identifier forms").
 * Pure: works on a catalogue snapshot, so the same id and snapshot always give the same answer.
 */
import type { Combo, ComboTarget } from "../domain/Combo.ts"
import { ModelNotFound, NoTarget } from "../domain/Errors.ts"
import type { Account, CatalogSnapshot } from "../providers/Catalog.ts"
import { closest } from "../kernel/Closest.ts"

/** One account asked for one model of its own. */
export interface Target {
  readonly account: Account
  readonly model: string
}

export interface Resolution {
  readonly combo: Combo | null
  /** `priority` for a plain model id and for priority combos, `lkgp` for `auto`. */
  readonly strategy: string
  readonly targets: ReadonlyArray<Target>
}

export interface ResolverView {
  readonly catalog: CatalogSnapshot
  readonly modelsOf: (account: Account) => ReadonlyArray<string>
}

/** Deepest nesting of combos that is followed; deeper ones are refused at save. */
export const maxComboDepth = 10
const maxTargets = 400

const failed = (model: string, reason: string, suggestions: ReadonlyArray<string> = []) =>
  new ModelNotFound({ model, reason, suggestions })

const isFailure = (value: unknown): value is ModelNotFound | NoTarget =>
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

const resolvePrefixed = (view: ResolverView, id: string): ReadonlyArray<Target> | ModelNotFound | NoTarget | null => {
  const slash = id.indexOf("/")
  if (slash <= 0) return null
  const spec = view.catalog.provider(id.slice(0, slash))
  if (spec === null) return null
  const model = id.slice(slash + 1)
  if (model === "") return failed(id, "the model name after the provider is empty")
  const accounts = view.catalog.byProvider.get(spec.id)
  if (accounts === undefined) return inactive(view, id, spec.id)
  return preferring(view, accounts, model).map((account) => ({ account, model }))
}

const resolveBare = (view: ResolverView, id: string): ReadonlyArray<Target> =>
  view.catalog.accounts
    .filter((account) => view.modelsOf(account).includes(id))
    .map((account) => ({ account, model: id }))

const comboNamed = (view: ResolverView, id: string): Combo | undefined =>
  view.catalog.combos.get(id) ??
  (id.startsWith("combo:") || id.startsWith("combo/") ? view.catalog.combos.get(id.slice(6)) : undefined)

const expandTarget = (
  view: ResolverView,
  target: ComboTarget,
  depth: number
): ReadonlyArray<Target> | ModelNotFound | NoTarget => {
  const nested = comboNamed(view, target.model)
  if (nested !== undefined) return expandCombo(view, nested, depth + 1)
  const found = resolvePrefixed(view, target.model) ?? resolveBare(view, target.model)
  if (isFailure(found)) return found
  const { connectionId } = target
  return connectionId === undefined || connectionId === null
    ? found
    : found.filter((candidate) => candidate.account.connection.id === connectionId)
}

/** Nested references are replaced in place by their own targets; what cannot be served is left out. */
const expandCombo = (
  view: ResolverView,
  combo: Combo,
  depth: number
): ReadonlyArray<Target> | ModelNotFound | NoTarget => {
  if (depth > maxComboDepth) return failed(combo.name, `combos are nested deeper than ${maxComboDepth}`)
  const targets: Array<Target> = []
  const seen = new Set<string>()
  for (const step of combo.targets) {
    const expanded = expandTarget(view, step, depth)
    if (isFailure(expanded)) continue
    for (const target of expanded) {
      const key = `${target.account.connection.id}\n${target.model}`
      if (seen.has(key) || targets.length >= maxTargets) continue
      seen.add(key)
      targets.push(target)
    }
  }
  return targets
}

const autoTargets = (view: ResolverView): ReadonlyArray<Target> => {
  const targets: Array<Target> = []
  for (const account of view.catalog.accounts) {
    const model = account.connection.defaultModel ?? view.modelsOf(account)[0]
    if (model !== undefined) targets.push({ account, model })
  }
  return targets
}

/** Ids a client could have meant, for the text of a 404. */
const suggestionsFor = (view: ResolverView, id: string): ReadonlyArray<string> => {
  const known: Array<string> = ["auto", ...view.catalog.combos.keys()]
  for (const account of view.catalog.accounts) {
    for (const model of view.modelsOf(account)) known.push(`${account.spec.id}/${model}`)
  }
  return closest(id, known, 3)
}

/** Resolves a model id; the failure says whether the id is unknown (404) or known but not servable now (503). */
export const resolve = (view: ResolverView, id: string): Resolution | ModelNotFound | NoTarget => {
  const combo = comboNamed(view, id)
  if (combo !== undefined) {
    const targets = expandCombo(view, combo, 1)
    if (isFailure(targets)) return targets
    return targets.length === 0
      ? new NoTarget({ model: id, reason: "none of the combo's targets has an active connection", retryAfterMs: null })
      : { combo, strategy: combo.strategy, targets }
  }
  if (id === "auto") {
    const targets = autoTargets(view)
    return targets.length === 0
      ? new NoTarget({
          model: id,
          reason:
            "no provider with a known model is connected (gateway provider add …, or set a provider's key in the environment)",
          retryAfterMs: null
        })
      : { combo: null, strategy: "lkgp", targets }
  }
  const prefixed = resolvePrefixed(view, id)
  if (isFailure(prefixed)) return prefixed
  if (prefixed !== null) return { combo: null, strategy: "priority", targets: prefixed }
  const bare = resolveBare(view, id)
  if (bare.length > 0) return { combo: null, strategy: "priority", targets: bare }
  return failed(id, "no provider, combo or listed model has this id", suggestionsFor(view, id))
}
