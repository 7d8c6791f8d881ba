/**
 * Expands a combo to its targets: nested references are replaced in place by their own targets, and every step's weight is
 * shared between its targets. Pure.
 */
import { targetKeyOf } from "./TargetKey.ts"
import type { RoutableCombo } from "../../../subjects/combos/entity/RoutableCombo.ts"
import type { Combo, ComboTarget } from "../../../subjects/combos/entity.ts"
import { maxAliasHops } from "./Aliases.ts"
import { parseAutoId } from "./AutoId.ts"
import { behindNoThinking } from "./ModelIds.ts"
import {
  aliased,
  comboNamed,
  even,
  type Found,
  isFailure,
  nothing,
  poolOf,
  resolveBare,
  resolvePrefixed,
  type ResolverView,
  scaled,
  type Target
} from "./ModelTargets.ts"
import { resolveShare } from "./QuotaShares.ts"

/** Targets of one combo: no more than the attempts of one request. */
const maxTargets = 400

export const withoutReasoning = (targets: ReadonlyArray<Target>): ReadonlyArray<Target> =>
  targets.map((candidate) => ({ ...candidate, suppressReasoning: true }))

/** Position in an expansion. */
interface Place {
  /** Deepest nesting of this expansion. */
  readonly most: number
  readonly depth: number
  readonly hops: number
  /** Expansions of the combos met so far, with and without reasoning; null while one is still being expanded. */
  readonly met: Map<string, Found | null>
  readonly suppressed: boolean
}

const expandTarget = (view: ResolverView, step: ComboTarget, place: Place): Found => {
  const behind = behindNoThinking(step.model)
  if (behind !== null) {
    const found = expandTarget(view, { ...step, model: behind }, { ...place, suppressed: true })
    return { ...found, targets: withoutReasoning(found.targets) }
  }
  const nested = comboNamed(view, step.model)
  if (nested !== undefined) return expandCombo(view, nested, { ...place, depth: place.depth + 1 })
  const behindAlias = aliased(view, step.model)
  if (behindAlias !== null) {
    if (place.hops >= maxAliasHops) return nothing
    return expandTarget(view, { ...step, model: behindAlias }, { ...place, hops: place.hops + 1 })
  }
  return onlyAt(step.connectionId ?? null, expandModel(view, step.model))
}

const expandModel = (view: ResolverView, id: string): Found => {
  if (parseAutoId(id) !== null) return even(poolOf(view))
  const share = resolveShare(view, id)
  if (share !== null) return isFailure(share) ? nothing : share
  const found = resolvePrefixed(view, id) ?? resolveBare(view, id)
  return isFailure(found) ? nothing : even(found)
}

const onlyAt = (connectionId: string | null, found: Found): Found => {
  if (connectionId === null) return found
  const kept = found.targets.flatMap((candidate, index) =>
    candidate.account.connection.id === connectionId ? [{ candidate, weight: found.weights[index] ?? 1 }] : []
  )
  return { targets: kept.map(({ candidate }) => candidate), weights: kept.map(({ weight }) => weight) }
}

/** The same target with and without reasoning is two. */
const keyOf = (found: Target): string => `${found.suppressReasoning} ${targetKeyOf(found)}`

/** The targets of a combo's own steps: nested references are replaced in place, what cannot be served is left out, what is named twice adds up. */
const expandSteps = (
  view: ResolverView,
  combo: Combo,
  place: Place
): Found & { readonly steps: ReadonlyArray<number> } => {
  const byKey = new Map<string, { readonly target: Target; readonly step: number; weight: number }>()
  for (const [step, comboTarget] of combo.targets.entries()) {
    const found = expandTarget(view, comboTarget, place)
    const weights = scaled(found.weights, comboTarget.weight ?? 1)
    for (const [index, candidate] of found.targets.entries()) {
      const weight = weights[index] ?? 0
      const known = byKey.get(keyOf(candidate))
      if (known !== undefined) known.weight += weight
      else if (byKey.size < maxTargets) byKey.set(keyOf(candidate), { target: candidate, step, weight })
    }
  }
  const all = [...byKey.values()]
  return {
    targets: all.map((each) => each.target),
    weights: all.map((each) => each.weight),
    steps: all.map((each) => each.step)
  }
}

/** An `auto` combo without targets of its own chooses between all that is connected. */
export const isOpen = (combo: Combo): boolean => combo.strategy === "auto" && combo.targets.length === 0

const expandCombo = (view: ResolverView, combo: Combo, place: Place): Found => {
  if (place.depth > place.most) return nothing
  if (isOpen(combo)) return even(poolOf(view))
  const mark = `${place.suppressed}\n${combo.name}`
  const known = place.met.get(mark)
  // Known, or null: it would contain itself.
  if (known !== undefined) return known ?? nothing
  place.met.set(mark, null)
  const found = expandSteps(view, combo, place)
  place.met.set(mark, found)
  return found
}

/** Most targets that a refusal lists. */
const mostListed = 5

/** Describes briefly why each of a combo's targets leads nowhere now. Called when none leads anywhere. */
export const whyNoTargets = (view: ResolverView, { targets }: Combo): string => {
  const listed = targets.slice(0, mostListed).map((step) => `'${step.model}' (${whyNot(view, step)})`)
  const more = targets.length - listed.length
  return `${listed.join(", ")}${more > 0 ? ` and ${more} more` : ""}`
}

const whyNot = (view: ResolverView, { connectionId, model }: ComboTarget): string => {
  const id = behindNoThinking(model) ?? model
  if (connectionId != null && !view.catalog.connections.some(({ id: known }) => known === connectionId)) {
    return `the connection ${connectionId} is gone`
  }
  if (connectionId != null && !view.catalog.byConnection.has(connectionId)) {
    return `the connection ${connectionId} is inactive`
  }
  if (id.startsWith("combo:") || id.startsWith("combo/") || comboNamed(view, id) !== undefined) {
    return comboNamed(view, id) === undefined ? "there is no active combo of this name" : "none of its own targets"
  }
  const found = resolveShare(view, id) ?? resolvePrefixed(view, id) ?? resolveBare(view, id)
  if (isFailure(found)) return found.reason
  return id.includes("/") && !("targets" in found)
    ? `there is no provider '${id.slice(0, id.indexOf("/"))}'`
    : "no provider, combo or listed model has this id"
}

/** The targets of a combo, with the weight and the step of each. */
export const targetsOf = (view: ResolverView, combo: RoutableCombo) =>
  expandSteps(view, combo, {
    most: combo.policy.maxComboDepth,
    depth: 1,
    hops: 0,
    met: new Map([[`false\n${combo.name}`, null]]),
    suppressed: false
  })
