/** The tokens and the cost of a request, over all its calls. Pure. */
import type { ModelPrice } from "../../subjects/pricing/entity.ts"
import { type CostNotes, noTokens, sumTokens, type TokenCounts, type UsageSource } from "../../contract/domain/Usage.ts"
import type { Target } from "../routing/resolve/ModelResolver.ts"
import { costOf } from "../../observe/usage/BookedCost.ts"
import { estimateTokens } from "../../observe/usage/Cost.ts"
import type { PriceBook } from "../../observe/usage/PriceBook.ts"
import type { RequestEnd } from "../failover/FailoverEnd.ts"
import type { AnswerReport } from "../request/AnswerReport.ts"
import type { Work } from "../request/Exchange.ts"
import { promptTokens } from "../request/PromptTokens.ts"
import { believed, isPlain } from "./Belief.ts"
import { type OutputFacts, plainlySeen, seenOf } from "./Seen.ts"

export interface Bill {
  readonly tokens: TokenCounts
  readonly source: UsageSource
  /** Counts that upstreams reported and that were not accepted; null: they are booked. */
  readonly told: TokenCounts | null
  readonly costNanoUsd: number
  readonly costNotes: CostNotes | null
  readonly priced: boolean
  /** Price of the model that answered. */
  readonly price: ModelPrice | null
  /** The parts of the sum, in the order of the calls. */
  readonly items: ReadonlyArray<BillItem>
  /** Whole milliseconds since arrival. */
  readonly latencyMs: number
}

/** One model's part of a bill. */
export interface BillItem {
  readonly target: Target
  readonly tokens: TokenCounts
  readonly source: UsageSource
  readonly told: TokenCounts | null
  readonly costNanoUsd: number
  readonly costNotes: CostNotes | null
  readonly price: ModelPrice | null
}

/** Call of an upstream, for the bill. Null report: nothing of it is charged. */
export interface Served {
  readonly target: Target
  readonly report: AnswerReport | null
  readonly firstContentMs: number | null
}

type Prices = Pick<typeof PriceBook.Service, "price">

/** Checks whether the upstream has reported no usage: zeros all over are none. */
export const saysNothing = ({ isUnderWay, usage }: AnswerReport): boolean =>
  isUnderWay === true ? false : usage === null || (usage.in === 0 && usage.out === 0 && usage.units === undefined)

/**
 * The upstream reported no usage: the prompt is counted for the bill. Not for a client that left before the first content: whether the
 * provider bills that is unknown, so a guess does, and leaving costs the gateway no work.
 */
export const isUncounted = ({
  end,
  others
}: {
  readonly end: RequestEnd
  readonly others: ReadonlyArray<Served>
}): boolean => {
  if (others.some(({ report }) => report !== null && saysNothing(report))) return true
  if (end._tag !== "Answered") return false
  const { result } = end
  if (result._tag === "Aborted" && result.firstContentMs === null) return false
  return result.report !== null && saysNothing(result.report)
}

/** Estimates the tokens of the prompt and of the answer. */
const estimate = (work: Work, { model }: Target, report: AnswerReport): TokenCounts => {
  const { estimatesUsage, mediaUsage } = work.exchange.codec
  if (estimatesUsage === true && mediaUsage !== undefined) return mediaUsage(work.asked)
  const reasoning = estimateTokens(report.reasoningChars)
  return {
    ...noTokens,
    in: promptTokens(work, model, work.textTokens ?? null),
    out: estimateTokens(report.textChars) + estimateTokens(report.toolArgChars, "json") + reasoning,
    reasoning
  }
}

/**
 * The upstream's own count, or an estimate where it reported none; a report of zeros counts as none. The output reported for an answer
 * that was cut is from before the cut, so it is taken to be at least what was seen.
 */
export const countTokens = (
  work: Work,
  target: Target,
  report: AnswerReport
): { tokens: TokenCounts; source: UsageSource } => {
  const { stop, usage } = report
  if (usage === null) return { tokens: estimate(work, target, report), source: "estimated" }
  const isEmpty = saysNothing(report)
  if (isEmpty || stop === null) {
    const seen = estimate(work, target, report)
    if (isEmpty && seen.out > 0) return { tokens: seen, source: "estimated" }
    if (stop === null && usage.out < seen.out) return { tokens: { ...usage, out: seen.out }, source: "estimated" }
  }
  const billed = work.exchange.codec.billedUsage?.(usage, work.asked) ?? usage
  return { tokens: billed, source: report.isEstimated === true ? "estimated" : "upstream" }
}

