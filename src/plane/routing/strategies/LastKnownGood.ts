/** The candidate that answered last, shared by `lkgp` and `context-relay`. */
import type { Candidate } from "../candidate/Candidate.ts"
import type { Served, StrategyInput } from "../candidate/Strategy.ts"
import { inFront } from "./Ordering.ts"

/** The candidates with the one that answered last in front; null when there is none, or it may not be called now. */
export const lastKnownGoodFirst = ({ candidates, memory }: StrategyInput): ReadonlyArray<Candidate> | null => {
  const good = memory.lastKnownGood
  if (good === null) return null
  const index = candidates.findIndex(
    ({ target }) => target.account.connection.id === good.connectionId && target.model === good.model
  )
  return index === -1 ? null : inFront(candidates, index)
}

/** Gives the same memory back when nothing is new, so that it is not written again. */
export const rememberingGood: Served = (memory, { target }) => {
  const connectionId = target.account.connection.id
  const { lastKnownGood } = memory
  return lastKnownGood?.connectionId === connectionId && lastKnownGood.model === target.model
    ? memory
    : { ...memory, lastKnownGood: { connectionId, model: target.model } }
}
