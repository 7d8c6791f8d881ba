/**
 * `least-used`: fewest requests of this combo, those in progress counted with those served in the window of the statistics, so that a burst is
 * spread before its first answer; of equals the one with fewer in progress, then the combo's order.
 */
import type { Strategy } from "../candidate/Strategy.ts"
import { ordering, ranked } from "./Ordering.ts"

export const leastUsed: Strategy = ({ candidates, memory }) =>
  ordering(
    ranked(candidates, ({ inFlight, used }) => [used + inFlight, inFlight]).map(({ candidate }) => candidate),
    "least used",
    memory
  )
