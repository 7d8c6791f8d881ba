/**
 * Prices embedded in the program. The data package is large, so it is loaded when a price book is built, never at import time. It is
 * only read: its own way of fetching newer prices is not used.
 */
import * as Effect from "effect/Effect"
import type { ModelPrice as Listed } from "@pydantic/genai-prices"
import type { ModelPrice, PriceTier, TokenPriceName } from "../../subjects/pricing/entity.ts"
import { publishedAs } from "../../plane/providers/PublishedAs.ts"
import { searchModel } from "../../wire/media/search/Search.ts"
import { type FixedTerms, fixedTermsOf } from "./FixedTerms.ts"
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
      const fixed = fixedTermsOf(providerId, found.model.id)
      if (!Array.isArray(found.model.prices)) {
        const price = toModelPrice(found.model_price, isClaude, fixed)
        return () => price
      }
      const only = { ...found.provider, models: [found.model] }
      return (nowMs) => {
        const now = calcPrice({}, model, { provider: only, timestamp: new Date(nowMs) })
        return now === null ? null : toModelPrice(now.model_price, isClaude, fixed)
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

/** Names of prices per million tokens: theirs → ours. */
const tokenPrices: Readonly<Record<string, TokenPriceName>> = {
  input_mtok: "input",
  output_mtok: "output",
  cache_read_mtok: "cached",
  cache_write_mtok: "cacheCreation",
  cache_write_1h_mtok: "cacheCreation1h",
  output_reasoning_mtok: "reasoning",
  output_citation_mtok: "citation",
  input_audio_mtok: "inputAudio",
  input_image_mtok: "inputImage",
  input_video_mtok: "inputVideo",
  cache_audio_read_mtok: "cachedAudio",
  cache_image_read_mtok: "cachedImage",
  cache_video_read_mtok: "cachedVideo",
  output_audio_mtok: "outputAudio",
  output_image_mtok: "outputImage",
  output_video_mtok: "outputVideo"
}

type UnitPriceName = "perRequest" | "perWebSearch" | "perFileSearch" | "perCodeExecution" | "perPage" | "perSearchUnit"

/** Names of prices of other units: theirs, of so many → ours, of one. */
const unitPrices: Readonly<Record<string, readonly [name: UnitPriceName | "perSecond", of: number]>> = {
  requests_kcount: ["perRequest", 1_000],
  web_searches_kcount: ["perWebSearch", 1_000],
  storage_searches_kcount: ["perFileSearch", 1_000],
  code_executions_kcount: ["perCodeExecution", 1_000],
  rerank_searches_kcount: ["perSearchUnit", 1_000],
  input_document_kpages: ["perPage", 1_000],
  audio_hours: ["perSecond", 3_600],
  // Where both are there, the input is paid.
  input_audio_hours: ["perSecond", 3_600]
}

const base = (price: Listed[string]): number | undefined => (typeof price === "object" ? price.base : price)

/** The tiers of all prices together: each says which prices change at its length. */
const tiersOf = (listed: Listed): ReadonlyArray<PriceTier> => {
  const byLength = new Map<number, Partial<Record<TokenPriceName, number>>>()
  for (const [theirs, price] of Object.entries(listed)) {
    const ours = tokenPrices[theirs]
    if (ours === undefined || typeof price !== "object") continue
    for (const { price: next, start } of price.tiers) byLength.set(start, { ...byLength.get(start), [ours]: next })
  }
  return [...byLength].toSorted(([a], [b]) => a - b).map(([above, prices]) => Object.assign(prices, { above }))
}

/** An hour's cache writes, where the list does not say them: of a tier with an input price of its own too. */
const withHour = <A extends { readonly input?: number; readonly cacheCreation1h?: number }>(prices: A): A =>
  prices.input === undefined || prices.cacheCreation1h !== undefined
    ? prices
    : { ...prices, cacheCreation1h: prices.input * hourOfInput }

/** An empty price means free; one of which nothing is counted gives null. */
const toModelPrice = (listed: Listed, isClaude: boolean, fixed: FixedTerms): ModelPrice | null => {
  const tokens: Partial<Record<TokenPriceName, number>> = {}
  const units: Partial<Record<UnitPriceName | "perSecond", number>> = {}
  let isPriced = false
  for (const [theirs, value] of Object.entries(listed)) {
    const price = base(value)
    if (price === undefined) continue
    isPriced = true
    const ours = tokenPrices[theirs]
    const unit = unitPrices[theirs]
    if (ours !== undefined) tokens[ours] = price
    else if (unit !== undefined) units[unit[0]] = price / unit[1]
  }
  const hasNone = Object.keys(tokens).length === 0 && Object.keys(units).length === 0
  if (isPriced && hasNone) return null
  const tiers = tiersOf(listed)
  const derives = isClaude && tokens.cacheCreation !== undefined && listed["cache_write_1h_mtok"] === undefined
  const flat = derives ? withHour(tokens) : tokens
  return {
    ...flat,
    input: flat.input ?? 0,
    output: flat.output ?? 0,
    ...units,
    ...(tiers.length === 0 ? {} : { tiers: derives ? tiers.map(withHour) : tiers }),
    ...fixed
  }
}
