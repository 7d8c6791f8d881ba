/** The cost of an answer from its token counts. */
import type { ModelPrice } from "../../subjects/pricing/entity.ts"
import {
  type ImageUnits,
  type MediaUnits,
  nanoUsdParts,
  nanoUsdPerUsd,
  type ServerToolCounts,
  type TokenCounts
} from "../../contract/domain/Usage.ts"
import { ratesFor } from "./Rates.ts"

/** Counts come from upstreams: anything that is no positive number counts as none. */
const count = (tokens: number): number => (Number.isFinite(tokens) && tokens > 0 ? Math.trunc(tokens) : 0)

/** The same of what is not counted in whole units. */
const duration = (seconds: number): number => (Number.isFinite(seconds) && seconds > 0 ? seconds : 0)

const nanoUsdPerMicroUsd = 1_000

/** Size of a picture where neither the request nor the answer has it: providers make this one then. */
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

/**
 * Checks whether a price covers the media used: one of tokens alone does not cover characters, unless nothing is paid
 * for at all.
 */
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

/** Seconds that are paid: none cost nothing, a few cost as many as are paid at least. */
const paidSeconds = (seconds: number, { minSeconds = 0 }: ModelPrice): number =>
  duration(seconds) === 0 ? 0 : Math.max(duration(seconds), minSeconds)

/** Computes the cost of units that are not tokens, in USD. */
const unitsUsd = ({ characters = 0, images, searchUnits = 0, seconds = 0 }: MediaUnits, price: ModelPrice): number => {
  const { perCharacter = 0, perSearchUnit = 0, perSecond = 0 } = price
  const pictures = images === undefined ? 0 : count(images.count) * (pricePerImage(images, price) ?? 0)
  return (
    count(characters) * perCharacter +
    count(searchUnits) * perSearchUnit +
    paidSeconds(seconds, price) * perSecond +
    pictures
  )
}

/**
 * Computes the cost of the provider's own tools, in USD. Where grounded answers have a price, the searches for them are
 * in it.
 */
const toolsUsd = (
  { codeExecutions = 0, fileSearches = 0, groundedAnswers = 0, webSearches = 0 }: ServerToolCounts,
  { perCodeExecution = 0, perFileSearch = 0, perGroundedAnswer, perWebSearch = 0 }: ModelPrice
): number =>
  (groundedAnswers > 0 && perGroundedAnswer !== undefined
    ? count(groundedAnswers) * perGroundedAnswer
    : count(webSearches) * perWebSearch) +
  count(fileSearches) * perFileSearch +
  count(codeExecutions) * perCodeExecution

/**
 * Tokens of the prompt by price, in micro-USD. The cached tokens of sound, pictures and video are a part of those read
 * from the cache.
 */
const promptMicroUsd = (tokens: TokenCounts, price: ModelPrice): number => {
  const prompt = count(tokens.in)
  const read = Math.min(count(tokens.cacheRead), prompt)
  const written = Math.min(count(tokens.cacheWrite), prompt - read)
  const hour = Math.min(count(tokens.cacheWrite1h ?? 0), written)
  const creation = price.cacheCreation ?? price.input
  const microUsd = (written - hour) * creation + hour * (price.cacheCreation1h ?? creation)
  const cached = price.cached ?? price.input
  const modalities = tokens.billing?.modalities
  if (modalities === undefined) return (prompt - read - written) * price.input + read * cached + microUsd
  let fresh = prompt - read - written
  let kept = read
  let ofModalities = 0
  for (const [inAll, inCache, own, ownCached] of [
    [modalities.audioIn, modalities.audioCached, price.inputAudio, price.cachedAudio],
    [modalities.imageIn, modalities.imageCached, price.inputImage, price.cachedImage],
    [modalities.videoIn, modalities.videoCached, price.inputVideo, price.cachedVideo]
  ] as const) {
    const readOf = Math.min(count(inCache ?? 0), kept)
    const freshOf = Math.min(Math.max(0, count(inAll ?? 0) - count(inCache ?? 0)), fresh)
    kept -= readOf
    fresh -= freshOf
    ofModalities += readOf * (ownCached ?? price.cached ?? own ?? price.input) + freshOf * (own ?? price.input)
  }
  return fresh * price.input + kept * cached + ofModalities + microUsd
}

/** Tokens of the answer by price, in micro-USD. */
const answerMicroUsd = (tokens: TokenCounts, price: ModelPrice): number => {
  const generated = count(tokens.out)
  const reasoning = Math.min(count(tokens.reasoning), generated)
  const thought = reasoning * (price.reasoning ?? price.output)
  const modalities = tokens.billing?.modalities
  if (modalities === undefined) return (generated - reasoning) * price.output + thought
  let rest = generated - reasoning
  let ofModalities = 0
  for (const [all, own] of [
    [modalities.audioOut, price.outputAudio],
    [modalities.imageOut, price.outputImage],
    [modalities.videoOut, price.outputVideo]
  ] as const) {
    const part = Math.min(count(all ?? 0), rest)
    rest -= part
    ofModalities += part * (own ?? price.output)
  }
  const cited = count(modalities.citations ?? 0) * (price.citation ?? 0)
  return rest * price.output + ofModalities + thought + cited
}

/**
 * Cost of one answer in nano-USD, never negative, rounded once, to `nanoUsdParts`. A sum of a few products of doubles is off by less than 1e-15 of
 * itself: less than that rounding for answers of up to 5,000 USD. `in` includes both cache counts, `out` the reasoning. A missing cache price is
 * the input price, a missing price of an hour's cache that of the other cache writes, a missing reasoning price the output price, a missing price
 * of sound, pictures or video that of text. Tools and units have no factor of a service tier.
 */
export const costNanoUsd = (tokens: TokenCounts, price: ModelPrice): number => {
  const rates = ratesFor(price, count(tokens.in), tokens.billing)
  const microUsd = promptMicroUsd(tokens, rates) + answerMicroUsd(tokens, rates)
  const { perRequest = 0 } = price
  const unitUsd =
    (tokens.units === undefined ? 0 : unitsUsd(tokens.units, price)) +
    (tokens.billing?.tools === undefined ? 0 : toolsUsd(tokens.billing.tools, price)) +
    perRequest
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
