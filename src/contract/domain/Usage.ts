/**
 * The usage row: one per request, also for failed and aborted ones. Money is nano-USD in whole 64ths inside (`nanoUsdParts`), so that sums are
 * exact; `/api/usage/logs` shows USD.
 */
import type { LedgerCall } from "./Ledger.ts"
import type { ModelPrice } from "../../subjects/pricing/entity.ts"
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
  /** Units that are not counted in tokens. For the bill only; not stored. */
  readonly units?: MediaUnits
  /** Other facts that the price depends on. For the bill only. */
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
  /** Pages that were read for the answer, beside `out`. */
  readonly citations?: number
}

/** Use of the provider's own tools for the answer. */
export interface ServerToolCounts {
  readonly webSearches?: number
  /** 1 where the answer was grounded by searches. */
  readonly groundedAnswers?: number
  readonly fileSearches?: number
  readonly codeExecutions?: number
}

/** Terms of the answer, by the provider's names; absent where they are the usual ones. */
export interface AnswerTerms {
  readonly serviceTier?: string
  readonly speed?: string
  readonly geo?: string
}

export interface BillingFacts extends AnswerTerms {
  readonly modalities?: ModalityCounts
  readonly tools?: ServerToolCounts
  /** Provider's charge for the answer, where its documentation says that this is the charge. */
  readonly chargedUsd?: number
}

/** Units by which media and searches are billed. */
export interface MediaUnits {
  readonly searchUnits?: number
  readonly characters?: number
  /** Seconds of sound or video. */
  readonly seconds?: number
  readonly images?: ImageUnits
}

/** Pictures. Size (`1024x1024`) and quality (`high`) are null where they are not known. */
export interface ImageUnits {
  readonly count: number
  readonly size: string | null
  readonly quality: string | null
}

export const noTokens: TokenCounts = { in: 0, out: 0, cacheRead: 0, cacheWrite: 0, reasoning: 0 }

/** Sums the tokens of several calls. Units that are not tokens are left out: each call is billed for its own. */
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

/**
 * Sums the usage of calls that are parts of one, with the units that are not tokens. Pictures have the size and quality
 * of the first.
 */
export const sumUsage = (one: TokenCounts, other: TokenCounts): TokenCounts => {
  const sum = sumTokens(one, other)
  return one.units === undefined && other.units === undefined
    ? sum
    : { ...sum, units: sumUnits(one.units ?? {}, other.units ?? {}) }
}

export type Outcome = "completed" | "failed" | "aborted"
export type UsageSource = "upstream" | "estimated"

/** Notes on the cost of a row, where it does not follow from its counts and its price alone. */
export interface CostNotes {
  /** Parts that were used and had no price, so that the cost is without them. */
  readonly unpricedParts: ReadonlyArray<string>
  /** Cost by the prices, where the provider's own charge is booked instead; null: the prices were booked. */
  readonly computedNanoUsd: number | null
  /** Facts of the one call that was billed; null: the counts suffice, or there was more than one. */
  readonly facts: Omit<BillingFacts, "chargedUsd"> | null
}
/** Source of an answer without a call: the cache, or the call of an equal request. */
export type AnsweredFrom = "cache" | "coalesced"

/** Callers without an API key who are known. */
export const knownCallers = ["operator", "session"] as const
export type KnownCaller = (typeof knownCallers)[number]

export interface UsageRow {
  /** The request's own id: one request, one row. Ids rise with time, so their order is the order of arrival. */
  readonly id: string
  /** Epoch milliseconds at arrival. */
  readonly timestampMs: number
  readonly requestId: string
  readonly apiKeyId: string | null
  /** `operator`: the admin's key, the machine's owner, or a test of theirs; `session`: an admin session; null: the key, or a caller without one. */
  readonly principal: KnownCaller | null
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
  /**
   * Counts that the upstream reported, where the gateway did not accept them and has booked its own; null: `tokens` are
   * the reported ones.
   */
  readonly told: TokenCounts | null
  readonly costNanoUsd: number
  /** Null: it is the product of the counts and the price, and nothing is without one. */
  readonly costNotes: CostNotes | null
  /** False when no price was known: the cost is then 0 and means "unpriced", not "free". What a known price lacks is in `costNotes`. */
  readonly priced: boolean
  /** Price of the model that answered at the time; null when no price was known or nothing answered. */
  readonly price: ModelPrice | null
  readonly usageSource: UsageSource
  /** Short reason of a failure, never upstream bodies or keys. */
  readonly error: string | null
  /** The batch whose line it is; null: a client asked by itself. */
  readonly batchId: string | null
  /** Null: a call of its own did, or nothing. */
  readonly answeredFrom: AnsweredFrom | null
  /** Route of the call: `direct`, or the name of a proxy; null: there was none, or it was written by an earlier version. */
  readonly egress: string | null
  /** Tags that the client gave (`contract/domain/Tags`), in one order with commas between; null: none. */
  readonly tags: string | null
  /** Name of the gateway that has served it, of several on one database; absent in one process, and until the row is in the table. */
  readonly node?: string
  /** Session that the client named (`sessionOnFile`); null: none. */
  readonly sessionId: string | null
  /** Amount reserved of the key's limits for the call that answered; 0 for callers without limits. */
  readonly reservedNanoUsd: number
  /** The ledger's entries of the calls, where there was more than one; null: the row itself is the entry. */
  readonly calls: ReadonlyArray<LedgerCall> | null
}

const handoffSuffix = "-handoff"

/** Id of the request for a summary that the gateway makes of its own accord, for a client's request: one at most. */
export const handoffIdOf = (requestId: string): string => `${requestId}${handoffSuffix}`

/** Checks whether a client made the request of the row, and not the gateway. */
export const isOfClient = ({ requestId }: Pick<UsageRow, "requestId">): boolean => !requestId.endsWith(handoffSuffix)

export const nanoUsdPerUsd = 1_000_000_000

/**
 * Amounts are whole multiples of 1/64 nano-USD: a price of 0.01875 USD per 1,000,000 tokens is 18.75 nano-USD per token. A power of two, so that
 * sums of such numbers are exact in any order up to 140,000 USD, and above that as exact as any double. The rounding of an amount is below 1e-11 USD.
 */
export const nanoUsdParts = 64
