/**
 * Response headers of inference answers as flat name–value lists for `writeHead`.
 */
import type { ModelPrice } from "../../subjects/pricing/entity.ts"
import { reasonText } from "../routing/candidate/Reason.ts"
import { targetKey } from "../routing/resolve/TargetKey.ts"
import type { ErrorView } from "../../contract/domain/Errors.ts"
import type { WireName } from "../../contract/domain/Wire.ts"
import { version } from "../../platform/Version.ts"
import { isPassedOver } from "../routing/records/DecisionLog.ts"
import { cameTrue } from "../routing/candidate/Decision.ts"
import type { Target } from "../routing/resolve/ModelResolver.ts"
import { noTokens, type TokenCounts } from "../../contract/domain/Usage.ts"
import type { Work } from "./Exchange.ts"
import { carriedTo } from "./AddedSystem.ts"
import { costNanoUsd, formatUsd10 } from "../../observe/usage/Cost.ts"
import type { Usage } from "../../wire/canonical/Usage.ts"

/** Names of the client's fields that a translation dropped, or could express only in another way. */
export interface Traces {
  readonly dropped: ReadonlyArray<string>
  readonly mapped?: ReadonlyArray<string> | undefined
  /** Headers of the upstream for a client of its own wire, as a flat name–value list. */
  readonly passed?: ReadonlyArray<string> | undefined
}

/** Cost of a whole answer. */
export interface AnswerCost {
  readonly tokens: Pick<TokenCounts, "in" | "out">
  readonly costNanoUsd: number
  /** Whole milliseconds since arrival. */
  readonly latencyMs: number
  /** Absent: a call has answered. */
  readonly isCacheHit?: boolean
  /** Counts that the upstream reported and that were not accepted; null or absent: the same as `tokens`. */
  readonly told?: Pick<TokenCounts, "in" | "out"> | null
}

const mappedHeader = "X-Gateway-Mapped"
const toldHeader = "X-Gateway-Tokens-Told"

/** Lists the cost of an answer: for headers where it is known before the body, else for trailers. Flat name–value list. */
export const costFacts = ({ costNanoUsd, isCacheHit = false, latencyMs, told, tokens }: AnswerCost): Array<string> => [
  "X-Gateway-Response-Cost",
  formatUsd10(costNanoUsd),
  "X-Gateway-Tokens-In",
  String(tokens.in),
  "X-Gateway-Tokens-Out",
  String(tokens.out),
  "X-Gateway-Latency-Ms",
  String(latencyMs),
  "X-Gateway-Cache-Hit",
  String(isCacheHit),
  ...(told == null ? [] : [toldHeader, `in=${told.in}, out=${told.out}`])
]

const nothingSpent: AnswerCost = { tokens: noTokens, costNanoUsd: 0, latencyMs: 0 }

/** Lists the mappings that became known only at the end of a stream. */
export const mappedFacts = (mapped: ReadonlyArray<string> | undefined): Array<string> =>
  mapped === undefined || mapped.length === 0 ? [] : [mappedHeader, namesOf(mapped)]

/** Names plugins that have changed or blocked a request; in a trailer where that was not known before the head. */
export const pluginsHeader = "X-Gateway-Plugins"

/** Value of the header that announces what may come as trailers. */
export const trailerNames = [
  ...costFacts(nothingSpent).filter((_, at) => at % 2 === 0),
  toldHeader,
  mappedHeader,
  pluginsHeader
].join(", ")

/** Header values are latin1 without control characters; model ids come from clients. */
export const headerSafe = (value: string, maxChars = 512): string =>
  value.slice(0, maxChars).replace(/[^\x20-\x7e]/g, "?")

/** Clients name their own fields: many long names are cut. */
const maxNamesChars = 4096

const namesOf = (fields: ReadonlyArray<string>): string => headerSafe(fields.join(","), maxNamesChars)

export const identityHeaders = (requestId: string): Array<string> => [
  "X-Gateway-Request-Id",
  requestId,
  "X-Gateway-Version",
  version,
  // What is answered is never what a browser guesses from it.
  "X-Content-Type-Options",
  "nosniff"
]

/** Other targets that were asked before this one. A second try with a new token is no fallback. */
const targetsBefore = ({ decision, trail: { attempts } }: Work, { account, model }: Target): number => {
  // The members of a panel are asked at once: none comes after another.
  if (attempts.length === 0 || decision.strategy === "fusion") return 0
  const others = new Set<string>()
  for (const attempt of attempts) {
    if (attempt.connectionId === account.connection.id && attempt.model === model) continue
    others.add(targetKey(attempt.connectionId, attempt.model))
  }
  return others.size
}

/** Writes the reason for this target: that of the decision, unless another was asked first. */
const reasonOf = (work: Work, target: Target, fallbacks: number): string => {
  const { decision, trail } = work
  const reason = reasonText(
    trail.exclusions.size === 0 ? decision.reason : cameTrue(decision, isPassedOver(trail)).reason
  )
  return fallbacks === 0 || decision.order[0] === target
    ? reason
    : `fallback after ${fallbacks} (first choice: ${reason})`
}

/** Names the model that was asked instead, where a flag of the operator's says so. */
const modelMapped = ({ resolution: { fallbackModel, standsIn } }: Work): ReadonlyArray<string> =>
  standsIn !== undefined && fallbackModel !== undefined ? [`model=${fallbackModel}`] : []

