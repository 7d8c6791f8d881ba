/**
 * The prices of one request. Each is fixed when it is first asked for, which is when a call is reserved or made: what is changed or fetched while
 * the request runs holds for the next one, so that the ledger and the budgets say what was reserved. A job that goes on has those of its beginning.
 */
import type { ModelPrice } from "../../subjects/pricing/entity.ts"
import type { PriceBook } from "../../observe/usage/PriceBook.ts"
import type { AcceptedJob } from "./JobHandle.ts"

interface Fixed {
  readonly provider: string
  readonly model: string
  readonly price: ModelPrice | null
}

export class FixedPrices {
  /** A request asks few models. */
  #fixed: Array<Fixed> | null = null

  /** `accepted`: the job that the request goes on with; null: it begins. */
  constructor(accepted: AcceptedJob | null = null) {
    if (accepted === null || accepted.ticket.price === undefined) return
    const { model, provider, ticket } = accepted
    this.#fixed = [{ provider, model, price: ticket.price ?? null }]
  }

  /** Hot. Null: none was known. */
  of(book: Pick<typeof PriceBook.Service, "price">, provider: string, model: string): ModelPrice | null {
    const fixed = (this.#fixed ??= [])
    for (const known of fixed) if (known.model === model && known.provider === provider) return known.price
    const price = book.price(provider, model)
    fixed.push({ provider, model, price })
    return price
  }
}
