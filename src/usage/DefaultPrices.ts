/**
 * Prices embedded in the program. The data package is large, so it is loaded when a price book is built, never at import time. It is
 * only read: its own way of fetching newer prices is not used.
 */
import * as Effect from "effect/Effect"
import type { ModelPrice as Listed } from "@pydantic/genai-prices"
import type { ModelPrice } from "../domain/Pricing.ts"
import { publishedAs } from "../providers/PublishedAs.ts"
import { searchModel } from "../wire/search/Search.ts"
import { searchPrice } from "./SearchPrices.ts"

/** Day of the embedded prices, ISO 8601: the publication day of the pinned data package. */
export const pricesDated = "2026-09-23"

/** Our provider id → theirs. */
export const listedAs = publishedAs

/** The price of a model at a moment (epoch milliseconds): some prices differ by date or by time of day. */
export type PriceAt = (nowMs: number) => ModelPrice | null

export interface DefaultPrices {
  /** Finds a listed model by the provider's exact id and the model's name; null when it is not listed. Slow: memoise. */
  readonly find: (provider: string, model: string) => PriceAt | null
}

/** Loads the data. A failure to load is a broken installation, hence a defect. */
export const load: Effect.Effect<DefaultPrices> = Effect.promise(() => import("@pydantic/genai-prices")).pipe(
  Effect.map(({ calcPrice }) => ({
    find: (provider, model) => {
      if (model === searchModel) {
        const price = searchPrice(provider)
        return price === null ? null : () => price
      }
      const providerId = listedAs.get(provider)
      if (providerId === undefined) return null
      const found = calcPrice({}, model, { providerId, timestamp: new Date(0) })
      if (found === null) return null
      const isClaude = claude.test(found.model.id)
      if (!Array.isArray(found.model.prices)) {
        const price = toModelPrice(found.model_price, isClaude)
        return () => price
      }
      const only = { ...found.provider, models: [found.model] }
      return (nowMs) => {
        const now = calcPrice({}, model, { provider: only, timestamp: new Date(nowMs) })
        return now === null ? null : toModelPrice(now.model_price, isClaude)
      }
    }
  }))
)

/**
 * The cache of these models can be kept for an hour, also at other clouds; writing to it costs twice the input price
 * (https://platform.claude.com/docs/en/build-with-claude/prompt-caching#pricing).
 */
const claude = /claude/
const hourOfInput = 2

/** Tiered prices count at their base tier. An empty price means free; one without token prices gives null. */
const toModelPrice = (listed: Listed, isClaude: boolean): ModelPrice | null => {
  const input = base(listed["input_mtok"])
  const output = base(listed["output_mtok"])
  const priced = Object.values(listed).some((value) => value !== undefined)
  if (priced && input === undefined && output === undefined) return null
  const cached = base(listed["cache_read_mtok"])
  const cacheCreation = base(listed["cache_write_mtok"])
  const derived = isClaude && cacheCreation !== undefined && input !== undefined ? input * hourOfInput : undefined
  const cacheCreation1h = base(listed["cache_write_1h_mtok"]) ?? derived
  const reasoning = base(listed["output_reasoning_mtok"])
  return {
    input: input ?? 0,
    output: output ?? 0,
    ...(cached === undefined ? {} : { cached }),
    ...(cacheCreation === undefined ? {} : { cacheCreation }),
    ...(cacheCreation1h === undefined ? {} : { cacheCreation1h }),
    ...(reasoning === undefined ? {} : { reasoning })
  }
}

const base = (price: Listed[string]): number | undefined => (typeof price === "object" ? price.base : price)
