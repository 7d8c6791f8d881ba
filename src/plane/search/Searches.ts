/**
 * `POST /v1/search`: reads the request, answers from what it keeps, lets equal requests of a caller wait for one call, and sends the rest
 * through the pipeline of all requests.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Layer from "effect/Layer"
import { createHash } from "node:crypto"
import { headerOf } from "../../subjects/auth/Credentials.ts"
import { refusesCache } from "../cache/Eligibility.ts"
import { type ContentPermission, mayKeepContent } from "../../contract/domain/ContentPermission.ts"
import type { AttemptView } from "../../subjects/routing/entity.ts"
import { InternalError, InvalidRequest } from "../../contract/domain/Errors.ts"
import { nanoUsdPerUsd, type UsageRow } from "../../contract/domain/Usage.ts"
import { Events } from "../../observe/Events.ts"
import { Hooks } from "../../agents/plugins/hooks/Hooks.ts"
import { Pipeline } from "../Pipeline.ts"
import { type AskedSearch, ModelSearches, type SearchAsking } from "../request/ModelSearches.ts"
import { apiKeyIdOf, type Exchange } from "../request/Exchange.ts"
import { readBody } from "../request/ReadBody.ts"
import { FairPool } from "../../kernel/collections/FairPool.ts"
import { AppConfig } from "../../platform/AppConfig.ts"
import { Timers } from "../../platform/Timers.ts"
import { Catalog } from "../providers/Catalog.ts"
import { DecisionLog } from "../routing/records/DecisionLog.ts"
import { formatUsd10 } from "../../observe/usage/Cost.ts"
import { invalidField } from "../../wire/json/FieldReader.ts"
import { bodyOf, searches as searchCodec } from "../../wire/media/search/Codec.ts"
import { misspelt, readSearchRequest, type SearchRequest } from "../../wire/media/search/Request.ts"
import { type Search, searchModel, type TimeRange } from "../../wire/media/search/Search.ts"
import { answerOf, type FoundAnswer, foundIn, isSearchAnswer } from "./SearchAnswer.ts"
import { SearchCounts } from "./SearchCounts.ts"
import { SearchFlight, type Landed } from "./SearchFlight.ts"
import { hitsIn, requestOf } from "./ModelSearch.ts"
import { isForSearches, shownName } from "./SearchProviders.ts"
import { routeOf, type SearchRoute } from "./SearchRoute.ts"
import { identityHeaders } from "../request/Headers.ts"

export class Searches extends Context.Tag("gateway/plane/search/Searches")<
  Searches,
  {
    /** Serves one search to its end. Never throws: a failure is an answer. The codec of the exchange is that of searches. */
    readonly serve: (exchange: Exchange) => void
  }
>() {}

/** Answers that are kept, and bytes of all of them. */
const mostKept = 1_000
const mostKeptBytes = 64 * 1_048_576

const dayMs = 86_400_000
const days: Readonly<Record<TimeRange, number>> = { day: 1, week: 7, month: 31, year: 366 }

const sinceOf = ({ timeRange }: Pick<Search, "timeRange">, nowMs: number): string | null =>
  timeRange === null ? null : new Date(nowMs - days[timeRange] * dayMs).toISOString().slice(0, 10)

/** An answer, and what it takes in memory. */
interface Kept {
  readonly owner: string
  readonly found: FoundAnswer
  /** The provider of the registry. */
  readonly provider: string
  readonly bytes: number
}

/** State of a call in progress. */
interface Running {
  /** Null until it is settled. */
  row: UsageRow | null
  /** True when no request waits for its answer. */
  isAbandoned: boolean
}

/** A request that was read. */
interface Asked {
  readonly request: SearchRequest
  readonly route: SearchRoute
  /** The same for equal requests of a caller; null: nothing is kept or shared. */
  readonly key: string | null
}

/** Headers of a call's answer that say something of that call alone. */
const ofTheCall = new Set(["x-gateway-request-id", "content-length"])

const withoutOwn = (headers: ReadonlyArray<string>): Array<string> => {
  const kept: Array<string> = []
  for (let at = 0; at + 1 < headers.length; at += 2) {
    const [name = "", value = ""] = headers.slice(at, at + 2)
    if (!ofTheCall.has(name.toLowerCase())) kept.push(name, value)
  }
  return kept
}

