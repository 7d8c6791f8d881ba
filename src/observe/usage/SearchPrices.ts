/**
 * Price of an ordinary search where it is paid by the search (2026-11), in USD; several plans are cheaper, and the operator's own price
 * (`/api/pricing`, model `search`) takes precedence. Ollama's searches are a part of its plans and have none here.
 */
import type { ModelPrice } from "../../subjects/pricing/entity.ts"

const usdPerSearch: Readonly<Record<string, number>> = {
  // https://serper.dev, the smallest package
  serper: 0.001,
  // https://api-dashboard.search.brave.com/documentation/pricing
  brave: 0.005,
  // https://docs.perplexity.ai/getting-started/pricing
  perplexity: 0.005,
  // https://exa.ai/pricing, up to 25 results
  exa: 0.005,
  // https://docs.tavily.com/documentation/api-credits
  tavily: 0.008,
  // https://developers.google.com/custom-search/v1/overview#pricing, beyond 100 a day
  "google-pse": 0.005,
  // https://www.linkup.so/pricing
  linkup: 0.005,
  // https://www.searchapi.io/pricing, the smallest plan
  searchapi: 0.004,
  // https://you.com/resources/you-com-web-search-api
  youcom: 0.005,
  // The operator's own server.
  searxng: 0
}

const prices: ReadonlyMap<string, ModelPrice> = new Map(
  Object.entries(usdPerSearch).map(([provider, perSearchUnit]) => [provider, { input: 0, output: 0, perSearchUnit }])
)

/** Finds the price by the provider's id in the registry; null when none is known. */
export const searchPrice = (provider: string): ModelPrice | null => prices.get(provider) ?? null
