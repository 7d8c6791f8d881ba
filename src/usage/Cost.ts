/** The cost of an answer from its token counts. */
import type { ModelPrice } from "../domain/Pricing.ts"
import { type ImageUnits, type MediaUnits, nanoUsdParts, nanoUsdPerUsd, type TokenCounts } from "../domain/Usage.ts"

/** Counts come from upstreams: anything that is no positive number counts as none. */
const count = (tokens: number): number => (Number.isFinite(tokens) && tokens > 0 ? Math.trunc(tokens) : 0)

/** The same of what is not counted in whole units. */
const duration = (seconds: number): number => (Number.isFinite(seconds) && seconds > 0 ? seconds : 0)

const nanoUsdPerMicroUsd = 1_000

/** What a picture is taken to be where neither the request nor the answer says it: what providers make then. */
const usualSize = "1024x1024"
const usualQualities = ["standard", "auto"] as const

/** USD of one picture, by `<size>/<quality>` or `<size>`; null where the price says nothing of such a picture. */
export const pricePerImage = (
  { quality, size }: Pick<ImageUnits, "size" | "quality">,
  { perImage }: Pick<ModelPrice, "perImage">
): number | null => {
  if (perImage === undefined) return null
  if (typeof perImage === "number") return perImage
  const known = size ?? usualSize
  const keys =
    quality === null ? [known, ...usualQualities.map((usual) => `${known}/${usual}`)] : [`${known}/${quality}`, known]
  for (const key of keys) if (Object.hasOwn(perImage, key)) return perImage[key] ?? null
  return null
}

/** Whether a price says what was used: one of tokens alone says nothing of characters, unless nothing is paid for at all. */
export const isPriced = ({ in: read, out, units }: TokenCounts, price: ModelPrice): boolean => {
  const isFree = price.input === 0 && price.output === 0
  if (units?.images !== undefined) {
    if (price.perImage !== undefined && pricePerImage(units.images, price) !== null) return true
    return isFree ? price.perImage === undefined : read + out > 0
  }
  if (units === undefined || read + out > 0 || isFree) return true
  return (
    (units.characters === undefined || price.perCharacter !== undefined) &&
    (units.searchUnits === undefined || price.perSearchUnit !== undefined) &&
    (units.seconds === undefined || price.perSecond !== undefined)
  )
}

/** What is not counted in tokens, in USD. */
const unitsUsd = ({ characters = 0, images, searchUnits = 0, seconds = 0 }: MediaUnits, price: ModelPrice): number => {
  const { perCharacter = 0, perSearchUnit = 0, perSecond = 0 } = price
  const pictures = images === undefined ? 0 : count(images.count) * (pricePerImage(images, price) ?? 0)
  return (
    count(characters) * perCharacter + count(searchUnits) * perSearchUnit + duration(seconds) * perSecond + pictures
  )
}

/**
 * Cost of one answer in nano-USD, never negative, rounded once, to `nanoUsdParts`. A sum of a few products of doubles is off by less than 1e-15 of
 * itself: less than that rounding for answers of up to 5,000 USD. `in` includes both cache counts, `out` the reasoning. A missing cache price is
 * the input price, a missing price of an hour's cache that of the other cache writes, a missing reasoning price the output price.
 */
export const costNanoUsd = (tokens: TokenCounts, price: ModelPrice): number => {
  const prompt = count(tokens.in)
  const read = Math.min(count(tokens.cacheRead), prompt)
  const written = Math.min(count(tokens.cacheWrite), prompt - read)
  const hour = Math.min(count(tokens.cacheWrite1h ?? 0), written)
  const creation = price.cacheCreation ?? price.input
  const generated = count(tokens.out)
  const reasoning = Math.min(count(tokens.reasoning), generated)
  const microUsd =
    (prompt - read - written) * price.input +
    read * (price.cached ?? price.input) +
    (written - hour) * creation +
    hour * (price.cacheCreation1h ?? creation) +
    (generated - reasoning) * price.output +
    reasoning * (price.reasoning ?? price.output)
  const unitUsd = tokens.units === undefined ? 0 : unitsUsd(tokens.units, price)
  const parts = Math.round(microUsd * (nanoUsdPerMicroUsd * nanoUsdParts) + unitUsd * (nanoUsdPerUsd * nanoUsdParts))
  return Math.min(parts / nanoUsdParts, Number.MAX_SAFE_INTEGER)
}

/** Nano-USD as USD with 10 decimals, the form of the response cost header. Negative amounts are shown as 0. */
export const formatUsd10 = (nanoUsd: number): string => {
  const whole = count(nanoUsd)
  const tenths = BigInt(whole) * 10n + BigInt(Math.round(Math.max(0, nanoUsd - whole) * 10) || 0)
  const digits = tenths.toString().padStart(11, "0")
  return `${digits.slice(0, -10)}.${digits.slice(-10)}`
}

/** Kinds of text that differ in bytes per token. */
export type TextKind = "json" | "prose" | "code" | "cjk"

/** Measured UTF-8 bytes per token. */
const bytesPerToken: Readonly<Record<TextKind, number>> = { json: 2.3, prose: 3.9, code: 4.1, cjk: 3.75 }

/** Estimated tokens of a text from its size in UTF-8 bytes, rounded up. */
export const estimateTokens = (utf8Bytes: number, kind: TextKind = "prose"): number =>
  utf8Bytes > 0 ? Math.ceil(utf8Bytes / bytesPerToken[kind]) : 0