const droppedOf = ({ dropped, provider, search }: SearchRequest): ReadonlyArray<string> =>
  provider === null && Object.keys(search.options).length > 0 ? [...dropped, "provider_options"] : dropped

const services = Effect.all({
  appConfig: AppConfig,
  catalog: Catalog,
  counts: SearchCounts,
  decisions: DecisionLog,
  events: Events,
  hooks: Hooks,
  modelSearches: ModelSearches,
  pipeline: Pipeline,
  timers: Timers
})
interface Deps extends Effect.Effect.Success<typeof services> {
  readonly cache: FairPool<string, Kept>
  /** Searches in progress in the pipeline, by the id of the request that began them. */
  readonly running: Map<string, Running>
  readonly flights: Map<string, SearchFlight>
}

const elapsedMs = ({ timers }: Deps, { startedMs }: Exchange): number => Math.round(timers.monotonicMs() - startedMs)

const keep = ({ cache, timers }: Deps, _permission: ContentPermission, key: string, answer: Kept): void =>
  void cache.set(key, answer, timers.nowMs())

const keyOf = (exchange: Exchange, { requestedModel, service }: SearchRoute, { search }: SearchRequest): string => {
  const { headers } = exchange
  const restrictions = [headerOf(headers, "x-gateway-budget"), headerOf(headers, "x-gateway-mode")]
  const all = [apiKeyIdOf(exchange) ?? "", requestedModel, service.key, search, restrictions]
  return createHash("sha256").update(JSON.stringify(all)).digest("base64url")
}

const read = ({ appConfig, catalog, hooks }: Deps, exchange: Exchange): Asked | InvalidRequest => {
  const body = readBody(exchange.body, misspelt)
  if (body instanceof InvalidRequest) return body
  const request = readSearchRequest(body)
  if (Either.isLeft(request)) return request.left
  const route = routeOf(catalog.current(), request.right)
  if (route instanceof InvalidRequest) return route
  // What plugins are to see or to block is neither given from the cache nor shared.
  const isKept =
    appConfig.searchCacheTtlMs > 0 &&
    !hooks.listens.onRequest &&
    !hooks.listens.onResponse &&
    !refusesCache(exchange.headers)
  return { request: request.right, route, key: isKept ? keyOf(exchange, route, request.right) : null }
}

interface Sent {
  readonly found: FoundAnswer
  readonly cached: boolean
  /** Names of members of the request that no provider was sent. */
  readonly dropped: ReadonlyArray<string>
}

const send = (deps: Deps, exchange: Exchange, { cached, dropped, found }: Sent, headers: Array<string>): void => {
  const { reply, requestId } = exchange
  if (reply.isClosed()) return
  const body = JSON.stringify(answerOf(found, { cached, elapsedMs: elapsedMs(deps, exchange), requestId }))
  headers.push("Content-Length", String(Buffer.byteLength(body)), "X-Gateway-Cache", cached ? "HIT" : "MISS")
  if (dropped.length > 0)
    headers.push(
      "X-Gateway-Dropped",
      dropped
        .join(",")
        .replace(/[^\x20-\x7e]/g, "?")
        .slice(0, 4_096)
    )
  reply.head(200, headers)
  reply.end(body)
}

/** Answers with what another request has found. */
const repeat = (deps: Deps, exchange: Exchange, { request, route }: Asked, { found, provider }: Kept): void => {
  const { counts, pipeline } = deps
  const ending = { outcome: "completed", status: 200, error: null } as const
  pipeline.answerKept(exchange, { requestedModel: route.requestedModel, provider, model: searchModel, ending }, () => {
    counts.add(apiKeyIdOf(exchange) ?? "", shownName(provider), { requests: 1, cacheHits: 1 })
    const headers = identityHeaders(exchange.requestId)
    headers.push("Content-Type", "application/json", "X-Gateway-Provider", provider, "X-Gateway-Model", searchModel)
    headers.push("X-Gateway-Response-Cost", formatUsd10(0), "X-Gateway-Tokens-In", "0", "X-Gateway-Tokens-Out", "0")
    headers.push("X-Gateway-Latency-Ms", String(elapsedMs(deps, exchange)), "X-Gateway-Cache-Hit", "true")
    send(deps, exchange, { found, cached: true, dropped: droppedOf(request) }, headers)
  })
}

