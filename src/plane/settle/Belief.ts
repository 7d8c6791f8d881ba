/**
 * Limits an upstream's count of tokens to a plausible one: as much as the bytes that the gateway has sent and received can hold. A count beyond
 * that is an error of the upstream, or a fraud: the gateway's own estimate is booked in its place, and the reported count is kept beside it. Pure.
 */
import type { BillingFacts, MediaUnits, ServerToolCounts, TokenCounts } from "../../contract/domain/Usage.ts"
import type { Usage } from "../../wire/canonical/Usage.ts"

/** Measures of a call by the gateway itself. */
export interface Seen {
  /** Bytes of the request that are no files and no pictures. */
  readonly textBytes: number
  /** Counts the prompt; asked for when the bytes alone do not explain the reported count. */
  readonly estimatedIn: () => number
  /** Tokens that can come from beyond the request (files by reference, earlier answers, searches of the provider); 0 where nothing is named. */
  readonly tokensElsewhere: () => number
  /** Characters of the answer: text, arguments of calls, reasoning that is shown. */
  readonly visibleChars: number
  /** Tokens that an answer can take without being seen (reasoning, sound, pictures); 0 where none can. */
  readonly unseenOut: (reported: Usage) => number
  /** Checks whether the request or its model has tools that the provider runs by itself. */
  readonly hasServerTools: () => boolean
  /** Units that the request asks for; null: none. */
  readonly units: MediaUnits | null
}

/** Tokens that templates, tools and a provider's own instructions may add to a prompt. */
const addedIn = 4_096
/** The gateway's estimate is never off by more. */
const estimateFactor = 4
/** A character of any script is at most so many tokens. */
const tokensPerChar = 4
/** Tokens that an answer may have besides its text. */
const addedOut = 1_024

/** Units are known from the request; providers round up, and have a least amount. */
const unitFactor = 4
const addedUnits: Readonly<Record<"searchUnits" | "characters" | "seconds" | "images", number>> = {
  searchUnits: 10,
  characters: 1_024,
  seconds: 60,
  images: 4
}

/** Null: no count at all. */
const countOf = (count: number): number | null => (Number.isFinite(count) && count >= 0 ? count : null)

const boundIn = (seen: Seen): number => {
  const ofEstimate = seen.estimatedIn() * estimateFactor + addedIn
  return Math.max(ofEstimate, seen.tokensElsewhere())
}

const isBelievedIn = (reported: number, seen: Seen): boolean =>
  countOf(reported) !== null && (reported <= seen.textBytes + addedIn || reported <= boundIn(seen))

const isBelievedOut = (reported: Usage, seen: Seen): boolean => {
  const visible = seen.visibleChars * tokensPerChar + addedOut
  return (
    countOf(reported.out) !== null && (reported.out <= visible || reported.out <= visible + seen.unseenOut(reported))
  )
}

const unitBelieved = (
  name: keyof typeof addedUnits,
  reported: number | undefined,
  asked: number | undefined
): number | undefined =>
  reported === undefined ||
  asked === undefined ||
  (countOf(reported) !== null && reported <= asked * unitFactor + addedUnits[name])
    ? reported
    : asked

/** The units as they are booked; the same object where all are believed. */
const unitsBelieved = (reported: MediaUnits, asked: MediaUnits | null): MediaUnits => {
  if (asked === null) return reported
  const searchUnits = unitBelieved("searchUnits", reported.searchUnits, asked.searchUnits)
  const characters = unitBelieved("characters", reported.characters, asked.characters)
  const seconds = unitBelieved("seconds", reported.seconds, asked.seconds)
  const count = unitBelieved("images", reported.images?.count, asked.images?.count)
  if (
    searchUnits === reported.searchUnits &&
    characters === reported.characters &&
    seconds === reported.seconds &&
    count === reported.images?.count
  ) {
    return reported
  }
  return {
    ...(searchUnits === undefined ? {} : { searchUnits }),
    ...(characters === undefined ? {} : { characters }),
    ...(seconds === undefined ? {} : { seconds }),
    ...(reported.images === undefined || count === undefined ? {} : { images: { ...reported.images, count } })
  }
}

/** Uses of a provider's own tools, where nothing in the request speaks of any. */
const unaskedTools = 10

const toolsBelieved = (tools: ServerToolCounts): ServerToolCounts =>
  Object.values(tools).every((count) => count <= unaskedTools)
    ? tools
    : Object.fromEntries(Object.entries(tools).map(([name, count]) => [name, Math.min(count, unaskedTools)]))

/**
 * Returns the facts that are booked besides the counts; for counts that are not accepted, only how the answer was made.
 */
const billingBelieved = (reported: BillingFacts, areCounts: boolean, seen: Seen): BillingFacts => {
  if (!areCounts) {
    const { chargedUsd: _charged, modalities: _modalities, tools: _tools, ...terms } = reported
    return terms
  }
  if (reported.tools === undefined || seen.hasServerTools()) return reported
  const tools = toolsBelieved(reported.tools)
  return tools === reported.tools ? reported : { ...reported, tools }
}

/** Parts within their wholes. */
const consistent = (tokens: TokenCounts): TokenCounts => {
  const cacheRead = Math.min(countOf(tokens.cacheRead) ?? 0, tokens.in)
  const cacheWrite = Math.min(countOf(tokens.cacheWrite) ?? 0, tokens.in - cacheRead)
  const reasoning = Math.min(countOf(tokens.reasoning) ?? 0, tokens.out)
  return cacheRead === tokens.cacheRead && cacheWrite === tokens.cacheWrite && reasoning === tokens.reasoning
    ? tokens
    : { ...tokens, cacheRead, cacheWrite, reasoning }
}

/**
 * Hot: checks whether a count is within what its bytes and characters alone explain, parts within their wholes, so that `believed` would give it
 * back as it is. Nearly all counts are.
 */
export const isPlain = (
  reported: Usage,
  { textBytes, visibleChars }: Pick<Seen, "textBytes" | "visibleChars">
): boolean =>
  reported.units === undefined &&
  reported.billing?.tools === undefined &&
  reported.in <= textBytes + addedIn &&
  reported.out <= visibleChars * tokensPerChar + addedOut &&
  reported.cacheRead >= 0 &&
  reported.cacheWrite >= 0 &&
  reported.cacheRead + reported.cacheWrite <= reported.in &&
  reported.reasoning >= 0 &&
  reported.reasoning <= reported.out

/** Returns the counts to book: the same object where all of it is accepted. `estimate`: the gateway's own. */
export const believed = (reported: Usage, seen: Seen, estimate: () => TokenCounts): TokenCounts => {
  const isIn = isBelievedIn(reported.in, seen)
  const isOut = isBelievedOut(reported, seen)
  const units = reported.units === undefined ? undefined : unitsBelieved(reported.units, seen.units)
  const billing = reported.billing === undefined ? undefined : billingBelieved(reported.billing, isIn && isOut, seen)
  if (isIn && isOut && units === reported.units && billing === reported.billing) return consistent(reported)
  const own = isIn && isOut ? null : estimate()
  // Parts of a prompt that is not believed are not believed either.
  const ofPrompt = isIn || own === null ? reported : { ...reported, in: own.in, cacheRead: 0, cacheWrite: 0 }
  if (!isIn) delete (ofPrompt as { cacheWrite1h?: number }).cacheWrite1h
  const ofAnswer = isOut || own === null ? ofPrompt : { ...ofPrompt, out: own.out, reasoning: own.reasoning }
  return consistent({
    ...ofAnswer,
    ...(units === undefined ? {} : { units }),
    ...(billing === undefined ? {} : { billing })
  })
}
