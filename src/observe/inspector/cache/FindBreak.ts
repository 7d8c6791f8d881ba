/**
 * Decides whether the provider's prompt cache gave what it should have, and if not, why. Expected is the part of the earlier call's cached prompt
 * that this call of its conversation sends again, and at least the longest prefix that any earlier call of the same account and model has left
 * there. A break is reported when the provider reports clearly less, or when the prompt no longer begins as the conversation's own. Pure.
 */
import type { ModelPrice } from "../../../subjects/pricing/entity.ts"
import { nanoUsdPerUsd } from "../../../contract/domain/Usage.ts"
import { costNanoUsd } from "../../usage/Cost.ts"
import type { CacheCause, CacheFinding, CacheVerdict, ReportedTokens } from "./CacheCall.ts"
import type { ReadCall } from "./CacheHistory.ts"
import { changedPrompt, type Compared, expired, missed, movedMark, otherCache, otherParameter } from "./Cause.ts"
import { type Overlap, overlapOf } from "./Overlap.ts"
import type { Predecessor } from "./Predecessor.ts"
import { type PrefixTokens, prefixTokens } from "./PrefixTokens.ts"
import { type Readable, readable } from "./Readable.ts"
import { keptBeforeReasoning } from "./Reasoning.ts"

const noTokens: ReportedTokens = { in: 0, cacheRead: 0, cacheWrite: 0 }

/** Tokens that are no loss, whatever was expected. */
const slackTokens = 64
/** Share of what was expected that may be missing: counts of the provider's own, and estimates. */
const countedSlack = 0.02
const estimatedSlack = 0.12
/** Share of what was expected below which the cache counts as broken as a whole. */
const brokenShare = 0.1

/** Everything the judgement rests on, in tokens. */
interface Evidence {
  readonly read: ReadCall
  readonly compared: Compared | null
  readonly tokens: PrefixTokens
  readonly readable: Readable
  /** The prefix that is in the cache and asked for. */
  readonly reached: number
  /** Tokens that the provider read; null when it does not report them. */
  readonly reported: number | null
  readonly expected: number
  /** The same without what may be missing, as reasoning was dropped. */
  readonly least: number
  readonly tolerance: number
}

const overlapOfSent = ({ client, predecessor, sent }: ReadCall): Overlap | null => {
  if (predecessor === null) return null
  const { call, overlap } = predecessor
  return client === sent && call.client === call.sent && call.sent.cachedDepth === call.sent.end.depth
    ? overlap
    : overlapOf(call.sent, sent.path)
}

/** The prefix in the cache that ends at this depth or before it. */
const reachedWithin = ({ call, policy, scope, sent }: ReadCall, depth: number): number =>
  readable(sent.path.slice(0, depth), scope, call.atMs, sent.prompt.marks, policy).reached

/** Computes the tokens that the client sends again, whatever they were converted to for another model or account. */
const saidAgain = ({ client }: ReadCall, { overlap }: Predecessor, total: number): number => {
  const all = client.path.at(-1)?.sum ?? 0
  return all === 0 ? 0 : ((overlap.last.sum + overlap.again + overlap.alike) / all) * total
}

/** Computes the least that can be expected where reasoning was dropped: the parts behind it are read anew. */
const leastOf = (
  read: ReadCall,
  { call, overlap }: Predecessor,
  { expected, reached, tokens }: Pick<Evidence, "expected" | "reached" | "tokens">
): number => {
  const depth = keptBeforeReasoning(call.sent, read.sent.prompt)
  if (depth >= read.sent.path.length) return expected
  if (overlap.tail.length === 0) return Math.min(expected, tokens.at(reachedWithin(read, depth)))
  let node = call.sent.end
  while (node.parent !== null && node.depth > depth) node = node.parent
  return Math.min(expected, Math.max(reached, expected - (call.sent.end.sum - node.sum) * tokens.scale))
}