/** The first who asked gets what has ended the call, an error or a plugin's own answer, and the others the same. */
const handOn = (
  { pipeline }: Deps,
  waiting: ReadonlyArray<Exchange>,
  leaderId: string,
  asked: Asked,
  landed: Landed
): void => {
  for (const exchange of waiting) {
    const answer = (): void => {
      if (exchange.reply.isClosed()) return
      const headers = ["X-Gateway-Request-Id", exchange.requestId, ...withoutOwn(landed.headers)]
      headers.push("Content-Length", String(Buffer.byteLength(landed.body)), "X-Gateway-Cache", "MISS")
      exchange.reply.head(landed.status, headers)
      exchange.reply.end(landed.body)
    }
    if (exchange.requestId === leaderId) answer()
    else {
      const { status } = landed
      const ending =
        status < 300
          ? ({ outcome: "completed", status, error: null } as const)
          : ({ outcome: "failed", status, error: "shared_search_failed" } as const)
      const { requestedModel } = asked.route
      pipeline.answerKept(exchange, { requestedModel, provider: null, model: searchModel, ending }, answer)
    }
  }
}

const attemptsOf = ({ decisions }: Deps, requestId: string): ReadonlyArray<AttemptView> =>
  decisions.get(requestId)?.attempts ?? []

const land = (deps: Deps, leader: Exchange, asked: Asked, flight: SearchFlight, landed: Landed | null): void => {
  const { flights, pipeline, running, timers } = deps
  const { key, request } = asked
  const waiting = flight.take()
  const row = running.get(leader.requestId)?.row ?? null
  running.delete(leader.requestId)
  if (key !== null && flights.get(key) === flight) flights.delete(key)
  if (landed === null) {
    for (const exchange of waiting) pipeline.refuse(exchange, new InternalError({ cause: "the answer was cut" }))
    return
  }
  const provider = row?.provider ?? ""
  const served = { provider, query: request.search.query, attempts: attemptsOf(deps, leader.requestId) }
  // Without a provider a plugin has answered, in the form that clients get.
  const found =
    landed.status === 200 && provider !== ""
      ? foundIn(landed.body, {
          ...served,
          costUsd: (row?.costNanoUsd ?? 0) / nanoUsdPerUsd,
          nowIso: new Date(timers.nowMs()).toISOString()
        })
      : null
  if (found === null) return handOn(deps, waiting, leader.requestId, asked, landed)
  const kept = { owner: apiKeyIdOf(leader) ?? "", found, provider, bytes: 2 * landed.body.length }
  const permission = mayKeepContent(leader.principal)
  if (key !== null && permission !== null) keep(deps, permission, key, kept)
  for (const exchange of waiting) {
    if (exchange.requestId !== leader.requestId) repeat(deps, exchange, asked, kept)
    else {
      const headers = ["X-Gateway-Request-Id", exchange.requestId, ...withoutOwn(landed.headers)]
      send(deps, exchange, { found, cached: false, dropped: droppedOf(request) }, headers)
    }
  }
}

const corridorBody = ({ receivedMs }: Exchange, { request, route }: Asked): Buffer => {
  const options = request.provider === null ? {} : request.search.options
  const search: Search = { ...request.search, options, since: sinceOf(request.search, receivedMs) }
  return Buffer.from(JSON.stringify(bodyOf(search, route.requestedModel)))
}

