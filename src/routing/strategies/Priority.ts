/** `priority`: the combo's own order. */
import { asListedReason } from "../candidate/Decision.ts"
import type { Strategy } from "../candidate/Strategy.ts"
import { ordering } from "./Ordering.ts"

export const priority: Strategy = ({ candidates, memory }) => ordering(candidates, asListedReason, memory)