const evidenceOf = (read: ReadCall): Evidence => {
  const { call, isReporting, policy, predecessor, scope, sent } = read
  const { reported } = call
  const tokens = prefixTokens(sent.path, scope, reported === null || reported.in <= 0 ? null : reported.in)
  const found = readable(sent.path, scope, call.atMs, sent.prompt.marks, policy)
  const reached = tokens.at(found.reached)
  const overlap = overlapOfSent(read)
  const isKnown = reported !== null && policy.reads !== "silent" && (isReporting || reported.cacheRead > 0)
  const counts = { read, tokens, readable: found, reached, reported: isKnown ? reported.cacheRead : null }
  const toleranceOf = (expected: number, isCounted: boolean): number =>
    policy.stepTokens + slackTokens + expected * (isCounted ? countedSlack : estimatedSlack)
  if (predecessor === null || overlap === null) {
    const tolerance = toleranceOf(reached, tokens.isCounted(found.reached))
    return { ...counts, compared: null, expected: reached, least: reached, tolerance }
  }
  const earlier = predecessor.call
  const shared = Math.min(overlap.shared, earlier.sent.cachedDepth)
  const again = (overlap.again + (overlap.shared < earlier.sent.cachedDepth ? overlap.alike : 0)) * tokens.scale
  const own = earlier.scope === scope ? tokens.at(shared) + again : saidAgain(read, predecessor, tokens.total)
  const expected = Math.min(Math.max(own, reached), tokens.total)
  const least = leastOf(read, { call: earlier, overlap }, { expected, reached, tokens })
  const isCounted = again === 0 && tokens.isCounted(own >= reached ? shared : found.reached)
  const compared = { read, earlier, client: predecessor.overlap, sent: overlap }
  return { ...counts, compared, expected, least, tolerance: toleranceOf(expected, isCounted) }
}

/** Finds the time until which the cache kept the earlier call's prefix; null: nothing was cached. */
const keptUntil = ({ earlier }: Compared): { readonly untilMs: number; readonly ttlMs: number } | null => {
  let node = earlier.sent.end
  while (node.parent !== null && node.depth > earlier.sent.cachedDepth) node = node.parent
  const state = node.states.find(({ isWritten, scope }) => isWritten && scope === earlier.scope)
  return state === undefined ? null : state
}

/** A conversation that begins may ask in another way than those before it, and another way of asking may be another cache. */
const isAskedAlike = ({ read, readable: { reached } }: Evidence): boolean => {
  const earlier = read.byId(read.sent.path[reached - 1]?.lastCall ?? null)
  return earlier !== undefined && otherParameter({ earlier, read }) === null
}

/** Null: nothing explains it. The order is that of what makes all else not matter. */
const causeOf = (evidence: Evidence): CacheCause | null => {
  const { compared, read, readable: found, reported, tokens, tolerance, expected } = evidence
  if (compared === null) return reported === null || !isAskedAlike(evidence) ? null : missed
  const { call, policy } = read
  const kept = keptUntil(compared)
  const since = call.atMs - compared.earlier.atMs
  const isExpired = kept !== null && call.atMs > kept.untilMs
  const hasRead = reported ?? evidence.reached
  // Where something was still read, time is not what took the rest.
  if (isExpired && reported !== null && hasRead < Math.max(policy.minTokens, expected * brokenShare)) {
    return expired(kept.ttlMs, since)
  }
  const other = otherCache(call, compared.earlier) ?? changedPrompt(compared)
  if (other !== null) return other
  if (reported === null) return null
  if (isExpired) return expired(kept.ttlMs, since)
  if (policy.writes === "marks" && tokens.at(found.alive) - evidence.reached > tolerance) return movedMark(compared)
  return otherParameter(compared) ?? missed
}

