/** What the strategy of a resolution learns from a success, for those that carry decisions out without the engine's services. */
import type { Served } from "../engine/Strategy.ts"
import type { Resolution } from "../ModelResolver.ts"
import { type OrderingStrategy, strategies } from "../strategies/index.ts"
import { lkgpServed } from "../strategies/Lkgp.ts"

const isOrdering = (strategy: string): strategy is OrderingStrategy => Object.hasOwn(strategies, strategy)

export const servedOf = ({ auto, strategy }: Resolution): Served | undefined => {
  if (auto !== null || strategy === "auto") return lkgpServed
  return isOrdering(strategy) ? strategies[strategy].served : undefined
}
