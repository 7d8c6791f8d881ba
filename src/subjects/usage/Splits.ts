/** Sums of a range by one or two dimensions, with what the providers' caches have saved. Pure. */
import type { SeriesBy } from "../../store/usage/UsageSeriesSql.ts"
import type { ModelPrice } from "../pricing/entity.ts"
import type { SplitQuery } from "./SeriesPlan.ts"
import type { KeyTotals } from "./SeriesRepo.ts"

/** Sums of some requests. */
export interface SplitSums extends Omit<KeyTotals, "key"> {
  /** Amount that reading from the providers' caches has saved, at the prices of today. */
  readonly cacheSavedUsd: number
}

export interface SplitRow {
  /** A key for each dimension; empty: its requests have none. */
  readonly keys: ReadonlyArray<string>
  readonly sums: SplitSums
}

export interface Split {
  /** The dearest first. */
  readonly rows: ReadonlyArray<SplitRow>
  readonly rest: SplitSums
  readonly total: SplitSums
}

/** The dimensions that rows are read by: those that are asked for, and what a price is found by. */
export const grouping = (by: ReadonlyArray<SeriesBy>): ReadonlyArray<SeriesBy> => [...by, "provider", "model"]

const nothing: SplitSums = {
  requests: 0,
  failed: 0,
  tokensIn: 0,
  tokensOut: 0,
  cacheRead: 0,
  costUsd: 0,
  cacheSavedUsd: 0
}

const names = Object.keys(nothing) as ReadonlyArray<keyof SplitSums>

const combined = (one: SplitSums, other: SplitSums, sign: 1 | -1): SplitSums =>
  Object.fromEntries(names.map((name) => [name, one[name] + sign * other[name]])) as unknown as SplitSums

const pricedTokens = 1_000_000

/** Amount that reading so many tokens from a cache has saved against the price of others. */
const savedOf = (price: ModelPrice | null, cacheRead: number): number =>
  price?.cached === undefined ? 0 : (Math.max(0, price.input - price.cached) * cacheRead) / pricedTokens

type PriceOf = (provider: string, model: string) => ModelPrice | null

/** Keys of a group, as the database has written them. */
const keysOf = (key: string): ReadonlyArray<string> => JSON.parse(key) as ReadonlyArray<string>

/** Takes groups together that differ in what was not asked for only. */
export const splitOf = (
  { by, top }: Pick<SplitQuery, "by" | "top">,
  { all, keys }: { readonly all: KeyTotals; readonly keys: ReadonlyArray<KeyTotals> },
  priceOf: PriceOf
): Split => {
  const rows = new Map<string, SplitRow>()
  let savedUsd = 0
  for (const { key, ...sums } of keys) {
    const group = keysOf(key)
    const own = group.slice(0, by.length)
    const [provider = "", model = ""] = group.slice(by.length)
    const cacheSavedUsd =
      sums.cacheRead === 0 ? 0 : savedOf(priceOf(provider, model.slice(provider.length + 1)), sums.cacheRead)
    savedUsd += cacheSavedUsd
    const name = JSON.stringify(own)
    const known = rows.get(name)?.sums ?? nothing
    rows.set(name, { keys: own, sums: combined(known, { ...sums, cacheSavedUsd }, 1) })
  }
  const sorted = [...rows.values()].toSorted(
    (one, other) => other.sums.costUsd - one.sums.costUsd || other.sums.requests - one.sums.requests
  )
  const shown = sorted.slice(0, top)
  const { key: _key, ...sums } = all
  const total: SplitSums = { ...sums, cacheSavedUsd: savedUsd }
  const rest = shown.reduce((left, row) => combined(left, row.sums, -1), total)
  // Amounts are sums of doubles: what is left of nothing is no cost.
  return { rows: shown, rest: rest.requests <= 0 ? nothing : rest, total }
}
