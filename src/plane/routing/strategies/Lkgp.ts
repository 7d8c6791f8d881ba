/** `lkgp`: the target that answered last, while it may be called; the others in the combo's order. */
import type { Served, Strategy } from "../candidate/Strategy.ts"
import { lastKnownGoodFirst, rememberingGood } from "./LastKnownGood.ts"
import { asListed, ordering } from "./Ordering.ts"

export const lkgp: Strategy = (input) => {
  const order = lastKnownGoodFirst(input)
  return order === null ? asListed(input.candidates, input.memory) : ordering(order, "last known good", input.memory)
}

export const lkgpServed: Served = rememberingGood
