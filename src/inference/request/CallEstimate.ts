/** What a call may cost at most, for the limits of a key. Pure. */
import type { ModelPrice } from "../../domain/Pricing.ts"
import type { CallEstimate } from "../../ledger/KeyAccount.ts"
import { costNanoUsd } from "../../usage/Cost.ts"
import type { Work } from "./Exchange.ts"
import { promptTokens } from "./PromptTokens.ts"

/** Output tokens that are reserved where the client sets no limit; models' own limits are far above what answers take. */
export const defaultOutputTokens = 4_096

/** Bodies up to this size are estimated by their bytes: reading their texts costs more than it tells. */
const smallBodyBytes = 8_192
/** Few bytes, so that texts in any script and the JSON around them are covered. */
const bytesPerToken = 3

const tokensOfBytes = (bytes: number): number => Math.ceil(bytes / bytesPerToken)

/** Tokens of the prompt, rather more than fewer; with the summary that another account would be given. */
export const estimatedPrompt = (work: Work): number =>
  bodyTokens(work) + (work.handoff === undefined ? 0 : tokensOfBytes(Buffer.byteLength(work.handoff.text)))

const bodyTokens = (work: Work): number =>
  work.body.length <= smallBodyBytes
    ? tokensOfBytes(work.body.length)
    : promptTokens(
        { ...work, plain: work.exchange.codec.plainPrompt?.(work.parsed) ?? null },
        work.envelope.model,
        work.textTokens ?? null
      )

const estimatedOutput = ({ envelope, exchange, outputCap }: Work): number => {
  if (exchange.codec.endpoint !== undefined) return 0
  const asked = envelope.maxOutputTokens ?? defaultOutputTokens
  return (outputCap === null ? asked : Math.min(asked, outputCap)) * Math.max(1, envelope.candidates)
}

/** USD per 1,000,000 tokens in nano-USD per token. */
const nanoUsdPerToken = 1_000

/** How long a prompt's part is kept in the cache (https://platform.claude.com/docs/en/build-with-claude/prompt-caching). */
const anHour = '"1h"'

/** Every token at the highest price it can have: written to the cache, or part of the reasoning. */
const mostNanoUsd = (work: Work, tokensIn: number, tokensOut: number, price: ModelPrice): number => {
  const { cacheCreation1h, input, output, reasoning = 0 } = price
  const isForAnHour = cacheCreation1h !== undefined && work.body.includes(anHour)
  const cacheCreation = (isForAnHour ? cacheCreation1h : price.cacheCreation) ?? 0
  return Math.ceil(
    (tokensIn * Math.max(input, cacheCreation) + tokensOut * Math.max(output, reasoning)) * nanoUsdPerToken
  )
}

/** What is not counted in tokens. */
const unitsNanoUsd = ({ asked, exchange }: Work, price: ModelPrice): number => {
  const usage = exchange.codec.mediaUsage?.(asked)
  return usage === undefined ? 0 : Math.ceil(costNanoUsd(usage, price))
}

/** `tokensIn`: of `estimatedPrompt`. */
export const estimateOf = (work: Work, tokensIn: number, price: ModelPrice | null): CallEstimate => {
  const tokensOut = estimatedOutput(work)
  return {
    nanoUsd: price === null ? 0 : mostNanoUsd(work, tokensIn, tokensOut, price) + unitsNanoUsd(work, price),
    tokens: tokensIn + tokensOut,
    tokensIn,
    tokensOut,
    price
  }
}
