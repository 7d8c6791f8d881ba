/**
 * Resolves the model id a client sends to the targets that could serve it (docs/routing.md). A name is looked up in
 * this order: combo, automatic id, alias, no-thinking alias, quota share, provider, listed model. Pure: works on a
 * catalogue snapshot, so the same id and snapshot always give the same answer.
 */
import { type ComboPolicy, noPolicy } from "../../../subjects/combos/entity/ComboPolicy.ts"
import type { RoutableCombo } from "../../../subjects/combos/entity/RoutableCombo.ts"
import type { Combo } from "../../../subjects/combos/entity.ts"
import { type ModelNotFound, NoTarget } from "../../../contract/domain/Errors.ts"
import { closest } from "../../../kernel/text/Closest.ts"
import { maxAliasHops } from "./Aliases.ts"
import { advertisedAutoIds, type AutoSpec, invokableAutoIds, nearAutoIds, parseAutoId } from "./AutoId.ts"
import { isOpen, targetsOf, whyNoTargets, withoutReasoning } from "./ComboExpansion.ts"
import { behindNoThinking, noThinkingPrefix, otherSpellings } from "./ModelIds.ts"
import {
  aliased,
  comboNamed,
  even,
  failed,
  type Found,
  isFailure,
  poolOf,
  resolveBare,
  resolvePrefixed,
  type ResolverView,
  scaled,
  type Target
} from "./ModelTargets.ts"
import { resolveShare } from "./QuotaShares.ts"

export { maxPool, poolOf, type ResolverView, type Target } from "./ModelTargets.ts"

export interface Resolution {
  readonly combo: Combo | null
  /** A combo's own; else `priority` for a model id, `lkgp` for `auto` and `auto/lkgp`, `auto` for the others of them, `quota-share`. */
  readonly strategy: string
  readonly targets: ReadonlyArray<Target>
  /**
   * Weights of the targets, in their order: each its part of its step's weight. A step that stands for several accounts
   * is shared between them.
   */
  readonly weights: ReadonlyArray<number>
  /** Steps of the combo, counted from 0, that the targets came from, in their order. 0 where there is no combo. */
  readonly steps: ReadonlyArray<number>
  /** Specification of an automatic id; null for anything else, also for a combo of the strategy `auto`. */
  readonly auto: AutoSpec | null
  /** The group of a quota-share id. */
  readonly quotaGroup: string | null
  /** The combo's; `noPolicy` without one. */
  readonly policy: ComboPolicy
  /** Id that replaces the requested one; absent where that id itself was resolved. */
  readonly fallbackModel?: string
  /**
   * Reason of the replacement: as a successor, or because the request is made in the background; absent: the setting
   * `modelFallbacks`.
   */
  readonly standsIn?: "successor" | "background"
}

/** The automatic ids of the model list. Any other valid composition is served as well. */
export const autoIds: ReadonlyArray<string> = advertisedAutoIds

/** Up to three ids a client could have meant, for the text of a 404. */
const suggestionsFor = (view: ResolverView, id: string): ReadonlyArray<string> => {
  const known: Array<string> = [...autoIds, ...view.catalog.combos.keys(), ...view.catalog.aliases.keys()]
  // A listed model may be asked for without its provider, and be mistyped so.
  const bare = new Set<string>()
  for (const account of view.catalog.accounts) {
    for (const model of view.modelsOf(account)) {
      known.push(`${account.spec.id}/${model}`)
      bare.add(model)
    }
  }
  return closest(id, [...known, ...bare], 3)
}

/** A resolution of what is no combo. */
const plain = (found: Found, strategy: string, more: Partial<Resolution> = {}): Resolution => ({
  combo: null,
  strategy,
  targets: found.targets,
  weights: scaled(found.weights, 1),
  steps: found.targets.map(() => 0),
  auto: null,
  quotaGroup: null,
  policy: noPolicy,
  ...more
})

const resolveCombo = (view: ResolverView, combo: RoutableCombo, id: string): Resolution | NoTarget => {
  const { policy, strategy } = combo
  if (isOpen(combo)) {
    const pool = resolvePool(view, id, null)
    return isFailure(pool) ? pool : { ...pool, combo, strategy, policy }
  }
  const { steps, targets, weights } = targetsOf(view, combo)
  return targets.length === 0
    ? new NoTarget({
        model: id,
        reason: `none of the combo's targets has an active connection: ${whyNoTargets(view, combo)}`,
        retryAfterMs: null
      })
    : { combo, strategy, targets, weights, steps, auto: null, quotaGroup: null, policy }
}

