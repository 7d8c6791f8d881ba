/**
 * Prices of models: the operator's overrides (`/api/pricing`) first, then the embedded prices. Unknown is null, which
 * means "unpriced", never "free". Local servers and provider nodes have no embedded price, whatever their models are
 * called.
 */
import type * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Ref from "effect/Ref"
import { makeLane } from "../../kernel/Lane.ts"
import type { ModelPrice, PriceTable } from "../../subjects/pricing/entity.ts"
import { Snapshots } from "../../store/Snapshots.ts"
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

/** Prices of all sources, with those that were asked for last. */
class Prices {
  readonly #clock: Clock.Clock
  readonly #defaults: DefaultPrices.DefaultPrices
  #overrides: Overrides
  #synced: { readonly prices: SyncedPrices; readonly table: Overrides } | null = null
  /** Prices by provider, then model: two look-ups are faster than concatenating a key. */
  readonly #remembered = new Map<string, Map<string, Remembered>>()
  #rememberedInAll = 0
  #patches = 0

  constructor(clock: Clock.Clock, defaults: DefaultPrices.DefaultPrices, overrides: Overrides) {
    this.#clock = clock
    this.#defaults = defaults
    this.#overrides = overrides
  }

  readonly price = (
    provider: string,
    model: string,
    nowMs = this.#clock.unsafeCurrentTimeMillis()
  ): ModelPrice | null => {
    if (model.length > maxModelLength) return null
    const minute = Math.floor(nowMs / priceStandsMs)
    const known = this.#remembered.get(provider)?.get(model) ?? this.#remember(provider, model)
    if (known.minute !== minute) {
      known.price = known.priceAt(nowMs)
      known.minute = minute
    }
    return known.price
  }

  readonly edition = (nowMs: number): number => Math.floor(nowMs / priceStandsMs) + this.#patches * 1e9

  readonly sourced = (provider: string, model: string): SourcedPrice | null => {
    if (model.length > maxModelLength) return null
    const { priceAt, source } = this.#find(provider, model)
    const found = priceAt(this.#clock.unsafeCurrentTimeMillis())
    return found === null ? null : { price: found, source, dated: this.#datedOf(source) }
  }

  readonly synced = (): SyncedPrices | null => this.#synced?.prices ?? null

  readonly useSynced = (prices: SyncedPrices | null): void => {
    this.#synced = prices === null ? null : { prices, table: toOverrides(prices.table) }
    this.#changed()
  }

  get overrides(): Overrides {
    return this.#overrides
  }

  useOverrides(overrides: Overrides): void {
    this.#overrides = overrides
    this.#changed()
  }

  /** Finds a model's price and its source. */
  #find(
    provider: string,
    model: string
  ): { readonly source: SourcedPrice["source"]; readonly priceAt: DefaultPrices.PriceAt } {
    const names = lookupNames(model)
    const written = firstOf(names, (name) => this.#overrides.get(provider)?.get(name))
    if (written !== null) return { source: "override", priceAt: () => written }
    const fetched = firstOf(names, (name) => this.#synced?.table.get(provider)?.get(name))
    if (fetched !== null) return { source: "synced", priceAt: () => fetched }
    return { source: "embedded", priceAt: firstOf(names, (name) => this.#defaults.find(provider, name)) ?? unpriced }
  }

  #datedOf(source: SourcedPrice["source"]): string | null {
    if (source === "override") return null
    return source === "synced" ? (this.#synced?.prices.fetchedAt.slice(0, 10) ?? null) : DefaultPrices.pricesDated
  }

  #remember(provider: string, model: string): Remembered {
    if (this.#rememberedInAll >= maxRemembered) this.#forgetAll()
    const added = { priceAt: this.#find(provider, model).priceAt, minute: Number.NaN, price: null }
    const ofProvider = this.#remembered.get(provider)
    if (ofProvider === undefined) this.#remembered.set(provider, new Map([[model, added]]))
    else ofProvider.set(model, added)
    this.#rememberedInAll += 1
    return added
  }

  #changed(): void {
    this.#patches += 1
    this.#forgetAll()
  }

  #forgetAll(): void {
    this.#remembered.clear()
    this.#rememberedInAll = 0
  }
}

export const make = Effect.gen(function* () {
  const kept = yield* PriceOverrides
  const clock = yield* Effect.clock
  const defaults = yield* DefaultPrices.load
  const writing = makeLane(1)
  const prices = new Prices(clock, defaults, toOverrides(yield* kept.load))
  yield* (yield* Snapshots).register(["settings/pricing"], () =>
    Effect.matchEffect(kept.load, {
      onSuccess: (table) => Effect.sync(() => prices.useOverrides(toOverrides(table))),
      onFailure: ({ operation }) =>
        Effect.logError(`The prices of the operator could not be read again (${operation}).`)
    }).pipe(writing.inTurn)
  )

  const patch = Effect.fn("PriceBook.patch")(function* (table: PricePatch) {
    const next = merge(prices.overrides, table)
    if (size(next) > maxOverrides) return yield* new TooManyPriceOverrides({ limit: maxOverrides })
    const whole = toTable(next)
    yield* kept.save(whole)
    prices.useOverrides(next)
    return whole
  }, writing.inTurn)

  const reset = kept.save({}).pipe(Effect.zipRight(Effect.sync(() => prices.useOverrides(new Map()))), writing.inTurn)

  return PriceBook.of({
    price: prices.price,
    edition: prices.edition,
    sourced: prices.sourced,
    synced: prices.synced,
    useSynced: prices.useSynced,
    overrides: Effect.sync(() => toTable(prices.overrides)),
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
