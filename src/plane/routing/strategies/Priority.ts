/** `priority`: the combo's own order. */
import type { Strategy } from "../candidate/Strategy.ts"
import { asListed } from "./Ordering.ts"

export const priority: Strategy = ({ candidates, memory }) => asListed(candidates, memory)
