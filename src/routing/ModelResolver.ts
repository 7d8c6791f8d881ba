/**
 * From the model id a client sends to the targets that could serve it (document 1, "Model identifier forms").
 * Pure: works on a catalogue snapshot, so the same id and snapshot always give the same answer.
 */
import type { Combo, ComboTarget } from "../domain/Combo.ts"
import { ModelNotFound, NoTarget } from "../domain/Errors.ts"
import type { ProviderSpec } from "../domain/Provider.ts"
import type { Account, CatalogSnapshot } from "../providers/Catalog.ts"
import { closest } from "../kernel/Closest.ts"
import { behindNoThinking, noThinkingPrefix, otherSpellings, withoutLongWindow } from "./ModelIds.ts"

/** One account asked for one model of its own. */
export interface Target {
  readonly account: Account
  readonly model: string
  /** Asked for by the no-thinking alias: the request must go out with reasoning off (`wire/NoThinking.ts`). */
  readonly suppressReasoning: boolean
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

/** Provider and model of a prefixed id; null when the part before the slash is no provider. */
const splitPrefix = (
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
const spelled = (view: ResolverView, accounts: ReadonlyArray<Account>, model: string): string =>
  isListed(view, accounts, model)
    ? model
    : (otherSpellings(model).find((other) => isListed(view, accounts, other)) ?? withoutLongWindow(model))

const target = (account: Account, model: string): Target => ({ account, model, suppressReasoning: false })

const resolvePrefixed = (view: ResolverView, id: string): ReadonlyArray<Target> | ModelNotFound | NoTarget | null => {
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

const resolveBare = (view: ResolverView, id: string): ReadonlyArray<Target> =>
  firstFilled([id, ...otherSpellings(id)], (spelling) => listing(view, spelling))

const firstFilled = <A, B>(items: ReadonlyArray<A>, find: (item: A) => ReadonlyArray<B>): ReadonlyArray<B> => {
  for (const item of items) {
    const found = find(item)
    if (found.length > 0) return found
  }
  return []
}

const comboNamed = (view: ResolverView, id: string): Combo | undefined =>
  view.catalog.combos.get(id) ??
  (id.startsWith("combo:") || id.startsWith("combo/") ? view.catalog.combos.get(id.slice(6)) : undefined)

const withoutReasoning = (targets: ReadonlyArray<Target>): ReadonlyArray<Target> =>
  targets.map((candidate) => ({ ...candidate, suppressReasoning: true }))

/** Where an expansion stands. */
interface Place {
  readonly depth: number
  /** Combos met so far, with and without reasoning: a second time they would only repeat their targets. */
  readonly met: Set<string>
  readonly suppressed: boolean
}

const expandTarget = (
  view: ResolverView,
  step: ComboTarget,
  place: Place
): ReadonlyArray<Target> | ModelNotFound | NoTarget => {
  const behind = behindNoThinking(step.model)
  if (behind !== null) {
    const expanded = expandTarget(view, { ...step, model: behind }, { ...place, suppressed: true })
    return isFailure(expanded) ? expanded : withoutReasoning(expanded)
  }
  const nested = comboNamed(view, step.model)
  if (nested !== undefined) return expandCombo(view, nested, { ...place, depth: place.depth + 1 })
  const found = resolvePrefixed(view, step.model) ?? resolveBare(view, step.model)
  if (isFailure(found)) return found
  const { connectionId } = step
  return connectionId === undefined || connectionId === null
    ? found
    : found.filter((candidate) => candidate.account.connection.id === connectionId)
}

/** Nested references are replaced in place by their own targets; what cannot be served is left out. */
const expandCombo = (
  view: ResolverView,
  combo: Combo,
  place: Place
): ReadonlyArray<Target> | ModelNotFound | NoTarget => {
  if (place.depth > maxComboDepth) return failed(combo.name, `combos are nested deeper than ${maxComboDepth}`)
  const mark = `${place.suppressed}\n${combo.name}`
  if (place.met.has(mark)) return []
  place.met.add(mark)
  const targets: Array<Target> = []
  const seen = new Set<string>()
  for (const step of combo.targets) {
    const expanded = expandTarget(view, step, place)
    if (isFailure(expanded)) continue
    for (const found of expanded) {
      const key = `${found.account.connection.id}\n${found.model}\n${found.suppressReasoning}`
      if (seen.has(key) || targets.length >= maxTargets) continue
      seen.add(key)
      targets.push(found)
    }
  }
  return targets
}

const autoTargets = (view: ResolverView): ReadonlyArray<Target> => {
  const targets: Array<Target> = []
  for (const account of view.catalog.accounts) {
    const model = account.connection.defaultModel ?? view.modelsOf(account)[0]
    if (model !== undefined) targets.push(target(account, model))
  }
  return targets
}

/**
 * The automatic ids that are served. The other variants of document 1 would not differ from these yet, so they are neither
 * listed nor resolved: whoever asks for the cheapest model must not silently get any.
 */
export const autoIds: ReadonlyArray<string> = ["auto", "auto/lkgp"]

/** Ids a client could have meant, for the text of a 404. */
const suggestionsFor = (view: ResolverView, id: string): ReadonlyArray<string> => {
  const known: Array<string> = [...autoIds, ...view.catalog.combos.keys()]
  for (const account of view.catalog.accounts) {
    for (const model of view.modelsOf(account)) known.push(`${account.spec.id}/${model}`)
  }
  return closest(id, known, 3)
}

const resolveCombo = (view: ResolverView, combo: Combo, id: string): Resolution | ModelNotFound | NoTarget => {
  const targets = expandCombo(view, combo, { depth: 1, met: new Set(), suppressed: false })
  if (isFailure(targets)) return targets
  return targets.length === 0
    ? new NoTarget({ model: id, reason: "none of the combo's targets has an active connection", retryAfterMs: null })
    : { combo, strategy: combo.strategy, targets }
}

const resolveAuto = (view: ResolverView, id: string): Resolution | NoTarget => {
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

/** What goes by a name that is no model's: combos and the automatic ids. Null when nothing does. */
const resolveName = (view: ResolverView, id: string): Resolution | ModelNotFound | NoTarget | null => {
  const combo = comboNamed(view, id)
  if (combo !== undefined) return resolveCombo(view, combo, id)
  return autoIds.includes(id) ? resolveAuto(view, id) : null
}

/** The same failure, told of the alias that was asked for. */
const ofAlias = (id: string, failure: ModelNotFound | NoTarget): ModelNotFound | NoTarget =>
  failure instanceof NoTarget
    ? new NoTarget({ model: id, reason: failure.reason, retryAfterMs: failure.retryAfterMs })
    : failed(
        id,
        failure.reason,
        failure.suggestions.map((suggestion) => noThinkingPrefix + suggestion)
      )

/** Resolves a model id; the failure says whether the id is unknown (404) or known but not servable now (503). */
export const resolve = (view: ResolverView, id: string): Resolution | ModelNotFound | NoTarget => {
  const named = resolveName(view, id)
  if (named !== null) return named
  const behind = behindNoThinking(id)
  if (behind !== null) {
    const found = resolve(view, behind)
    return isFailure(found) ? ofAlias(id, found) : { ...found, targets: withoutReasoning(found.targets) }
  }
  const prefixed = resolvePrefixed(view, id)
  if (isFailure(prefixed)) return prefixed
  if (prefixed !== null) return { combo: null, strategy: "priority", targets: prefixed }
  const bare = resolveBare(view, id)
  if (bare.length > 0) return { combo: null, strategy: "priority", targets: bare }
  for (const spelling of otherSpellings(id)) {
    const other = resolveName(view, spelling)
    if (other !== null) return other
  }
  if (id.startsWith("auto/")) return failed(id, "this variant of 'auto' is not served", autoIds)
  return failed(id, "no provider, combo or listed model has this id", suggestionsFor(view, id))
}
