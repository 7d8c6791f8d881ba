/**
 * Limits an upstream's count of tokens to a plausible one: as much as the bytes that the gateway has sent and received can hold. A count beyond
 * that is an error of the upstream, or a fraud: the gateway's own estimate is booked in its place, and the reported count is kept beside it. Pure.
 */
import type { BillingFacts, MediaUnits, ServerToolCounts, TokenCounts } from "../../domain/Usage.ts"
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
  readonly unseenOut: (told: Usage) => number
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

const isBelievedIn = (told: number, seen: Seen): boolean =>
  countOf(told) !== null && (told <= seen.textBytes + addedIn || told <= boundIn(seen))

const isBelievedOut = (told: Usage, seen: Seen): boolean => {
  const visible = seen.visibleChars * tokensPerChar + addedOut
  return countOf(told.out) !== null && (told.out <= visible || told.out <= visible + seen.unseenOut(told))
}

const unitBelieved = (
  name: keyof typeof addedUnits,
  told: number | undefined,
  asked: number | undefined
): number | undefined =>
  told === undefined || asked === undefined || (countOf(told) !== null && told <= asked * unitFactor + addedUnits[name])
    ? told
    : asked

/** The units as they are booked; the same object where all are believed. */
const unitsBelieved = (told: MediaUnits, asked: MediaUnits | null): MediaUnits => {
  if (asked === null) return told
  const searchUnits = unitBelieved("searchUnits", told.searchUnits, asked.searchUnits)
  const characters = unitBelieved("characters", told.characters, asked.characters)
  const seconds = unitBelieved("seconds", told.seconds, asked.seconds)
  const count = unitBelieved("images", told.images?.count, asked.images?.count)
  if (
    searchUnits === told.searchUnits &&
    characters === told.characters &&
    seconds === told.seconds &&
    count === told.images?.count
  ) {
    return told
  }
  return {
    ...(searchUnits === undefined ? {} : { searchUnits }),
    ...(characters === undefined ? {} : { characters }),
    ...(seconds === undefined ? {} : { seconds }),
    ...(told.images === undefined || count === undefined ? {} : { images: { ...told.images, count } })
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
const billingBelieved = (told: BillingFacts, areCounts: boolean, seen: Seen): BillingFacts => {
  if (!areCounts) {
    const { chargedUsd: _charged, modalities: _modalities, tools: _tools, ...terms } = told
    return terms
  }
  if (told.tools === undefined || seen.hasServerTools()) return told
  const tools = toolsBelieved(told.tools)
  return tools === told.tools ? told : { ...told, tools }
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
export const isPlain = (told: Usage, { textBytes, visibleChars }: Pick<Seen, "textBytes" | "visibleChars">): boolean =>
  told.units === undefined &&
  told.billing?.tools === undefined &&
  told.in <= textBytes + addedIn &&
  told.out <= visibleChars * tokensPerChar + addedOut &&
  told.cacheRead >= 0 &&
  told.cacheWrite >= 0 &&
  told.cacheRead + told.cacheWrite <= told.in &&
  told.reasoning >= 0 &&
  told.reasoning <= told.out

/** Returns the counts to book: the same object where all of it is accepted. `estimate`: the gateway's own. */
export const believed = (told: Usage, seen: Seen, estimate: () => TokenCounts): TokenCounts => {
  const isIn = isBelievedIn(told.in, seen)
  const isOut = isBelievedOut(told, seen)
  const units = told.units === undefined ? undefined : unitsBelieved(told.units, seen.units)
  const billing = told.billing === undefined ? undefined : billingBelieved(told.billing, isIn && isOut, seen)
  if (isIn && isOut && units === told.units && billing === told.billing) return consistent(told)
  const own = isIn && isOut ? null : estimate()
  // Parts of a prompt that is not believed are not believed either.
  const ofPrompt = isIn || own === null ? told : { ...told, in: own.in, cacheRead: 0, cacheWrite: 0 }
  if (!isIn) delete (ofPrompt as { cacheWrite1h?: number }).cacheWrite1h
  const ofAnswer = isOut || own === null ? ofPrompt : { ...ofPrompt, out: own.out, reasoning: own.reasoning }
  return consistent({
    ...ofAnswer,
    ...(units === undefined ? {} : { units }),
    ...(billing === undefined ? {} : { billing })
  })
}