/** The count with which the gateway stands in for one that is not believed. */
const standIn = (work: Work, target: Target, report: AnswerReport): TokenCounts => {
  const own = estimate(work, target, report)
  const asked = work.exchange.codec.mediaUsage?.(work.asked)
  return asked === undefined ? own : { ...asked, in: promptTokens(work, target.model, work.textTokens ?? null) }
}

type FactsOf = (target: Target) => OutputFacts

/** Prices and facts that a bill is made with. */
export interface Pricing {
  readonly prices: Prices
  readonly factsOf: FactsOf
}

/** Returns the counts to book, and the reported ones where they differ. */
const bookedOf = (
  work: Work,
  target: Target,
  report: AnswerReport,
  factsOf: FactsOf
): { tokens: TokenCounts; source: UsageSource; told: TokenCounts | null } => {
  const { source, tokens: told } = countTokens(work, target, report)
  const asTold = { tokens: told, source, told: null }
  if (report.usage === null || report.isEstimated === true) return asTold
  const plain = plainlySeen(work, report)
  if (plain !== null && isPlain(told, plain)) return asTold
  const tokens = believed(told, seenOf(work, target.model, factsOf(target), report), () =>
    standIn(work, target, report)
  )
  return tokens === told ? asTold : { tokens, source: "estimated", told }
}

const nothingCharged: ModelPrice = { input: 0, output: 0 }

/** Bills one call at the model's own price. */
const itemOf = ({ factsOf, prices }: Pricing, work: Work, { target }: Served, report: AnswerReport): BillItem => {
  const { told, tokens, source } = bookedOf(work, target, report, factsOf)
  if (work.exchange.codec.isFree === true)
    return { target, tokens, source, told, costNanoUsd: 0, costNotes: null, price: nothingCharged }
  const known = work.prices.of(prices, target.account.spec.id, target.model)
  return { target, tokens, source, told, ...costOf(tokens, known) }
}

const nothingServed: Omit<Bill, "latencyMs"> = {
  tokens: noTokens,
  source: "estimated",
  told: null,
  costNanoUsd: 0,
  costNotes: null,
  priced: true,
  price: null,
  items: []
}

/** Merges the notes of several calls: parts without a price in any of them, and the computed cost of all. */
const notesOf = (items: ReadonlyArray<BillItem>): CostNotes | null => {
  if (items.every(({ costNotes }) => costNotes === null)) return null
  const isComputed = items.every(({ costNotes }) => (costNotes?.computedNanoUsd ?? null) === null)
  return {
    unpricedParts: [...new Set(items.flatMap(({ costNotes }) => costNotes?.unpricedParts ?? []))],
    computedNanoUsd: isComputed
      ? null
      : items.reduce((sum, { costNanoUsd, costNotes }) => sum + (costNotes?.computedNanoUsd ?? costNanoUsd), 0),
    facts: null
  }
}

const sumOf = (items: ReadonlyArray<BillItem>, price: ModelPrice | null): Omit<Bill, "latencyMs"> => ({
  tokens: items.reduce((sum, { tokens }) => sumTokens(sum, tokens), noTokens),
  source: items.every(({ source }) => source === "upstream") ? "upstream" : "estimated",
  told: items.every(({ told }) => told === null)
    ? null
    : items.reduce((sum, { told, tokens }) => sumTokens(sum, told ?? tokens), noTokens),
  costNanoUsd: items.reduce((sum, item) => sum + item.costNanoUsd, 0),
  costNotes: notesOf(items),
  priced: items.every((item) => item.price !== null),
  price,
  items
})

/** `others`: what more was done for the same request (the panel of a fusion). */
export const makeBill = (
  pricing: Pricing,
  work: Work,
  served: Served | null,
  others: ReadonlyArray<Served>,
  nowMonotonicMs: number
): Bill => {
  const latencyMs = Math.round(nowMonotonicMs - work.exchange.startedMs)
  const own = served?.report == null ? null : itemOf(pricing, work, served, served.report)
  if (others.length === 0) {
    if (own === null) return { ...nothingServed, latencyMs }
    const { costNanoUsd, costNotes, price, source, told, tokens } = own
    const priced = price !== null
    return { tokens, source, told, costNanoUsd, costNotes, priced, price, items: [own], latencyMs }
  }
  const items: Array<BillItem> = []
  for (const other of others) if (other.report !== null) items.push(itemOf(pricing, work, other, other.report))
  if (own !== null) items.push(own)
  return items.length === 0 ? { ...nothingServed, latencyMs } : { ...sumOf(items, own?.price ?? null), latencyMs }
}
