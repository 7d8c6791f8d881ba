/** What a model costs in a batch that its provider runs: half. Pure. https://platform.openai.com/docs/guides/batch */
import type { ModelPrice } from "../domain/Pricing.ts"

const part = 0.5

const scaled = (value: unknown): unknown => {
  if (typeof value === "number") return value * part
  if (typeof value !== "object" || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, price]) => [name, scaled(price)]))
}

export const batchPrice = (price: ModelPrice): ModelPrice => scaled(price) as ModelPrice
