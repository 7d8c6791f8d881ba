/**
 * `fill-first`: the combo's own order, one target's quota after the other. A target whose quota is known to be used up gives way to
 * the next; all others stay where they are.
 */
import type { Strategy } from "../candidate/Strategy.ts"
import { ordering, ranked } from "./Ordering.ts"
import { isUsedUp, windowsNow } from "./Quota.ts"

export const fillFirst: Strategy = ({ candidates, memory, nowMs }) => {
  const order = ranked(candidates, (candidate) => [isUsedUp(windowsNow(candidate, nowMs)) ? 1 : 0])
  return ordering(
    order.map(({ candidate }) => candidate),
    order[0]?.measures[0] === 1 ? "first in order, no quota is left" : "first with quota left",
    memory
  )
}
