/**
 * Resolves a client's model id: as it is, else by its replacement in the setting `modelFallbacks`, else to a successor of the model. Ids that the
 * gateway itself names (a judge, the emergency fallback) are resolved without these. Pure.
 */
import { ModelNotFound, type NoTarget } from "../../../contract/domain/Errors.ts"
import { behindNoThinking, noThinkingPrefix, otherSpellings } from "./ModelIds.ts"
import { resolve, type Resolution, explained } from "./ModelResolver.ts"
import { isFailure, type ResolverView, splitPrefix } from "./ModelTargets.ts"
import { successorsOf } from "./Successors.ts"

export type FallbackOf = (id: string) => string | null

const mapped = (fallbackOf: FallbackOf, id: string): string | null => {
  for (const spelling of [id, ...otherSpellings(id)]) {
    const model = fallbackOf(spelling)
    if (model !== null) return model
  }
  return null
}

/** Hot for ids with a provider before them: whether its accounts list other models, and not this one. */
const isUnlisted = (view: ResolverView, { model, spec }: NonNullable<ReturnType<typeof splitPrefix>>): boolean => {
  const lists = (view.catalog.byProvider.get(spec.id) ?? []).map((account) => view.modelsOf(account))
  const spellings = [model, ...otherSpellings(model)]
  return (
    lists.some((models) => models.length > 0) &&
    !lists.some((models) => spellings.some((spelling) => models.includes(spelling)))
  )
}

/** The names of models that the accounts list, of one provider where the id names one. */
const listedNames = (view: ResolverView, provider: string | null): ReadonlySet<string> => {
  const accounts = provider === null ? view.catalog.accounts : (view.catalog.byProvider.get(provider) ?? [])
  return new Set(accounts.flatMap((account) => view.modelsOf(account)))
}

/** Resolves a model that is not served to its successor; null without one that is. */
const succeeded = (view: ResolverView, id: string): Resolution | null => {
  const behind = behindNoThinking(id)
  const own = behind ?? id
  const split = splitPrefix(view, own)
  if (split !== null && !isUnlisted(view, split)) return null
  const listed = listedNames(view, split?.spec.id ?? null)
  const before = split === null ? "" : own.slice(0, own.length - split.model.length)
  for (const name of successorsOf(split?.model ?? own, listed)) {
    if (!listed.has(name)) continue
    const model = before + name
    const found = resolve(view, behind === null ? model : noThinkingPrefix + model)
    if (!isFailure(found)) return { ...found, fallbackModel: model, standsIn: "successor" }
  }
  return null
}

/** `successors`: whether a model that is not served may be replaced by what came after it. */
export const resolveRequested = (
  view: ResolverView,
  fallbackOf: FallbackOf,
  id: string,
  successors = false
): Resolution | ModelNotFound | NoTarget => {
  const found = resolve(view, id)
  const behind = behindNoThinking(id)
  if (!(found instanceof ModelNotFound)) {
    // Of a provider that is named, any model can be asked for: also one that it has no longer.
    const isNamed = !isFailure(found) && found.combo === null && splitPrefix(view, behind ?? id) !== null
    return successors && isNamed ? (succeeded(view, id) ?? found) : found
  }
  const model = mapped(fallbackOf, behind ?? id)
  if (model === null) return (successors ? succeeded(view, id) : null) ?? found
  const named = behind === null || behindNoThinking(model) !== null ? model : noThinkingPrefix + model
  const instead = resolve(view, named)
  return isFailure(instead)
    ? explained(id, `modelFallbacks maps it to '${model}'`, instead, "")
    : { ...instead, fallbackModel: model }
}
