/**
 * `context-relay`: the combo's own order, but a conversation stays where it was served last for as long as that target may be called,
 * so that its context changes hands as seldom as possible. The hand-over itself, a summary of the conversation for the next target, is
 * no matter of order: it happens in `inference/handoff`.
 */
import type { Served, Strategy } from "../candidate/Strategy.ts"
import { lastKnownGoodFirst, rememberingGood } from "./LastKnownGood.ts"
import { asListed, ordering } from "./Ordering.ts"

export const contextRelay: Strategy = (input) => {
  const order = lastKnownGoodFirst(input)
  return order === null ? asListed(input.candidates, input.memory) : ordering(order, "holds the context", input.memory)
}

export const contextRelayServed: Served = rememberingGood
