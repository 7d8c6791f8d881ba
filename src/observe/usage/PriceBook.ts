/**
 * Prices of models: the operator's overrides (`/api/pricing`) first, then the embedded prices. Unknown is null, which
 * means "unpriced", never "free". Local servers and provider nodes have no embedded price, whatever their models are
 * called.
 */
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Ref from "effect/Ref"
import type { ModelPrice, PriceTable } from "../../subjects/pricing/entity.ts"
import * as DefaultPrices from "./DefaultPrices.ts"

/** The table of overrides could not be read or written. */
export class PriceOverridesUnavailable extends Data.TaggedError("PriceOverridesUnavailable")<{
  readonly operation: "load" | "save"
  readonly cause: unknown
}> {}

/** The patch would grow the table beyond its limit. */
export class TooManyPriceOverrides extends Data.TaggedError("TooManyPriceOverrides")<{ readonly limit: number }> {}

/** Prices that were fetched, and from where. */
export interface SyncedPrices {
  readonly url: string
  /** ISO 8601. */
  readonly fetchedAt: string
  readonly table: PriceTable
}

/** Price with its source and its day (ISO 8601); null: it was set here. */
export interface SourcedPrice {
  readonly price: ModelPrice
  readonly source: "override" | "synced" | "embedded"
  readonly dated: string | null
}

/** Store of overrides. */
export class PriceOverrides extends Context.Tag("gateway/observe/usage/PriceOverrides")<
  PriceOverrides,
  {
    readonly load: Effect.Effect<PriceTable, PriceOverridesUnavailable>
    /** Replaces the whole table. */
    readonly save: (table: PriceTable) => Effect.Effect<void, PriceOverridesUnavailable>
  }
>() {}

export class PriceBook extends Context.Tag("gateway/observe/usage/PriceBook")<
  PriceBook,
  {
    /** Hot. Price of a provider's model at a moment, now where none is given; null when none is known. */
    readonly price: (provider: string, model: string, nowMs?: number) => ModelPrice | null
    /** Hot. Names the prices that hold at a moment: as long as it is the same, so is every price. */
    readonly edition: (nowMs: number) => number
    /** The price of a model now, and where it comes from; null when none is known. Slow: it is looked up anew. */
    readonly sourced: (provider: string, model: string) => SourcedPrice | null
    /** Fetched prices that are in force; null: none are. */
    readonly synced: () => SyncedPrices | null
    /** Puts other fetched prices in force, or none. */
    readonly useSynced: (prices: SyncedPrices | null) => void
    /** Removes all of the operator's prices. */
    readonly reset: Effect.Effect<void, PriceOverridesUnavailable>
    /** The operator's prices. */
    readonly overrides: Effect.Effect<PriceTable>
    /** Lays prices over the table; null takes one out. */
    readonly patch: (table: PricePatch) => Effect.Effect<PriceTable, PriceOverridesUnavailable | TooManyPriceOverrides>
    /** Day of the embedded prices, ISO 8601. */
    readonly pricesDated: string
  }
>() {}

/** Models of all providers together. */
export const maxOverrides = 20_000

const maxRemembered = 4096
const maxModelLength = 256

/** Names to look a model up by, best first: as it is, without a date, and both without the path before it. */
export const lookupNames = (model: string): ReadonlyArray<string> => {
  const last = model.slice(model.lastIndexOf("/") + 1)
  return [...new Set([model, withoutDate(model), last, withoutDate(last)])].filter((name) => name !== "")
}

const withoutDate = (model: string): string => model.replace(/[-@]20\d{2}-?[01]\d-?[0-3]\d$/, "")

type Overrides = ReadonlyMap<string, ReadonlyMap<string, ModelPrice>>

const toOverrides = (table: PriceTable): Overrides =>
  new Map(Object.entries(table).map(([provider, models]) => [provider, new Map(Object.entries(models))]))

const toTable = (overrides: Overrides): PriceTable =>
  Object.fromEntries([...overrides].map(([provider, models]) => [provider, Object.fromEntries(models)]))

export type PricePatch = Readonly<Record<string, Readonly<Record<string, ModelPrice | null>>>>

const merge = (overrides: Overrides, patch: PricePatch): Overrides => {
  const merged = new Map(overrides)
  for (const [provider, models] of Object.entries(patch)) {
    const prices = new Map(merged.get(provider))
    for (const [model, price] of Object.entries(models)) {
      if (price === null) prices.delete(model)
      else prices.set(model, price)
    }
    if (prices.size === 0) merged.delete(provider)
    else merged.set(provider, prices)
  }
  return merged
}

const size = (overrides: Overrides): number => [...overrides.values()].reduce((sum, models) => sum + models.size, 0)

const firstOf = <A>(names: ReadonlyArray<string>, pick: (name: string) => A | null | undefined): A | null => {
  for (const name of names) {
    const found = pick(name)
    if (found !== null && found !== undefined) return found
  }
  return null
}

