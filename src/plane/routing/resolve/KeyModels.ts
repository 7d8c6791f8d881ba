/**
 * Applies an API key's rules about models, combos, providers and connections to a resolution. Every call of an upstream in the name of a key is
 * checked here: the request itself, and what the gateway adds to it (a judge, a summary, an emergency model). Pure.
 */
import { type ModelRules, modelRulesOf } from "../../../subjects/auth/KeyPolicy.ts"
import type { ApiKey, Principal } from "../../../subjects/keys/entity.ts"
import { parseAutoId } from "./AutoId.ts"
import { mayUse, quotaShareParts } from "./ModelIds.ts"
import { describe, KeyRejected, type ModelNotFound, type NoTarget } from "../../../contract/domain/Errors.ts"
import type { Resolution, Target } from "./ModelResolver.ts"

/** Verdict on a key's use of an id: the allowed part of its resolution, or the reason of the refusal. */
export type KeyVerdict =
  | { readonly _tag: "May"; readonly resolution: Resolution }
  | { readonly _tag: "MayNot"; readonly reason: "combo" | "model" | "connection" }

/** Null for callers without a key of this gateway. */
export const keyIn = (principal: Principal): ApiKey | null => (principal._tag === "Key" ? principal.key : null)

/** Hot: checks whether the key has no rules about models. */
export const usesAnyModel = (key: ApiKey): boolean =>
  (key.allowedModels === null || key.allowedModels.length === 0) && modelRulesOf(key) === null

const idOf = ({ account, model }: Target): string => `${account.spec.id}/${model}`

const blocks = (rules: ModelRules | null, target: Target): boolean =>
  rules !== null &&
  ((rules.blocks !== null && (rules.blocks(idOf(target)) || rules.blocks(target.model))) ||
    (rules.isOfTeams !== null && !rules.isOfTeams(idOf(target), target.model)))

const isConnected = (rules: ModelRules | null, { account }: Target): boolean =>
  rules === null ||
  ((rules.allowsProvider === null || rules.allowsProvider(account.spec.id)) &&
    (rules.allowsConnection === null || rules.allowsConnection(account.connection.id)))

const only = (resolution: Resolution, keep: (target: Target) => boolean): Resolution | null => {
  const kept = resolution.targets.flatMap((target, at) => (keep(target) ? [at] : []))
  if (kept.length === resolution.targets.length) return resolution
  if (kept.length === 0) return null
  const of = <A>(list: ReadonlyArray<A>): ReadonlyArray<A> => kept.flatMap((at) => list.slice(at, at + 1))
  return {
    ...resolution,
    targets: of(resolution.targets),
    weights: of(resolution.weights),
    steps: of(resolution.steps)
  }
}

/** Narrowed resolutions by the rules, which are an object of their own for each state of a key. */
const narrowed = new WeakMap<ModelRules, WeakMap<Resolution, Resolution | "none">>()

/** The resolution with the targets that a key may have; null when none is left. */
export const narrowedFor = (key: ApiKey | null, resolution: Resolution): Resolution | null => {
  const rules = key === null ? null : modelRulesOf(key)
  if (rules === null) return resolution
  const { allowsConnection, allowsProvider, isOfTeams } = rules
  if (rules.blocks === null && isOfTeams === null && allowsProvider === null && allowsConnection === null) {
    return resolution
  }
  const known = narrowed.get(rules) ?? new WeakMap<Resolution, Resolution | "none">()
  narrowed.set(rules, known)
  const before = known.get(resolution)
  if (before !== undefined) return before === "none" ? null : before
  const made = only(resolution, (target) => isConnected(rules, target) && !blocks(rules, target))
  known.set(resolution, made ?? "none")
  return made
}

/** An automatic id is no model: what it chooses from is judged, not its name. */
const isAutomatic = (id: string, { auto }: Resolution): boolean => auto !== null && parseAutoId(id) !== null

/** A quota share is given to keys by its group's allocations. */
const isShare = (id: string, { quotaGroup }: Resolution): boolean => quotaGroup !== null && quotaShareParts(id) !== null

/** Choices of `auto` by the list of allowed models, which is an object of its own for each state of a key. */
const choices = new WeakMap<ReadonlyArray<string>, WeakMap<Resolution, Resolution | "none">>()

const choiceOf = (key: ApiKey, resolution: Resolution): Resolution | null => {
  const { allowedModels } = key
  if (allowedModels === null) return resolution
  const known = choices.get(allowedModels) ?? new WeakMap<Resolution, Resolution | "none">()
  choices.set(allowedModels, known)
  const before = known.get(resolution)
  if (before !== undefined) return before === "none" ? null : before
  const made = only(resolution, (target) => mayUse(key, idOf(target)))
  known.set(resolution, made ?? "none")
  return made
}

