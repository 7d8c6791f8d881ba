/** `lkgp`: the target that answered last, while it may be called; the others in the combo's order. */
import { asListedReason } from "../candidate/Decision.ts"
import type { Served, Strategy } from "../candidate/Strategy.ts"
import { lastKnownGoodFirst, rememberingGood } from "./LastKnownGood.ts"
import { ordering } from "./Ordering.ts"

export const lkgp: Strategy = (input) => {
  const order = lastKnownGoodFirst(input)
  return order === null
    ? ordering(input.candidates, asListedReason, input.memory)
    : ordering(order, "last known good", input.memory)
}

export const lkgpServed: Served = rememberingGood