const call = (deps: Deps, exchange: Exchange, asked: Asked): void => {
  const { flights, pipeline, running } = deps
  const { key, route } = asked
  const own: Running = { row: null, isAbandoned: false }
  const abandon = (): void => {
    own.isAbandoned = true
    if (key !== null && flights.get(key) === flight) flights.delete(key)
  }
  const flight: SearchFlight = new SearchFlight((landed) => land(deps, exchange, asked, flight, landed), abandon)
  if (key !== null) flights.set(key, flight)
  running.set(exchange.requestId, own)
  flight.join(exchange)
  const body = corridorBody(exchange, asked)
  const changed = (text: Buffer): Buffer | InvalidRequest => {
    const again = read(deps, { ...exchange, body: text })
    if (again instanceof InvalidRequest) return again
    const { requestedModel, service } = again.route
    return requestedModel === route.requestedModel && service.key === route.service.key
      ? corridorBody(exchange, again)
      : invalidField("provider", "a plugin has changed it; which providers are asked is for the client to say")
  }
  const forPlugins = { body: exchange.body, read: changed, isAnswer: isSearchAnswer }
  pipeline.serve({ ...exchange, body, forPlugins, service: route.service, reply: flight.reply })
}

const serve = (deps: Deps, exchange: Exchange): void => {
  const { cache, flights, pipeline, timers } = deps
  const asked = read(deps, exchange)
  if (asked instanceof Error) return pipeline.refuse(exchange, asked)
  const { key } = asked
  const kept = key === null ? undefined : cache.get(key, timers.nowMs())
  if (kept !== undefined) return repeat(deps, exchange, asked, kept)
  const flight = key === null ? undefined : flights.get(key)
  if (flight === undefined) call(deps, exchange, asked)
  else flight.join(exchange)
}

const count = (deps: Deps, row: UsageRow): void => {
  const { counts } = deps
  const owner = row.apiKeyId ?? ""
  for (const { latencyMs, outcome, provider } of attemptsOf(deps, row.requestId)) {
    const isAnswered = outcome === "completed"
    counts.add(owner, shownName(provider), {
      requests: 1,
      errors: outcome === "failed" ? 1 : 0,
      ...(isAnswered ? { answered: 1, latencyMs } : {})
    })
  }
  if (row.provider !== null && row.costNanoUsd > 0) {
    counts.add(owner, shownName(row.provider), { costNanoUsd: row.costNanoUsd })
  }
}

/** A search that a model has called for: in the request of that model, with its cost. */
const askFor = ({ catalog, counts }: Deps, asked: AskedSearch): SearchAsking | null => {
  const request = readSearchRequest(requestOf(asked))
  if (Either.isLeft(request)) return null
  const route = routeOf(catalog.current(), request.right)
  if (route instanceof InvalidRequest) return null
  const search: Search = { ...request.right.search, since: null }
  return {
    exchange: {
      codec: searchCodec,
      body: Buffer.from(JSON.stringify(bodyOf(search, route.requestedModel))),
      service: route.service
    },
    hitsIn: (text) => hitsIn(text, asked),
    over: (exchange, attempts) => {
      for (const { latencyMs, outcome, provider } of attempts) {
        const isAnswered = outcome === "completed"
        counts.add(apiKeyIdOf(exchange) ?? "", shownName(provider), {
          requests: 1,
          errors: outcome === "failed" ? 1 : 0,
          ...(isAnswered ? { answered: 1, latencyMs } : {})
        })
      }
    }
  }
}

export const make = Effect.gen(function* () {
  const all = yield* services
  const cache = new FairPool<string, Kept>({
    ownerOf: ({ owner }) => owner,
    capacity: mostKept,
    maxWeight: mostKeptBytes,
    weightOf: ({ bytes }) => bytes,
    ttlMs: Math.max(1, all.appConfig.searchCacheTtlMs)
  })
  /** Searches in progress in the pipeline, by the id of the request that began them. */
  const running = new Map<string, Running>()
  const deps: Deps = { ...all, cache, running, flights: new Map() }

  const noLongerListen = deps.events.listenToRequests((row) => {
    const own = running.get(row.requestId)
    if (own === undefined || own.row !== null) return
    own.row = row
    count(deps, row)
    if (own.isAbandoned) running.delete(row.requestId)
  })
  yield* Effect.addFinalizer(() => Effect.sync(noLongerListen))

  deps.modelSearches.attach({
    ask: (asked) => askFor(deps, asked),
    isReady: () => deps.catalog.current().accounts.some(isForSearches)
  })
  return Searches.of({ serve: (exchange) => serve(deps, exchange) })
})

export const layer: Layer.Layer<Searches, never, Effect.Effect.Context<typeof services>> = Layer.scoped(Searches, make)