/** A model that goes by another id than the key was given: only the targets that it may have by their own. */
const byOwnId = (key: ApiKey, resolution: Resolution): Resolution | null =>
  resolution.combo === null &&
  resolution.auto === null &&
  resolution.quotaGroup === null &&
  resolution.fallbackModel === undefined
    ? only(resolution, (target) => mayUse(key, idOf(target)))
    : null

const comboRule = (rules: ModelRules | null, { combo }: Resolution): "none" | "may" | "mayNot" => {
  if (combo === null || rules === null || rules.allowsCombo === null) return "none"
  return rules.allowsCombo(combo.name) ? "may" : "mayNot"
}

const mayNot = (reason: "combo" | "model" | "connection"): KeyVerdict => ({ _tag: "MayNot", reason })

/**
 * Decides which part of an id's resolution a key may use. A combo that `allowedCombos` names need not be among
 * `allowedModels`.
 */
export const judgeFor = (key: ApiKey, id: string, resolution: Resolution): KeyVerdict => {
  const rules = modelRulesOf(key)
  const combo = comboRule(rules, resolution)
  if (combo === "mayNot") return mayNot("combo")
  if (rules !== null && rules.blocks !== null && rules.blocks(id)) return mayNot("model")
  const isNamed = combo === "may" || mayUse(key, id) || isShare(id, resolution)
  const own = isNamed ? resolution : isAutomatic(id, resolution) ? choiceOf(key, resolution) : byOwnId(key, resolution)
  if (own === null) return mayNot("model")
  const left = narrowedFor(key, own)
  if (left !== null) return { _tag: "May", resolution: left }
  return mayNot(own.targets.some((target) => isConnected(rules, target)) ? "model" : "connection")
}

/** Parts of an id's resolution that a key may have, and why it may not have the rest. */
export interface Denials {
  /** Null: nothing; the request itself is refused. */
  readonly allowed: Resolution | null
  /** Targets that it may not have, with the reason in words. */
  readonly targets: ReadonlyMap<Target, string>
  /** Null where something is allowed. */
  readonly refusal: KeyRejected | null
}

const denied = (rules: ModelRules | null, target: Target): string => {
  const { account } = target
  if (rules?.allowsProvider?.(account.spec.id) === false) return "allowedProviders"
  if (rules?.allowsConnection?.(account.connection.id) === false) return "allowedConnections"
  return rules?.isOfTeams?.(idOf(target), target.model) === false ? "models of its team" : "blockedModels"
}

const settingAgainst = (key: ApiKey, target: Target): string => {
  const rules = modelRulesOf(key)
  return isConnected(rules, target) && !blocks(rules, target) ? "allowedModels" : denied(rules, target)
}

/** Says which targets of an id a key may not have, and why: for an explanation, where they are shown and not left away. */
export const denialsOf = (key: ApiKey, id: string, resolution: Resolution): Denials => {
  const verdict = judgeFor(key, id, resolution)
  const { fallbackModel } = resolution
  const refusal =
    verdict._tag === "MayNot"
      ? new KeyRejected({ reason: verdict.reason, model: id })
      : fallbackModel !== undefined && !mayUse(key, fallbackModel)
        ? new KeyRejected({ reason: "model", model: fallbackModel, requested: id })
        : null
  const allowed = verdict._tag === "MayNot" || refusal !== null ? null : verdict.resolution
  const may = new Set(allowed?.targets)
  const why = (target: Target): string =>
    refusal === null ? `This API key may not use it (${settingAgainst(key, target)}).` : describe(refusal).message
  const targets = resolution.targets.filter((target) => !may.has(target))
  return { allowed, targets: new Map(targets.map((target) => [target, why(target)])), refusal }
}

/**
 * Selects the part that a key may use of a model that a combo's config names (a judge, a summary's model); null for none. As with the
 * combo's targets, `allowedModels` is not considered: the key may use the combo.
 */
export const namedInCombo = (key: ApiKey | null, id: string, resolution: Resolution): Resolution | null => {
  const rules = key === null ? null : modelRulesOf(key)
  if (comboRule(rules, resolution) === "mayNot" || rules?.blocks?.(id) === true) return null
  return narrowedFor(key, resolution)
}

/** Checks whether the list of models shows an id to a key. Automatic ids are shown where `allowedModels` has them. */
export const isOffered = (key: ApiKey, id: string, resolved: () => Resolution | ModelNotFound | NoTarget): boolean => {
  if (modelRulesOf(key) === null) return mayUse(key, id)
  const resolution = resolved()
  if ("_tag" in resolution) return mayUse(key, id)
  if (judgeFor(key, id, resolution)._tag === "MayNot") return false
  return resolution.combo !== null || mayUse(key, id)
}
