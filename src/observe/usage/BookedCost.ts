/** Computes the booked cost of an answer: the provider's own charge where it reports one, else by the price. Pure. */
import type { ModelPrice } from "../../subjects/pricing/entity.ts"
import {
  type BillingFacts,
  type CostNotes,
  nanoUsdParts,
  nanoUsdPerUsd,
  type TokenCounts
} from "../../contract/domain/Usage.ts"
import { costNanoUsd, isPriced } from "./Cost.ts"
import { ratesFor } from "./Rates.ts"
import { unpricedParts } from "./UnpricedParts.ts"

export interface BookedCost {
  readonly costNanoUsd: number
  readonly costNotes: CostNotes | null
  /** Price that holds for the answer, in plain numbers. Null: none is known that covers its usage. */
  readonly price: ModelPrice | null
}

/** An amount in whole parts of a nano-USD, so that sums stay exact. */
const nanoOf = (usd: number): number => Math.round(usd * nanoUsdPerUsd * nanoUsdParts) / nanoUsdParts

const factsOf = (billing: BillingFacts): CostNotes["facts"] => {
  const { chargedUsd: _charged, ...facts } = billing
  return Object.keys(facts).length === 0 ? null : facts
}

const none: ReadonlyArray<string> = []

/** Hot. `known`: the whole price of the model that answered. */
export const costOf = (tokens: TokenCounts, known: ModelPrice | null): BookedCost => {
  const price = known === null || !isPriced(tokens, known) ? null : ratesFor(known, tokens.in, tokens.billing)
  const computed = price === null ? 0 : costNanoUsd(tokens, price)
  const { billing } = tokens
  const missing = unpricedParts(tokens, known)
  if (billing === undefined) {
    const costNotes = missing.length === 0 ? null : { unpricedParts: missing, computedNanoUsd: null, facts: null }
    return { costNanoUsd: computed, costNotes, price }
  }
  const { chargedUsd } = billing
  const facts = factsOf(billing)
  if (chargedUsd === undefined) {
    const isPlain = missing.length === 0 && facts === null
    return {
      costNanoUsd: computed,
      costNotes: isPlain ? null : { unpricedParts: missing, computedNanoUsd: null, facts },
      price
    }
  }
  // The charge is of everything: nothing is without a price.
  return {
    costNanoUsd: nanoOf(chargedUsd),
    costNotes: { unpricedParts: none, computedNanoUsd: computed, facts },
    price
  }
}
