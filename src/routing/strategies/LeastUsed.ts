/** `least-used`: fewest requests served in the window of the statistics, then fewest under way, then the combo's order. */
import type { Strategy } from "../engine/Strategy.ts"
import { ordering, ranked } from "./Ordering.ts"

export const leastUsed: Strategy = ({ candidates, memory }) =>
  ordering(
    ranked(candidates, ({ inFlight, used }) => [used, inFlight]).map(({ candidate }) => candidate),
    "least used",
    memory
  )
