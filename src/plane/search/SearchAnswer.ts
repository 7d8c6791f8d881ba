/** The answer to a search, as clients get it. Pure. */
import { isArray, isObject, type Json, type JsonObject, numberOr, parseJson, stringOr } from "../../wire/json/Json.ts"
import type { AttemptView } from "../../subjects/routing/entity.ts"
import { isWebAddress } from "../../wire/media/search/Reading.ts"
import { shownName } from "./SearchProviders.ts"

/** Result of the calls: the same for all requests that wait for it, and for those that ask again. */
export interface FoundAnswer {
  readonly provider: string
  readonly query: string
  readonly results: ReadonlyArray<JsonObject>
  readonly answer: string | null
  readonly total: number | null
  /** ISO 8601. */
  readonly retrievedAt: string
  readonly upstreamMs: number | null
  readonly costUsd: number
  /** Providers that failed before. */
  readonly errors: ReadonlyArray<JsonObject>
}

/** Facts of one client's request. */
export interface AnswerFacts {
  readonly requestId: string
  readonly cached: boolean
  /** Whole milliseconds since it arrived. */
  readonly elapsedMs: number
}

/** Host and path, as people read an address. */
const displayUrl = (url: string): string => {
  const { host, pathname } = new URL(url)
  return host + (pathname === "/" ? "" : pathname)
}

const resultOf = (result: JsonObject, index: number, provider: string, retrievedAt: string): JsonObject => {
  const url = String(result["url"])
  return {
    title: result["title"] ?? "",
    url,
    display_url: displayUrl(url),
    snippet: result["snippet"] ?? "",
    position: index + 1,
    score: result["score"] ?? null,
    published_at: result["publishedAt"] ?? null,
    favicon_url: result["faviconUrl"] ?? null,
    content: result["content"] ?? null,
    metadata: result["metadata"] ?? {},
    citation: { provider, retrieved_at: retrievedAt, rank: index + 1 }
  }
}

const errorOf = ({ provider, reason, status }: AttemptView): JsonObject => ({
  provider: shownName(provider),
  status,
  reason
})

export interface Served {
  readonly provider: string
  readonly query: string
  readonly attempts: ReadonlyArray<AttemptView>
  readonly costUsd: number
  readonly nowIso: string
}

/** Null when the text is no answer of the pipeline. */
export const foundIn = (text: string, served: Served): FoundAnswer | null => {
  const body: Json | undefined = parseJson(text)
  if (!isObject(body) || !isArray(body["results"])) return null
  const provider = shownName(served.provider)
  return {
    provider,
    query: served.query,
    results: body["results"].filter(isObject).map((result, index) => resultOf(result, index, provider, served.nowIso)),
    answer: stringOr(body["answer"]),
    total: numberOr(body["total"]),
    retrievedAt: served.nowIso,
    upstreamMs: served.attempts.at(-1)?.latencyMs ?? null,
    costUsd: served.costUsd,
    errors: served.attempts.filter(({ outcome }) => outcome === "failed").map(errorOf)
  }
}

/** Results of one search. */
const mostResults = 100

type Check = (value: Json | undefined) => boolean

const isText: Check = (value) => typeof value === "string"
const isNumber: Check = (value) => numberOr(value) !== null
const orNull =
  (check: Check): Check =>
  (value) =>
    value === null || check(value)
const has =
  (members: Readonly<Record<string, Check>>): Check =>
  (value) =>
    isObject(value) && Object.entries(members).every(([name, check]) => check(value[name]))
const isListOf =
  (most: number, check: Check): Check =>
  (value) =>
    isArray(value) && value.length <= most && value.every(check)

/** The published form (`contract/compat/Search`), with results that can be followed. */
const isWhole = has({
  id: isText,
  object: (value) => value === "search",
  provider: isText,
  query: isText,
  results: isListOf(
    mostResults,
    has({
      title: isText,
      url: (value) => typeof value === "string" && isWebAddress(value),
      display_url: isText,
      snippet: isText,
      position: isNumber,
      score: orNull(isNumber),
      published_at: orNull(isText),
      favicon_url: orNull(isText),
      content: orNull(isText),
      metadata: isObject,
      citation: has({ provider: isText, retrieved_at: isText, rank: isNumber })
    })
  ),
  answer: orNull(isText),
  usage: has({ queries_used: isNumber, search_cost_usd: isNumber, llm_tokens: isNumber }),
  metrics: has({
    response_time_ms: isNumber,
    upstream_latency_ms: orNull(isNumber),
    total_results_available: orNull(isNumber)
  }),
  cached: (value) => typeof value === "boolean",
  errors: isListOf(mostResults, isObject)
})

/** Checks whether clients can read it as the result of a search. */
export const isSearchAnswer = (answer: JsonObject): boolean => isWhole(answer)

export const answerOf = (found: FoundAnswer, { cached, elapsedMs, requestId }: AnswerFacts): JsonObject => ({
  id: requestId,
  object: "search",
  provider: found.provider,
  query: found.query,
  results: found.results,
  answer: found.answer,
  usage: {
    queries_used: cached ? 0 : 1,
    search_cost_usd: cached ? 0 : found.costUsd,
    llm_tokens: 0
  },
  metrics: {
    response_time_ms: elapsedMs,
    upstream_latency_ms: cached ? null : found.upstreamMs,
    total_results_available: found.total
  },
  cached,
  errors: cached ? [] : found.errors
})
