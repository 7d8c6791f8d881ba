/**
 * The usage row: one per request, also for failed and aborted ones. Money is nano-USD in whole 64ths inside (`nanoUsdParts`), so that sums are
 * exact; `/api/usage/logs` shows USD.
 */
import type { LedgerCall } from "./Ledger.ts"
import type { ModelPrice } from "./Pricing.ts"
import type { WireName } from "./Wire.ts"

export interface TokenCounts {
  /** All prompt tokens, cached ones included. */
  readonly in: number
  /** All generated tokens, reasoning included. */
  readonly out: number
  readonly cacheRead: number
  readonly cacheWrite: number
  /** The part of `cacheWrite` that is kept for an hour, where its price differs. For the bill only; not on file. */
  readonly cacheWrite1h?: number
  readonly reasoning: number
  /** What is not counted in tokens. For the bill only; not on file. */
  readonly units?: MediaUnits
  /** What the price depends on besides. For the bill only. */
  readonly billing?: BillingFacts
}

/** Tokens by what they stand for, each a part of `in`, `cacheRead` or `out`; what is not named is text. */
export interface ModalityCounts {
  readonly audioIn?: number
  readonly imageIn?: number
  readonly videoIn?: number
  readonly audioCached?: number
  readonly imageCached?: number
  readonly videoCached?: number
  readonly audioOut?: number
  readonly imageOut?: number
  readonly videoOut?: number
  /** Beside `out`: pages that were read for the answer. */
  readonly citations?: number
}

/** What the provider did for the answer by tools of its own. */
export interface ServerToolCounts {
  readonly webSearches?: number
  /** 1 where the answer was grounded by searches. */
  readonly groundedAnswers?: number
  readonly fileSearches?: number
  readonly codeExecutions?: number
}

/** How the answer was made, in the provider's words; absent where it is the usual way. */
export interface AnswerTerms {
  readonly serviceTier?: string
  readonly speed?: string
  readonly geo?: string
}

export interface BillingFacts extends AnswerTerms {
  readonly modalities?: ModalityCounts
  readonly tools?: ServerToolCounts
  /** What the provider says that it charges for the answer, where its documentation says that this is the charge. */
  readonly chargedUsd?: number
}

/** What media and searches are billed by. */
export interface MediaUnits {
  readonly searchUnits?: number
  readonly characters?: number
  /** Of sound or film. */
  readonly seconds?: number
  readonly images?: ImageUnits
}

/** Pictures. Size (`1024x1024`) and quality (`high`) are null where nobody has said them. */
export interface ImageUnits {
  readonly count: number
  readonly size: string | null
  readonly quality: string | null
}

export const noTokens: TokenCounts = { in: 0, out: 0, cacheRead: 0, cacheWrite: 0, reasoning: 0 }

/** Of several calls. What is not counted in tokens is left out: each call is billed for its own. */
export const sumTokens = (one: TokenCounts, other: TokenCounts): TokenCounts => ({
  in: one.in + other.in,
  out: one.out + other.out,
  cacheRead: one.cacheRead + other.cacheRead,
  cacheWrite: one.cacheWrite + other.cacheWrite,
  reasoning: one.reasoning + other.reasoning
})

const sumUnits = (one: MediaUnits, other: MediaUnits): MediaUnits => {
  const names = (["searchUnits", "characters", "seconds"] as const).filter((name) => name in one || name in other)
  const numbers = Object.fromEntries(names.map((name) => [name, (one[name] ?? 0) + (other[name] ?? 0)]))
  const images = one.images ?? other.images
  if (images === undefined) return numbers
  return { ...numbers, images: { ...images, count: (one.images?.count ?? 0) + (other.images?.count ?? 0) } }
}

/** Of calls that are parts of one: with what is not counted in tokens. Pictures have the size and quality of the first. */
export const sumUsage = (one: TokenCounts, other: TokenCounts): TokenCounts => {
  const sum = sumTokens(one, other)
  return one.units === undefined && other.units === undefined
    ? sum
    : { ...sum, units: sumUnits(one.units ?? {}, other.units ?? {}) }
}

