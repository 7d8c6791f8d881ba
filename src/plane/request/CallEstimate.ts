/** Estimates the most that a call may cost, for the limits of a key. Pure. */
import type { ModelPrice } from "../../subjects/pricing/entity.ts"
import type { CallEstimate } from "../ledger/KeyAccount.ts"
import { nanoUsdPerUsd } from "../../contract/domain/Usage.ts"
import { costNanoUsd } from "../../observe/usage/Cost.ts"
import { allRates } from "../../observe/usage/Rates.ts"
import { isArray, numberOr, objectOr, optional } from "../../wire/json/Json.ts"
import type { Work } from "./Exchange.ts"
import { promptTokens } from "./PromptTokens.ts"

/** Output tokens that are reserved where the client sets no limit; models' own limits are far above what answers take. */
export const defaultOutputTokens = 4_096

/** Largest body, in bytes, that is estimated by its size: reading its texts costs more than it gains. */
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

/**
 * Time for which a prompt's part is kept in the cache
 * (https://platform.claude.com/docs/en/build-with-claude/prompt-caching).
 */
const anHour = '"1h"'

/** The provider counts a prompt by its own tokeniser: a tier that is so near may be reached. */
const tierMargin = 1.25

type Kind = "Audio" | "Image" | "Video"

/** Checks whether the request mentions a kind of media at all, in whatever wire: it may then be paid as such. */
const speaksOf = (body: Buffer, kind: Kind): boolean =>
  body.includes(kind.toLowerCase()) || body.includes(kind.toUpperCase()) || body.includes(kind)

/** The highest price that tokens of one side can have. */
const dearest = (body: Buffer, rates: ModelPrice, side: "input" | "output", others: ReadonlyArray<number>): number => {
  const ofMedia = (["Audio", "Image", "Video"] as const).map((kind) => {
    const price = rates[`${side}${kind}`]
    return price !== undefined && price > rates[side] && speaksOf(body, kind) ? price : 0
  })
  return Math.max(rates[side], ...others, ...ofMedia)
}

/** The terms that the request names: the answer may have been made under them, or under the standard ones. */
const namedTerms = ({ body }: Work, price: ModelPrice): ModelPrice => {
  const only = (terms: ModelPrice["geos"]): ModelPrice["geos"] =>
    terms === undefined
      ? undefined
      : Object.fromEntries(
          Object.entries(terms).filter(([name]) => body.includes(name) || body.includes(name.toUpperCase()))
        )
  const { geos, serviceTiers, speeds, ...rest } = price
  return {
    ...rest,
    ...optional("serviceTiers", only(serviceTiers) ?? null),
    ...optional("speeds", only(speeds) ?? null),
    ...optional("geos", only(geos) ?? null)
  }
}

/** All lengths that the prompt may turn out to have. */
const reachable = (work: Work, tokensIn: number, price: ModelPrice): ReadonlyArray<ModelPrice> => {
  const { geos, serviceTiers, speeds, tiers } = price
  if (tiers === undefined && serviceTiers === undefined && speeds === undefined && geos === undefined) return [price]
  const named = namedTerms(work, price)
  return [0, tokensIn * tierMargin].flatMap((length) => allRates(named, length))
}

/** Every token at the highest price it can have: of the longest prompt, written to the cache, part of the reasoning, under the dearest terms. */
const mostNanoUsd = (work: Work, tokensIn: number, tokensOut: number, price: ModelPrice): number => {
  const isForAnHour = work.body.includes(anHour)
  const most = reachable(work, tokensIn, price).map((rates) => {
    const creation = (isForAnHour ? rates.cacheCreation1h : undefined) ?? rates.cacheCreation ?? 0
    const read = dearest(work.body, rates, "input", [creation])
    return tokensIn * read + tokensOut * dearest(work.body, rates, "output", [rates.reasoning ?? 0])
  })
  return Math.ceil(Math.max(...most) * nanoUsdPerToken)
}

/** Searches that are reserved where the client sets no limit. */
const usualSearches = 5
const mostSearches = 100
const searchTools = ['"web_search', '"google_search', '"googleSearch']

const searchesOf = ({ body, parsed }: Work): number => {
  if (!searchTools.some((name) => body.includes(name))) return 0
  const tools = isArray(parsed["tools"]) ? parsed["tools"] : []
  const limits = tools.flatMap((tool) => numberOr(objectOr(tool)["max_uses"]) ?? [])
  return Math.min(mostSearches, Math.max(0, ...(limits.length === 0 ? [usualSearches] : limits)))
}

/** Computes the part of the cost that is not counted in tokens. */
const unitsNanoUsd = (work: Work, price: ModelPrice): number => {
  const { perGroundedAnswer = 0, perRequest = 0, perWebSearch = 0 } = price
  const usage = work.exchange.codec.mediaUsage?.(work.asked)
  const perSearch = Math.max(perGroundedAnswer, perWebSearch)
  const searches = perSearch === 0 ? 0 : searchesOf(work) * perSearch
  // A price of one answer is in the cost of its units already.
  const others = searches + (usage === undefined ? perRequest : 0)
  return Math.ceil((usage === undefined ? 0 : costNanoUsd(usage, price)) + others * nanoUsdPerUsd)
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