/** All that is connected, for an automatic id or an `auto` combo. */
const resolvePool = (view: ResolverView, id: string, auto: AutoSpec | null): Resolution | NoTarget => {
  const targets = poolOf(view)
  if (targets.length === 0) {
    return new NoTarget({
      model: id,
      reason:
        "no provider with a known model is connected (gateway provider add …, or set a provider's key in the environment)",
      retryAfterMs: null
    })
  }
  return {
    ...plain(even(targets), auto?.routerStrategy === "lkgp" ? "lkgp" : "auto", { auto }),
    weights: targets.map(() => 1),
    steps: targets.map((_, index) => index)
  }
}

/** Resolves the names that are no model's: combos, the automatic ids and aliases. Null when it is none of them. */
const resolveName = (view: ResolverView, id: string, hops: number): Resolution | ModelNotFound | NoTarget | null => {
  const combo = comboNamed(view, id)
  if (combo !== undefined) return resolveCombo(view, combo, id)
  const auto = parseAutoId(id)
  if (auto !== null) return resolvePool(view, id, auto)
  const model = aliased(view, id)
  if (model === null) return null
  const found = hops >= maxAliasHops ? failed(model, "the aliases have no end") : resolveAny(view, model, hops + 1)
  return isFailure(found) ? explained(id, `the alias stands for '${model}'`, found, "") : found
}

/** Rewrites a failure for the id that was asked for. */
export const explained = (
  id: string,
  because: string,
  failure: ModelNotFound | NoTarget,
  prefix: string
): ModelNotFound | NoTarget => {
  const reason = because === "" ? failure.reason : `${because}, and ${failure.reason}`
  return failure instanceof NoTarget
    ? new NoTarget({ model: id, reason, retryAfterMs: failure.retryAfterMs })
    : failed(
        id,
        reason,
        failure.suggestions.map((suggestion) => prefix + suggestion)
      )
}

/** Makes the error of an unknown id, with the valid ids that are nearest. */
const unknown = (view: ResolverView, id: string): ModelNotFound => {
  if (id.startsWith("auto/") || id.startsWith("auto:")) {
    const near = nearAutoIds(id)
    return failed(
      id,
      "there is no such variant, category or tier of 'auto'",
      near.length === 0 ? invokableAutoIds : near
    )
  }
  if (id.startsWith("combo:") || id.startsWith("combo/")) {
    const names = [...view.catalog.combos.keys()].map((name) => `combo:${name}`)
    return failed(id, "there is no active combo of this name", closest(id, names, 3))
  }
  return failed(
    id,
    "no provider, combo or listed model has this id (modelFallbacks of PATCH /api/settings can map it to one)",
    suggestionsFor(view, id)
  )
}

const resolveAny = (view: ResolverView, id: string, hops: number): Resolution | ModelNotFound | NoTarget => {
  const named = resolveName(view, id, hops)
  if (named !== null) return named
  const behind = behindNoThinking(id)
  if (behind !== null) {
    const found = resolveAny(view, behind, hops)
    return isFailure(found)
      ? explained(id, "", found, noThinkingPrefix)
      : { ...found, targets: withoutReasoning(found.targets) }
  }
  const share = resolveShare(view, id)
  if (share !== null) return isFailure(share) ? share : plain(share, "quota-share", { quotaGroup: share.group })
  const prefixed = resolvePrefixed(view, id)
  if (isFailure(prefixed)) return prefixed
  if (prefixed !== null) return plain(even(prefixed), "priority")
  const bare = resolveBare(view, id)
  if (bare.length > 0) return plain(even(bare), "priority")
  for (const spelling of otherSpellings(id)) {
    const other = resolveName(view, spelling, hops)
    if (other !== null) return other
  }
  return unknown(view, id)
}

/** Resolves a model id; the failure says whether the id is unknown (404) or known but not servable now (503). */
export const resolve = (view: ResolverView, id: string): Resolution | ModelNotFound | NoTarget =>
  resolveAny(view, id, 0)
