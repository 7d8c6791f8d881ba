/**
 * The prices of tokens that hold for one answer: those of its prompt's length, and of the service tier, speed and place that it names. Pure.
 */
import {
  type ModelPrice,
  type PriceTerms,
  type PriceTier,
  type TokenPriceName,
  tokenPriceNames
} from "../../subjects/pricing/entity.ts"
import type { AnswerTerms } from "../../contract/domain/Usage.ts"

type Rates = Pick<ModelPrice, TokenPriceName>

const noTerms: AnswerTerms = {}

/** Hot: checks whether a price has conditions besides numbers. */
const isConditional = ({ geos, serviceTiers, speeds, tiers }: ModelPrice): boolean =>
  tiers !== undefined || serviceTiers !== undefined || speeds !== undefined || geos !== undefined

/** A prompt of exactly the limit is below it. A tier says what changes against the one before. */
const atLength = (rates: Rates, tiers: ReadonlyArray<PriceTier> | undefined, promptTokens: number): Rates => {
  if (tiers === undefined) return rates
  const found = { ...rates }
  for (const { above, ...prices } of tiers) if (promptTokens > above) Object.assign(found, prices)
  return found
}

/** All prices of tokens multiplied. */
export const multiplied = <A extends Partial<Rates>>(rates: A, factor: number): A => {
  const prices: Record<string, unknown> = { ...rates }
  for (const name of tokenPriceNames) {
    const price = prices[name]
    if (typeof price === "number") prices[name] = price * factor
  }
  return prices as A
}

const under = (rates: Rates, terms: PriceTerms | undefined, promptTokens: number): Rates => {
  if (terms === undefined) return rates
  const { factor, tiers, ...prices } = terms
  const scaled = factor === undefined ? rates : multiplied(rates, factor)
  return atLength({ ...scaled, ...prices }, tiers, promptTokens)
}

const named = (terms: ModelPrice["serviceTiers"], name: string | undefined): PriceTerms | undefined =>
  terms === undefined || name === undefined || !Object.hasOwn(terms, name) ? undefined : terms[name]

const worked = (
  { geos, serviceTiers, speeds, tiers, ...price }: ModelPrice,
  promptTokens: number,
  answer: AnswerTerms
) => {
  const standard = atLength(price, tiers, promptTokens)
  const ofTier = under(standard, named(serviceTiers, answer.serviceTier), promptTokens)
  const ofSpeed = under(ofTier, named(speeds, answer.speed), promptTokens)
  return { ...price, ...under(ofSpeed, named(geos, answer.geo), promptTokens) }
}

const lengthsOf = ({ geos, serviceTiers, speeds, tiers }: ModelPrice): ReadonlyArray<number> => [
  ...new Set(
    [tiers, ...[serviceTiers, speeds, geos].flatMap((terms) => Object.values(terms ?? {}).map((each) => each.tiers))]
      .flatMap((each) => each ?? [])
      .map(({ above }) => above)
  )
]

/** The numbers of a price that hold for answers of one kind; there are few kinds. */
interface Worked {
  readonly lengths: ReadonlyArray<number>
  readonly byKind: Map<string, ModelPrice>
}

const known = new WeakMap<ModelPrice, Worked>()
const mostKinds = 256

/** Hot: the price as plain numbers; the same object for all answers of the same kind. */
export const ratesFor = (price: ModelPrice, promptTokens: number, answer: AnswerTerms = noTerms): ModelPrice => {
  if (!isConditional(price)) return price
  let found = known.get(price)
  if (found === undefined || found.byKind.size >= mostKinds) {
    found = { lengths: lengthsOf(price), byKind: new Map() }
    known.set(price, found)
  }
  let passed = 0
  for (const above of found.lengths) if (promptTokens > above) passed += 1
  const { geo = "", serviceTier = "", speed = "" } = answer
  const kind = `${passed} ${serviceTier} ${speed} ${geo}`
  const before = found.byKind.get(kind)
  if (before !== undefined) return before
  const rates = worked(price, promptTokens, answer)
  found.byKind.set(kind, rates)
  return rates
}

/** All that an answer may be asked for at: the standard terms, and each that the price has. */
export const allRates = (price: ModelPrice, promptTokens: number): ReadonlyArray<ModelPrice> => {
  const names = (terms: ModelPrice["geos"]): ReadonlyArray<string | undefined> => [
    undefined,
    ...Object.keys(terms ?? {})
  ]
  return names(price.serviceTiers).flatMap((serviceTier) =>
    names(price.speeds).flatMap((speed) =>
      names(price.geos).map((geo) =>
        worked(price, promptTokens, {
          ...(serviceTier === undefined ? {} : { serviceTier }),
          ...(speed === undefined ? {} : { speed }),
          ...(geo === undefined ? {} : { geo })
        })
      )
    )
  )
}

/** Terms that the answer names and the price does not know. */
export const unknownTerms = (price: ModelPrice, { geo, serviceTier, speed }: AnswerTerms): ReadonlyArray<string> =>
  (
    [
      ["serviceTier", serviceTier, price.serviceTiers],
      ["speed", speed, price.speeds],
      ["geo", geo, price.geos]
    ] as const
  ).flatMap(([kind, name, terms]) =>
    name === undefined || named(terms, name) !== undefined ? [] : [`${kind}:${name}`]
  )
