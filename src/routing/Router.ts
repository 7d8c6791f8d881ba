/**
 * The decision: which targets, in which order, and why. Pure: the same resolution, state and seed give the same decision.
 * Strategies only order; the attempt loop consumes the order.
 */
import type { ComboStrategy } from "../domain/Combo.ts"
import type { Resolution, Target } from "./ModelResolver.ts"

export interface Decision {
  readonly strategy: string
  readonly seed: number
  readonly order: ReadonlyArray<Target>
  /** Why the first target is first, in a few words. */
  readonly reason: string
}

/** What strategies remember between requests. */
export interface RouterState {
  /** Connection id and model that last served this combo (or `auto`). */
  readonly lastKnownGood: { readonly connectionId: string; readonly model: string } | null
}

/** Strategies a combo can be saved with: one that nobody carries out would be a promise nobody keeps. */
export const builtStrategies: ReadonlySet<ComboStrategy> = new Set<ComboStrategy>(["priority"])

const lastKnownGoodFirst = (
  targets: ReadonlyArray<Target>,
  good: NonNullable<RouterState["lastKnownGood"]>
): ReadonlyArray<Target> | null => {
  const index = targets.findIndex(
    (target) => target.account.connection.id === good.connectionId && target.model === good.model
  )
  const found = targets[index]
  return found === undefined ? null : [found, ...targets.slice(0, index), ...targets.slice(index + 1)]
}

/** Orders the targets of a resolution. */
export const decide = (resolution: Resolution, state: RouterState, seed: number): Decision => {
  const { strategy, targets } = resolution
  if (strategy === "lkgp" && state.lastKnownGood !== null) {
    const order = lastKnownGoodFirst(targets, state.lastKnownGood)
    if (order !== null) return { strategy, seed, order, reason: "last known good" }
  }
  return { strategy, seed, order: targets, reason: targets.length === 1 ? "only target" : "first in order" }
}