const unpriced: DefaultPrices.PriceAt = () => null

/** Prices that differ by time of day change at whole minutes. */
const priceStandsMs = 60_000

/** A price that was looked up, and what it was last; `minute` counts from the epoch. */
interface Remembered {
  readonly priceAt: DefaultPrices.PriceAt
  minute: number
  price: ModelPrice | null
}

export const make = Effect.gen(function* () {
  const kept = yield* PriceOverrides
  const clock = yield* Effect.clock
  const defaults = yield* DefaultPrices.load
  const writing = yield* Effect.makeSemaphore(1)
  let overrides = toOverrides(yield* kept.load)
  /** Prices by provider, then model: two look-ups are faster than concatenating a key. */
  const remembered = new Map<string, Map<string, Remembered>>()
  let rememberedInAll = 0
  let patches = 0
  const forgetAll = (): void => {
    remembered.clear()
    rememberedInAll = 0
  }

  let synced: { readonly prices: SyncedPrices; readonly table: Overrides } | null = null

  /** Finds a model's price and its source. */
  const find = (provider: string, model: string) => {
    const names = lookupNames(model)
    const written = firstOf(names, (name) => overrides.get(provider)?.get(name))
    if (written !== null) return { source: "override", priceAt: () => written } as const
    const fetched = firstOf(names, (name) => synced?.table.get(provider)?.get(name))
    if (fetched !== null) return { source: "synced", priceAt: () => fetched } as const
    return { source: "embedded", priceAt: firstOf(names, (name) => defaults.find(provider, name)) ?? unpriced } as const
  }

  const lookUp = (provider: string, model: string): DefaultPrices.PriceAt => find(provider, model).priceAt

  const datedOf = (source: SourcedPrice["source"]): string | null =>
    source === "override"
      ? null
      : source === "synced"
        ? (synced?.prices.fetchedAt.slice(0, 10) ?? null)
        : DefaultPrices.pricesDated

  const sourced = (provider: string, model: string): SourcedPrice | null => {
    if (model.length > maxModelLength) return null
    const { priceAt, source } = find(provider, model)
    const found = priceAt(clock.unsafeCurrentTimeMillis())
    return found === null ? null : { price: found, source, dated: datedOf(source) }
  }

  const useSynced = (prices: SyncedPrices | null): void => {
    synced = prices === null ? null : { prices, table: toOverrides(prices.table) }
    patches += 1
    forgetAll()
  }

  const remember = (provider: string, model: string): Remembered => {
    if (rememberedInAll >= maxRemembered) forgetAll()
    const added = { priceAt: lookUp(provider, model), minute: Number.NaN, price: null }
    const ofProvider = remembered.get(provider)
    if (ofProvider === undefined) remembered.set(provider, new Map([[model, added]]))
    else ofProvider.set(model, added)
    rememberedInAll += 1
    return added
  }

  const price = (provider: string, model: string, nowMs = clock.unsafeCurrentTimeMillis()): ModelPrice | null => {
    if (model.length > maxModelLength) return null
    const minute = Math.floor(nowMs / priceStandsMs)
    const known = remembered.get(provider)?.get(model) ?? remember(provider, model)
    if (known.minute !== minute) {
      known.price = known.priceAt(nowMs)
      known.minute = minute
    }
    return known.price
  }

  const patch = Effect.fn("PriceBook.patch")(function* (table: PricePatch) {
    const next = merge(overrides, table)
    if (size(next) > maxOverrides) return yield* new TooManyPriceOverrides({ limit: maxOverrides })
    const whole = toTable(next)
    yield* kept.save(whole)
    overrides = next
    patches += 1
    forgetAll()
    return whole
  }, writing.withPermits(1))

  const reset = kept.save({}).pipe(
    Effect.zipRight(
      Effect.sync(() => {
        overrides = new Map()
        patches += 1
        forgetAll()
      })
    ),
    writing.withPermits(1)
  )

  return PriceBook.of({
    price,
    edition: (nowMs) => Math.floor(nowMs / priceStandsMs) + patches * 1e9,
    sourced,
    synced: () => synced?.prices ?? null,
    useSynced,
    overrides: Effect.sync(() => toTable(overrides)),
    patch,
    reset,
    pricesDated: DefaultPrices.pricesDated
  })
})

export const layer: Layer.Layer<PriceBook, PriceOverridesUnavailable, PriceOverrides> = Layer.effect(PriceBook, make)

/** Overrides that last as long as the process. */
const layerOverridesMemory: Layer.Layer<PriceOverrides> = Layer.effect(
  PriceOverrides,
  Effect.map(Ref.make<PriceTable>({}), (table) =>
    PriceOverrides.of({ load: Ref.get(table), save: (next) => Ref.set(table, next) })
  )
)

/** A price book without a store. */
export const layerMemory: Layer.Layer<PriceBook, PriceOverridesUnavailable> = Layer.provide(layer, layerOverridesMemory)