/** Computes the cost of lost tokens above the price of cached ones. */
const lossUsd = (reported: ReportedTokens, lost: number, price: ModelPrice | null): number | null => {
  if (price === null) return null
  const cost = (cacheRead: number, cacheWrite: number): number =>
    costNanoUsd({ in: reported.in, out: 0, reasoning: 0, cacheRead, cacheWrite }, price)
  const { cacheRead, cacheWrite } = reported
  const lostNanoUsd = cost(cacheRead, cacheWrite) - cost(cacheRead + lost, Math.max(0, cacheWrite - lost))
  return Math.max(0, lostNanoUsd) / nanoUsdPerUsd
}

/** The verdict of a call without a break. */
const unbroken = ({ compared, expected, read, reported, tokens }: Evidence): CacheVerdict => {
  if ((read.call.reported?.cacheRead ?? 0) > 0) return "hit"
  const { minTokens, writes } = read.policy
  if (tokens.total < minTokens) return "too_short"
  if (expected >= minTokens) return reported === null ? "unknown" : "hit"
  if (compared === null) return "first"
  // A request that marks nothing asks for no cache.
  return writes === "marks" && compared.earlier.sent.cachedDepth === 0 ? "unknown" : "too_short"
}

/** A read that is this little below the least size proves nothing: sizes are estimates. */
const isLongEnough = ({ expected, read, tokens }: Evidence): boolean => {
  const least = read.policy.minTokens
  return expected >= (tokens.isCounted(read.sent.path.length) ? least + slackTokens : least * (1 + estimatedSlack))
}

/** The prompt has left the path of its conversation, though nothing that comes again was read anew. */
const hasLeft = ({ compared, reported, expected, tolerance }: Evidence): boolean => {
  if (compared === null || reported === null) return false
  const { earlier, sent } = compared
  return (
    earlier.sent.cachedDepth > sent.shared &&
    earlier.sent.end.sum - sent.last.sum > tolerance &&
    reported < expected + tolerance
  )
}

/** `priceOf`: the price of the called model at the time of the call; null when unknown. */
export const findBreak = (read: ReadCall, price: ModelPrice | null): CacheFinding => {
  const evidence = evidenceOf(read)
  const { compared, expected, least, reported, tolerance } = evidence
  const { call, sent } = read
  const tokens = call.reported ?? noTokens
  const comparedWith = compared?.earlier.id ?? sent.path[evidence.readable.reached - 1]?.lastCall ?? null
  const found = { comparedWith, expectedTokens: Math.round(expected), tokens }
  const whole: CacheFinding = { ...found, verdict: unbroken(evidence), cause: null, lostTokens: 0, lostUsd: null }
  if (sent.prompt.isContinued || (reported === null && !isStructural(read))) {
    return sent.prompt.isContinued ? { ...whole, verdict: tokens.cacheRead > 0 ? "hit" : "unknown" } : whole
  }
  if (!isLongEnough(evidence)) return whole
  const hasRead = reported ?? evidence.reached
  const isLost = hasRead < least - tolerance
  const cause = isLost ? causeOf(evidence) : hasLeft(evidence) && compared !== null ? rewritten(compared) : null
  if (cause === null) return whole
  const lostTokens = Math.max(0, Math.round(Math.min(isLost ? least : expected, evidence.tokens.total) - hasRead))
  return {
    ...found,
    verdict: hasRead < Math.max(1, expected * brokenShare) ? "broken" : "partial",
    cause,
    lostTokens,
    lostUsd: call.reported === null ? null : lossUsd(call.reported, lostTokens, price)
  }
}

/** A provider that reports nothing is judged by what was sent; one that may have no cache at all is not. */
const isStructural = ({ policy, isReporting, call }: ReadCall): boolean =>
  policy.reads === "silent" || (isReporting && call.reported === null)

const rewritten = (compared: Compared): CacheCause | null => {
  const cause = changedPrompt(compared)
  return cause?.rule === "history_rewritten" || cause?.rule === "gateway_rewrote" ? cause : null
}