const servedBy = (
  work: Work,
  target: Target,
  contentType: string,
  { dropped, mapped = [], passed }: Traces
): Array<string> => {
  const fallbacks = targetsBefore(work, target)
  const headers = identityHeaders(work.exchange.requestId)
  headers.push(
    "Content-Type",
    contentType,
    "X-Gateway-Provider",
    target.account.spec.id,
    "X-Gateway-Model",
    headerSafe(target.model),
    "X-Gateway-Decision",
    `${work.decision.strategy};${work.resolution.targets.length};${reasonOf(work, target, fallbacks)}`
  )
  const { egress } = work.trail
  if (egress !== null) headers.push("X-Gateway-Egress", headerSafe(egress))
  const { relaxedFilters } = work.decision
  if (relaxedFilters.length > 0) headers.push("X-Gateway-Filter-Relaxed", headerSafe(relaxedFilters.join(",")))
  if (work.sessionId !== null) headers.push("X-Gateway-Session-Id", headerSafe(work.sessionId))
  const carried = carriedTo(work, target)
  if (carried !== null) headers.push("X-Gateway-Handoff", headerSafe(carried.from))
  if (fallbacks > 0) headers.push("X-Gateway-Fallback-Attempts", String(fallbacks))
  if (dropped.length + work.leftOut.length > 0) {
    headers.push("X-Gateway-Dropped", namesOf([...work.leftOut, ...dropped]))
  }
  const changed = [...modelMapped(work), ...mapped]
  if (changed.length > 0) headers.push(mappedHeader, namesOf(changed))
  if (passed !== undefined) headers.push(...passed)
  if (work.trail.headers.length > 0) headers.push(...work.trail.headers)
  return headers
}

/** Headers of a stream whose target is not fixed yet. */
export const earlyHeaders = (work: Work): Array<string> => {
  const headers = identityHeaders(work.exchange.requestId)
  headers.push("Content-Type", work.exchange.codec.streamContentType)
  const { relaxedFilters } = work.decision
  if (relaxedFilters.length > 0) headers.push("X-Gateway-Filter-Relaxed", headerSafe(relaxedFilters.join(",")))
  if (work.sessionId !== null) headers.push("X-Gateway-Session-Id", headerSafe(work.sessionId))
  if (work.leftOut.length > 0) headers.push("X-Gateway-Dropped", namesOf(work.leftOut))
  headers.push("Cache-Control", "no-cache", "X-Accel-Buffering", "no")
  return headers
}

/** Headers of a stream, sent when its target is fixed; what it costs is not known yet. */
export const streamHeaders = (work: Work, target: Target, traces: Traces): Array<string> => {
  const headers = servedBy(work, target, work.exchange.codec.streamContentType, traces)
  headers.push("Cache-Control", "no-cache", "X-Accel-Buffering", "no")
  return headers
}

/** Headers of a whole answer, with its cost. */
export const answerHeaders = (
  work: Work,
  target: Target,
  traces: Traces & { readonly type?: string },
  bill: AnswerCost,
  bodyBytes: number
): Array<string> => {
  const headers = servedBy(work, target, traces.type ?? "application/json", traces)
  headers.push("Content-Length", String(bodyBytes), ...costFacts(bill))
  return headers
}

/** An answer that is relayed as it comes. */
export interface MediaFacts {
  readonly type: string
  /** The upstream's `Content-Length`; null without one. */
  readonly length: string | null
  /** Usage by which it is billed, known before it is made. */
  readonly usage: Usage | null
}

/** Content types that are passed on as they are; any that a page could be made of is sent as bytes. */
const mediaType =
  /^(?:audio|image|video)\/(?!svg)|^application\/(?:octet-stream|x-subrip)|^text\/(?:event-stream|plain|vtt)/i

/** Chooses the type that bytes of an upstream are passed on as. */
export const mediaTypeOf = (type: string): string =>
  mediaType.test(type) ? headerSafe(type) : "application/octet-stream"

export interface MediaAnswer {
  readonly work: Work
  readonly target: Target
  readonly traces: Traces
  readonly media: MediaFacts
  readonly price: ModelPrice | null
  readonly latencyMs: number
}

/** Headers of an answer that is no text, with its cost where that is known before. */
export const mediaHeaders = ({ latencyMs, media, price, target, traces, work }: MediaAnswer): Array<string> => {
  const { length, type, usage } = media
  const headers = servedBy(work, target, mediaTypeOf(type), traces)
  if (length !== null && /^\d{1,15}$/.test(length)) headers.push("Content-Length", length)
  const cost = usage === null || price === null ? 0 : costNanoUsd(usage, price)
  headers.push(...costFacts({ tokens: usage ?? noTokens, costNanoUsd: cost, latencyMs }))
  return headers
}

/** The longest wait in ms that SDKs take from `Retry-After`; for a longer one they ask again at once. */
const longestRetryMs = 60_000

/** Failures that no SDK need ask about again by itself. */
const isUsedUp = ({ kind, resetsAtMs, retryAfterMs }: ErrorView): boolean =>
  kind === "insufficient_quota" ||
  kind === "usage_limit" ||
  (resetsAtMs !== null && (retryAfterMs ?? 0) > longestRetryMs)

/** Value of `Retry-After`, in seconds; null without one. */
export const retryAfterOf = ({ retryAfterMs }: ErrorView): string | null =>
  retryAfterMs === null ? null : String(Math.max(1, Math.ceil(retryAfterMs / 1000)))

/** Headers of an error answer. `wire` is the client's. */
export const errorHeaders = (
  requestId: string,
  view: ErrorView,
  bodyBytes: number,
  wire: WireName | null = null
): Array<string> => {
  const headers = identityHeaders(requestId)
  headers.push("Content-Type", "application/json", "Content-Length", String(bodyBytes))
  const passed = view.native !== null && view.native.wire === wire ? view.native.headers : []
  headers.push(...passed)
  if (isUsedUp(view) && !passed.includes("x-should-retry")) headers.push("x-should-retry", "false")
  const retryAfter = retryAfterOf(view)
  if (retryAfter !== null) headers.push("Retry-After", retryAfter)
  return headers
}
