/** The strategies that order targets by themselves. `auto` scores (`routing/auto`) and `fusion` asks several at once: not here. */
import type { ComboStrategy } from "../../../subjects/combos/entity.ts"
import type { Served, Strategy } from "../candidate/Strategy.ts"
import { contextOptimized } from "./ContextOptimized.ts"
import { contextRelay, contextRelayServed } from "./ContextRelay.ts"
import { costOptimized } from "./CostOptimized.ts"
import { fillFirst } from "./FillFirst.ts"
import { headroom } from "./Headroom.ts"
import { leastUsed } from "./LeastUsed.ts"
import { lkgp, lkgpServed } from "./Lkgp.ts"
import { p2c } from "./P2c.ts"
import { priority } from "./Priority.ts"
import { random } from "./Random.ts"
import { resetAware } from "./ResetAware.ts"
import { resetWindow } from "./ResetWindow.ts"
import { roundRobin, roundRobinServed } from "./RoundRobin.ts"
import { strictRandom } from "./StrictRandom.ts"
import { weighted, weightedServed } from "./Weighted.ts"

export type OrderingStrategy = Exclude<ComboStrategy, "auto" | "fusion">

export interface StrategyEntry {
  readonly order: Strategy
  /** Missing where the strategy learns nothing from a success. */
  readonly served?: Served
}

export const strategies: Readonly<Record<OrderingStrategy, StrategyEntry>> = {
  priority: { order: priority },
  weighted: { order: weighted, served: weightedServed },
  "round-robin": { order: roundRobin, served: roundRobinServed },
  "context-relay": { order: contextRelay, served: contextRelayServed },
  "fill-first": { order: fillFirst },
  p2c: { order: p2c },
  random: { order: random },
  "least-used": { order: leastUsed },
  "cost-optimized": { order: costOptimized },
  "reset-aware": { order: resetAware },
  "reset-window": { order: resetWindow },
  headroom: { order: headroom },
  "strict-random": { order: strictRandom },
  lkgp: { order: lkgp, served: lkgpServed },
  "context-optimized": { order: contextOptimized }
}
