/** The cost of an answer from its token counts. Exact: integer arithmetic throughout, one rounding at the end. */
import type { ModelPrice } from "../domain/Pricing.ts"
import type { TokenCounts } from "../domain/Usage.ts"

/** A USD price per 1,000,000 tokens in pico-USD per token: prices finer than one millionth of a dollar are rounded. */
const picoUsdPerToken = (usdPer1M: number): bigint => BigInt(Math.round(usdPer1M * 1e6))

/** Counts come from upstreams: anything that is no positive number counts as none. */
const count = (tokens: number): bigint => (Number.isFinite(tokens) && tokens > 0 ? BigInt(Math.trunc(tokens)) : 0n)

const least = (a: bigint, b: bigint): bigint => (a < b ? a : b)

const largest = BigInt(Number.MAX_SAFE_INTEGER)

/**
 * Cost of one answer in integer nano-USD, never negative. `in` includes both cache counts, `out` the reasoning.
 * A missing cache price is the input price, a missing reasoning price the output price.
 */
export const costNanoUsd = (tokens: TokenCounts, price: ModelPrice): number => {
  const prompt = count(tokens.in)
  const read = least(count(tokens.cacheRead), prompt)
  const written = least(count(tokens.cacheWrite), prompt - read)
  const generated = count(tokens.out)
  const reasoning = least(count(tokens.reasoning), generated)
  const pico =
    (prompt - read - written) * picoUsdPerToken(price.input) +
    read * picoUsdPerToken(price.cached ?? price.input) +
    written * picoUsdPerToken(price.cacheCreation ?? price.input) +
    (generated - reasoning) * picoUsdPerToken(price.output) +
    reasoning * picoUsdPerToken(price.reasoning ?? price.output)
  return Number(least((pico + 500n) / 1000n, largest))
}

/** Nano-USD as USD with 10 decimals, the form of the response cost header. Negative amounts are shown as 0. */
export const formatUsd10 = (nanoUsd: number): string => {
  const digits = count(nanoUsd).toString().padStart(10, "0")
  return `${digits.slice(0, -9)}.${digits.slice(-9)}0`
}

/** Kinds of text that differ in bytes per token. */
export type TextKind = "json" | "prose" | "code" | "cjk"

/** Measured UTF-8 bytes per token. */
const bytesPerToken: Readonly<Record<TextKind, number>> = { json: 2.3, prose: 3.9, code: 4.1, cjk: 3.75 }

/** Estimated tokens of a text from its size in UTF-8 bytes, rounded up. */
export const estimateTokens = (utf8Bytes: number, kind: TextKind = "prose"): number =>
  utf8Bytes > 0 ? Math.ceil(utf8Bytes / bytesPerToken[kind]) : 0
