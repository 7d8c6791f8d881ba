/** Result of a decision: the order, and everything it was made of, so that it can be shown and made again. */
import { amongReady, noneWasReady, type Reason } from "./Reason.ts"
import type { Target } from "../resolve/ModelResolver.ts"
import type { Unready } from "../health/TargetHealth.ts"
import type { Score, StrategyMemory } from "./Strategy.ts"

/** Reason for which a candidate is not in the order. */
export interface Excluded {
  readonly rule: string
  /** Epoch milliseconds; null when it does not end by itself, or its end is not known. */
  readonly untilMs: number | null
  readonly detail: string
}

export const excludedBy = ({ detail, rule, untilMs }: Unready): Excluded => ({ rule, untilMs, detail })

export interface Decision {
  readonly strategy: string
  readonly seed: number
  readonly order: ReadonlyArray<Target>
  /** Reason for which the first target is first. */
  readonly reason: Reason
  readonly weights: Readonly<Record<string, number>> | null
  /** Scores by target; absent where the strategy does not score. */
  readonly scores: ReadonlyMap<Target, Score>
  readonly exclusions: ReadonlyMap<Target, Excluded>
  /** Constraints that nothing met and that were therefore dropped. */
  readonly relaxedFilters: ReadonlyArray<string>
  /** Keys of candidates whose next call is a probe and gets less time. */
  readonly probes: ReadonlySet<string>
  /** Memory to be stored when the request goes out; null when there is none. */
  readonly memory: StrategyMemory | null
}

/**
 * The order as it came true: who was left out when its turn came, and was never asked, was behind all others. A decision that only
 * lists its targets does not look at their health, and a health can change under a decision.
 */
export const cameTrue = (
  { order, reason }: Pick<Decision, "order" | "reason">,
  isLeftOut: (target: Target) => boolean
): Pick<Decision, "order" | "reason"> => {
  const callable = order.filter((target) => !isLeftOut(target))
  if (callable.length === order.length) return { order, reason }
  if (callable.length === 0) return { order, reason: noneWasReady(reason) }
  const leftOut = order.filter(isLeftOut)
  const why = callable[0] === order[0] ? reason : amongReady(reason)
  return { order: [...callable, ...leftOut], reason: why }
}