export type Outcome = "completed" | "failed" | "aborted"
export type UsageSource = "upstream" | "estimated"

/** How the cost of a row came about, where there is more to say than its counts and its price do. */
export interface CostNotes {
  /** What was used and had no price, so that the cost is without it. */
  readonly unpricedParts: ReadonlyArray<string>
  /** What the prices say that it costs, where the provider's own charge is booked in its place; null: they were booked. */
  readonly computedNanoUsd: number | null
  /** Of the one call that was billed; null: the counts say it all, or there was more than one. */
  readonly facts: Omit<BillingFacts, "chargedUsd"> | null
}
/** What answered in place of a call: the cache, or the call of an equal request. */
export type AnsweredFrom = "cache" | "coalesced"

export interface UsageRow {
  /** The request's own id: one request, one row. Ids rise with time, so their order is the order of arrival. */
  readonly id: string
  /** Epoch milliseconds at arrival. */
  readonly timestampMs: number
  readonly requestId: string
  readonly apiKeyId: string | null
  /** `operator`: the admin's key or session, the machine's owner, or a test of theirs; null: the key, or a caller without one. */
  readonly principal: "operator" | null
  readonly requestedModel: string
  readonly combo: string | null
  readonly provider: string | null
  readonly connectionId: string | null
  readonly model: string | null
  readonly sourceWire: WireName
  readonly targetWire: WireName | null
  readonly streamed: boolean
  readonly outcome: Outcome
  /** HTTP status the client saw; 499 when it closed the connection first. */
  readonly status: number
  readonly latencyMs: number
  /** Time to the first content, null when there was none. */
  readonly ttftMs: number | null
  readonly attempts: number
  readonly tokens: TokenCounts
  /** What the upstream told, where the gateway did not believe it and has booked its own count; null: `tokens` is what was told. */
  readonly told: TokenCounts | null
  readonly costNanoUsd: number
  /** Null: it is the product of the counts and the price, and nothing is without one. */
  readonly costNotes: CostNotes | null
  /** False when no price was known: the cost is then 0 and means "unpriced", not "free". What a known price lacks is in `costNotes`. */
  readonly priced: boolean
  /** What the model that answered cost at the time; null when no price was known or nothing answered. */
  readonly price: ModelPrice | null
  readonly usageSource: UsageSource
  /** Short reason of a failure, never upstream bodies or keys. */
  readonly error: string | null
  /** The batch whose line it is; null: a client asked by itself. */
  readonly batchId: string | null
  /** Null: a call of its own did, or nothing. */
  readonly answeredFrom: AnsweredFrom | null
  /** The way the call took: `direct`, or the name of a proxy; null: there was none, or it was written by an earlier version. */
  readonly egress: string | null
  /** What was reserved of the key's limits for the call that answered; 0 for callers without limits. */
  readonly reservedNanoUsd: number
  /** The ledger's entries of the calls, where there was more than one; null: the row itself is the entry. */
  readonly calls: ReadonlyArray<LedgerCall> | null
}

const handoffSuffix = "-handoff"

/** Id of the request for a summary that the gateway makes of its own accord, for a client's request: one at most. */
export const handoffIdOf = (requestId: string): string => `${requestId}${handoffSuffix}`

/** Whether a client made the request of the row, and not the gateway. */
export const isOfClient = ({ requestId }: Pick<UsageRow, "requestId">): boolean => !requestId.endsWith(handoffSuffix)

export const nanoUsdPerUsd = 1_000_000_000

/**
 * Amounts are whole multiples of 1/64 nano-USD: a price of 0.01875 USD per 1,000,000 tokens is 18.75 nano-USD per token. A power of two, so that
 * sums of such numbers are exact in any order up to 140,000 USD, and above that as exact as any double. The rounding of an amount is below 1e-11 USD.
 */
export const nanoUsdParts = 64
