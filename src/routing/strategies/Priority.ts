/** `priority`: the combo's own order. */
import { asListedReason } from "../engine/Decision.ts"
import type { Strategy } from "../engine/Strategy.ts"
import { ordering } from "./Ordering.ts"

export const priority: Strategy = ({ candidates, memory }) => ordering(candidates, asListedReason, memory)
