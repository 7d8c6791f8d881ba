/** Usage rows, newest first, and the quotas of a connection. */
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as OpenApi from "@effect/platform/OpenApi"
import * as Schema from "effect/Schema"
import * as Struct from "effect/Struct"
import { QuotaUnit, quotaWords, QuotaWindow } from "../connections/entity.ts"
import { CostFacts } from "../../contract/domain/CostFacts.ts"
import { WireName } from "../../contract/domain/Wire.ts"
import { endpointsOf } from "../../contract/Endpoints.ts"
import { NotFoundAnswer, UnavailableAnswer } from "../../contract/Errors.ts"
import { exampleId, exampleKeyId, exampleRequestId, exampleTime } from "../../contract/Examples.ts"
import { IsoTimeOrDay, nextCursor, PageQuery, TimeZone } from "../../contract/Inputs.ts"
import { knownCallers } from "../../contract/domain/Usage.ts"
import { field } from "../../kernel/Documented.ts"

export const UsageLog = Schema.Struct({
  id: field(Schema.String, "Id of the row.", exampleId),
  timestamp: field(Schema.String, "When the request arrived, ISO 8601.", exampleTime),
  requestId: field(Schema.String, "The answer's `X-Gateway-Request-Id`.", exampleRequestId),
  apiKeyId: field(Schema.NullOr(Schema.String), "Who asked; null: a caller without a key.", exampleKeyId),
  principal: field(
    Schema.Literal("key", ...knownCallers, "anonymous"),
    "Who asked: an API key; the operator, whose tests of connections stand here too; an admin session; or a caller without a key.",
    "key"
  ),
  requestedModel: field(Schema.String, "The model id of the request.", "auto"),
  combo: field(Schema.NullOr(Schema.String), "The combo that served it; null: none.", null),
  provider: field(Schema.NullOr(Schema.String), "The provider that served it; null: none did.", "openai"),
  connectionId: field(Schema.NullOr(Schema.String), "The connection that served it; null: none did.", exampleId),
  model: field(Schema.NullOr(Schema.String), "The model that served it; null: none did.", "gpt-4o-mini"),
  sourceWire: field(WireName, "The wire format of the request."),
  targetWire: field(Schema.NullOr(WireName), "The wire format of the call; null: there was none.", "chat"),
  streamed: field(Schema.Boolean, "Whether the answer was a stream.", true),
  outcome: field(Schema.Literal("completed", "failed", "aborted"), "How it ended; `aborted`: the client left."),
  status: field(Schema.Number, "HTTP status of the answer.", 200),
  latencyMs: field(Schema.Number, "Milliseconds until the end of the answer.", 1_840),
  ttftMs: field(Schema.NullOr(Schema.Number), "Milliseconds until its first content; null: there was none.", 410),
  attempts: field(Schema.Number, "Calls to upstreams.", 1),
  tokens: field(
    Schema.Struct({
      in: field(Schema.Number, "Tokens of the prompt, the cached ones included.", 1_250),
      out: field(Schema.Number, "Tokens of the answer, reasoning included.", 310),
      cacheRead: field(Schema.Number, "Tokens of the prompt read from the provider's cache.", 1_024),
      cacheWrite: field(Schema.Number, "Tokens of the prompt written to the provider's cache.", 0),
      reasoning: field(Schema.Number, "Tokens of reasoning.", 0)
    }),
    "Tokens of the request."
  ),
  told: field(
    Schema.NullOr(
      Schema.Struct({
        in: field(Schema.Number, "Tokens of the prompt, as the upstream told.", 1_000_000_000),
        out: field(Schema.Number, "Tokens of the answer, as the upstream told.", 310),
        cacheRead: field(Schema.Number, "Tokens read from the provider's cache, as the upstream told.", 0),
        cacheWrite: field(Schema.Number, "Tokens written to the provider's cache, as the upstream told.", 0),
        reasoning: field(Schema.Number, "Tokens of reasoning, as the upstream told.", 0)
      })
    ),
    "What the upstream told, where that cannot be and `tokens` is the gateway's own count; null: it was believed.",
    null
  ),
  costUsd: field(Schema.Number, "What it cost, in USD.", 0.000312),
  costSource: field(
    Schema.Literal("computed", "upstream"),
    "Where the cost is from: the counts and the prices, or the provider's own charge, where its documentation says that it is one.",
    "computed"
  ),
  computedCostUsd: field(Schema.Number, "What the counts and the prices say that it cost, in USD.", 0.000312),
  unpricedParts: field(
    Schema.Array(Schema.String),
    "What was used and has no price, so that the cost is without it: `input`, `output`, `webSearches`, `serviceTier:flex` and the like.",
    []
  ),
  costFacts: field(
    Schema.NullOr(CostFacts),
    "What the price depended on besides the counts; null: nothing, or several calls were made.",
    null
  ),
  priced: field(
    Schema.Boolean,
    "Whether a price is known; without one the cost is 0. What a known price lacks is in `unpricedParts`.",
    true
  ),
  usageSource: field(Schema.Literal("upstream", "estimated"), "Who counted the tokens."),
  error: field(Schema.NullOr(Schema.String), "Why it failed; null: it did not.", null),
  batchId: field(Schema.NullOr(Schema.String), "The batch whose line it is; null: a client asked by itself.", null),
  egress: field(
    Schema.NullOr(Schema.String),
    "The way its call took: `direct`, or the name of the proxy; null: there was no call.",
    "direct"
  ),
  tags: field(Schema.Array(Schema.String), "Tags that the client gave in `X-Gateway-Tags`.", ["project=atlas"]),
  node: field(
    Schema.optionalWith(Schema.String, { exact: true }),
    "The gateway that served it, of several on one database; absent where one has its database for itself.",
    "gateway-1:8080"
  ),
  cacheHit: field(Schema.Boolean, "Whether the cache answered in place of a call.", false),
  sessionId: field(
    Schema.NullOr(Schema.String),
    "The session that the client named; a hash where it is long or looks like a credential; null: none.",
    "session-7"
  ),
  apiKeyName: field(
    Schema.NullOr(Schema.String),
    "The key's name, its last one where the key was deleted; null: not known, or no key asked.",
    "laptop"
  ),
  connectionName: field(
    Schema.NullOr(Schema.String),
    "The connection's name, its last one where it was deleted; null: not known, or none served it.",
    "work"
  ),
  hasDecision: field(
    Schema.Boolean,
    "Whether its routing decision is kept: `/api/routing/decisions/{requestId}`.",
    true
  ),
  captureId: field(
    Schema.NullOr(Schema.String),
    "Its record in the traffic inspector; null: it has none, or no longer.",
    null
  ),
  coalesced: field(Schema.Boolean, "Whether it got the answer of an equal request in place of a call.", false)
}).annotations({ identifier: "UsageLog" })
export type UsageLog = typeof UsageLog.Type

const notGivenOut = { message: () => "is not one that this list gave out" }

/** An exact status, a class of them, or how the request ended. */
const StatusFilter = Schema.String.pipe(
  Schema.pattern(/^(?:[1-5]xx|[1-5]\d\d|completed|failed|aborted)$/, {
    message: () => "must be a status such as 429, a class of them such as 5xx, or completed, failed or aborted"
  })
)

const given = <A, I>(schema: Schema.Schema<A, I>) => Schema.optionalWith(schema, { exact: true })
const Word = Schema.String.pipe(Schema.minLength(1), Schema.maxLength(300))

/** A number that is not negative. */
const AtLeast = Schema.NumberFromString.pipe(
  Schema.filter((value) => (Number.isFinite(value) && value >= 0 ? true : "must be a number, 0 or more"))
).annotations({ jsonSchema: { type: "number", minimum: 0 } })

/** Filters of rows: each one given must fit. A name that is none of these is refused: it would filter nothing. */
export const LogsQuery = Schema.Struct({
  limit: PageQuery.fields.limit,
  cursor: field(
    given(Schema.String.pipe(Schema.pattern(/^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/, notGivenOut))),
    "The `nextCursor` of the page before this one; absent: the first page.",
    exampleRequestId
  ),
  after: field(
    given(Schema.String.pipe(Schema.pattern(/^(?:latest|w\d{1,15})$/, notGivenOut))),
    "To follow the log: rows that were written since, in that order. `latest`, and then the `nextCursor` of each answer, which is never null here.",
    "latest"
  ),
  requestId: field(
    given(Word),
    "The beginning of a row's id, which is its request's where the gateway made it.",
    "0199"
  ),
  model: field(given(Word), "The model that served the request, with or without its provider.", "openai/gpt-4o-mini"),
  requestedModel: field(given(Word), "The model id of the request.", "auto"),
  provider: field(given(Word), "The provider that served it.", "openai"),
  connectionId: field(given(Word), "The connection that served it.", exampleId),
  apiKeyId: field(given(Word), "The API key that asked.", exampleKeyId),
  combo: field(given(Word), "The combo that served it.", "fast"),
  outcome: field(
    given(Schema.Literal("completed", "failed", "aborted")),
    "How it ended; `aborted`: the client left.",
    "failed"
  ),
  sessionId: field(
    given(Schema.String.pipe(Schema.minLength(1), Schema.maxLength(1_000))),
    "The session that the client named, as the row has it or as the client sent it.",
    "session-7"
  ),
  tag: field(given(Word), "A tag that the client gave in `X-Gateway-Tags`, whole.", "project=atlas"),
  error: field(given(Word), "Why it failed, the whole text.", "upstream_timeout"),
  minLatencyMs: field(given(AtLeast), "Milliseconds until the end of the answer, at least.", 5_000),
  minCostUsd: field(given(AtLeast), "What it cost, in USD, at least.", 0.01),
  cacheHit: field(given(Schema.Literal("true", "false")), "Whether the cache answered in place of a call.", "true"),
  batchId: field(given(Word), "The batch whose lines they are.", "batch_0199"),
  status: field(given(StatusFilter), "HTTP status of the answer, a class of them, or how the request ended.", "5xx"),
  from: field(given(IsoTimeOrDay), "Requests that arrived then or later, ISO 8601.", exampleTime),
  to: field(given(IsoTimeOrDay), "Requests that arrived before, ISO 8601.", "2035-01-01T00:00:00.000Z"),
  search: field(
    given(Schema.String.pipe(Schema.minLength(1), Schema.maxLength(200))),
    "A text in one of the ids, names, the outcome, the status or the error; upper and lower case of A to Z are the same.",
    "timeout"
  )
}).annotations({ parseOptions: { onExcessProperty: "error", errors: "all" } })
export type LogsQuery = typeof LogsQuery.Type

const { after: _after, cursor: _cursor, from: _from, limit: _limit, to: _to, ...filters } = LogsQuery.fields

/** Filters of rows, without the page and the time. */
export const rowFilters = filters

const strict = { parseOptions: { onExcessProperty: "error", errors: "all" } } as const

export const SeriesQuery = Schema.Struct({
  from: field(
    given(IsoTimeOrDay),
    "Where it begins, ISO 8601; a day begins by the clocks of `tz`. Steps are whole: the first one may begin before. Absent: 24 hours before `to`.",
    "2035-01-01"
  ),
  to: field(
    given(IsoTimeOrDay),
    "Where it ends, likewise; the day itself is not in it, and the last step may end after. Absent: now.",
    "2035-01-15"
  ),
  step: field(
    given(Schema.Literal("auto", "minute", "hour", "day")),
    "Length of a step, by the clocks of `tz`; absent or `auto`: minutes up to 6 hours, hours up to 14 days, then days. At most 500 steps are answered.",
    "hour"
  ),
  tz: field(given(TimeZone), "The time zone of the steps, a name of the IANA database; absent: UTC.", "Europe/Zurich"),
  by: field(
    given(Schema.Literal("provider", "model", "connection", "apiKey", "combo", "outcome")),
    "What to split by; absent: one series, `total`.",
    "provider"
  ),
  top: field(
    given(
      Schema.NumberFromString.pipe(Schema.int(), Schema.between(1, 30)).annotations({
        jsonSchema: { type: "integer", minimum: 1, maximum: 30 }
      })
    ),
    "Series at most, those with the most requests; all others are in `rest`. Absent: 10.",
    10
  ),
  ...filters
}).annotations(strict)
export type SeriesQuery = typeof SeriesQuery.Type

export const FacetsQuery = Schema.Struct({
  from: LogsQuery.fields.from,
  to: LogsQuery.fields.to,
  most: field(
    given(
      Schema.NumberFromString.pipe(Schema.int(), Schema.between(1, 200)).annotations({
        jsonSchema: { type: "integer", minimum: 1, maximum: 200 }
      })
    ),
    "Values of each field at most, the most frequent; absent: 50.",
    50
  ),
  ...filters
}).annotations(strict)
export type FacetsQuery = typeof FacetsQuery.Type

const FacetValue = Schema.Struct({
  value: field(Schema.String, "What the filter of this name takes.", "openai"),
  name: field(Schema.NullOr(Schema.String), "Its name for people, where it is an id; null: not known.", null),
  count: field(Schema.Number, "Rows that have it.", 1_200)
}).annotations({ identifier: "UsageFacetValue" })

const facet = (what: string, value: string) =>
  field(Schema.Array(FacetValue), `${what} The most frequent first.`, [{ value, name: null, count: 1_200 }])

export const UsageFacets = Schema.Struct({
  facets: field(
    Schema.Struct({
      provider: facet("Providers.", "openai"),
      model: facet("Models with their providers.", "openai/gpt-4o-mini"),
      requestedModel: facet("Model ids of the requests.", "auto"),
      connectionId: facet("Connections.", exampleId),
      apiKeyId: facet("API keys.", exampleKeyId),
      combo: facet("Combos.", "fast"),
      outcome: facet("How requests ended.", "completed"),
      status: facet("HTTP statuses.", "200"),
      error: facet("Why they failed.", "upstream_timeout"),
      sessionId: facet("Sessions.", "session-7"),
      batchId: facet("Batches.", "batch_0199")
    }).annotations({ identifier: "UsageFacetsByField" }),
    "Values by the names of their filters."
  ),
  rows: field(Schema.Number, "Rows that fit the filters, of those that were looked at.", 1_200),
  scannedTo: field(
    Schema.NullOr(Schema.String),
    "Requests that arrived before this time were not looked at, because there are more than 100,000; null: all were.",
    null
  )
}).annotations({ identifier: "UsageFacets" })
export type UsageFacets = typeof UsageFacets.Type

const ownBy = Schema.Literal("provider", "model", "combo", "outcome")

/** Filters that a key may give for its own rows: none by which accounts, their errors or other keys could be guessed. */
const own = Struct.pick(filters, "model", "provider", "combo", "outcome", "status")

export const OwnSeriesQuery = Schema.Struct({
  ...Struct.pick(SeriesQuery.fields, "from", "to", "step", "tz", "top"),
  by: field(given(ownBy), "What to split by; absent: one series, `total`.", "model"),
  ...own
}).annotations(strict)

export const OwnLogsQuery = Schema.Struct({
  ...Struct.pick(
    LogsQuery.fields,
    "limit",
    "cursor",
    "from",
    "to",
    "requestId",
    "requestedModel",
    "sessionId",
    "batchId",
    "tag"
  ),
  ...own
}).annotations(strict)
export type OwnLogsQuery = typeof OwnLogsQuery.Type

export const OwnUsageLog = Schema.Struct(
  Struct.omit(
    UsageLog.fields,
    "apiKeyId",
    "apiKeyName",
    "principal",
    "connectionId",
    "connectionName",
    "error",
    "egress",
    "node",
    "hasDecision",
    "captureId"
  )
).annotations({ identifier: "OwnUsageLog" })

export type OwnUsageLog = typeof OwnUsageLog.Type

export const OwnUsageLogs = Schema.Struct({
  logs: field(Schema.Array(OwnUsageLog), "The rows of the page."),
  nextCursor
}).annotations({ identifier: "OwnUsageLogList" })

const stepNumbers = (what: string, example: number) => field(Schema.Array(Schema.Number), what, [example])
const percentiles = (what: string, example: number) =>
  field(
    Schema.Array(Schema.NullOr(Schema.Number)),
    `${what} From counts by latency: right to a fifth or so; null: no request.`,
    [example]
  )

const stepSums = {
  requests: stepNumbers("Requests of each step, also failed and aborted ones.", 120),
  failed: stepNumbers("Requests of them that failed.", 2),
  tokensIn: stepNumbers("Tokens of prompts, the cached ones included.", 150_000),
  tokensOut: stepNumbers("Tokens of answers, reasoning included.", 42_000),
  cacheRead: stepNumbers("Tokens of prompts read from a provider's cache.", 90_000),
  costUsd: stepNumbers("What they cost, in USD.", 0.42),
  p50Ms: percentiles("Latency in ms that half of the requests stayed below.", 1_240),
  p95Ms: percentiles("Latency in ms that 95 of 100 requests stayed below.", 4_100)
}

const StepSums = Schema.Struct(stepSums).annotations({ identifier: "UsageSteps" })

const exampleSums: typeof StepSums.Type = {
  requests: [120],
  failed: [2],
  tokensIn: [150_000],
  tokensOut: [42_000],
  cacheRead: [90_000],
  costUsd: [0.42],
  p50Ms: [1_240],
  p95Ms: [4_100]
}

const OneSeries = Schema.Struct({
  key: field(
    Schema.NullOr(Schema.String),
    "What its requests have in common: an id, a name, `provider/model`, or an outcome; null: they have none.",
    "openai"
  ),
  name: field(Schema.NullOr(Schema.String), "Its name for people; null: not known.", "openai"),
  ...stepSums
}).annotations({ identifier: "UsageSeriesOfKey" })

export const UsageSeriesView = Schema.Struct({
  step: field(Schema.Literal("minute", "hour", "day"), "Length of the steps.", "hour"),
  tz: field(Schema.String, "The time zone of the steps.", "UTC"),
  by: field(
    Schema.NullOr(Schema.Literal("provider", "model", "connection", "apiKey", "combo", "outcome")),
    "What it is split by; null: nothing.",
    "provider"
  ),
  starts: field(Schema.Array(Schema.String), "Where each step begins, ISO 8601, the oldest first.", [exampleTime]),
  end: field(Schema.String, "Where the last step ends, ISO 8601.", "2035-01-01T01:00:00.000Z"),
  series: field(Schema.Array(OneSeries), "The series with the most requests, those first.", [
    { key: "openai", name: "openai", ...exampleSums }
  ]),
  rest: field(StepSums, "Requests that are in none of `series`.", exampleSums),
  total: field(StepSums, "All requests.", exampleSums),
  basis: field(
    Schema.Literal("sums", "log"),
    "`sums`: the sums, which outlive the rows of the log; `log`: rows of the log, because a filter or the steps need them.",
    "sums"
  ),
  scannedTo: field(
    Schema.NullOr(Schema.String),
    "Where `basis` is `log`: requests that arrived before this time were not looked at, because the range has more than 200,000; null: all were.",
    null
  ),
  inexact: field(Schema.Array(Schema.String), "What is not exact, in sentences.", [])
}).annotations({ identifier: "UsageSeries" })
export type UsageSeriesView = typeof UsageSeriesView.Type

/**
 * One quota of a connection. `source`: the operator declared it (then the gateway counts it), or it was learned from the provider.
 * Null: unknown.
 */
export const QuotaView = Schema.Struct({
  used: field(Schema.Number, "How much is used, in the unit.", 120),
  total: field(Schema.NullOr(Schema.Number), "How much there is; null: unknown.", 1_000),
  remaining: field(Schema.NullOr(Schema.Number), "How much is left; null: unknown.", 880),
  remainingPercentage: field(Schema.NullOr(Schema.Number), "The same in percent; null: unknown.", 88),
  resetAt: field(Schema.NullOr(Schema.String), "When it is renewed, ISO 8601; null: unknown.", exampleTime),
  unit: field(QuotaUnit, quotaWords.unit),
  source: field(
    Schema.Literal("declared", "learned"),
    "Declared by the operator and counted here, or learned from the provider."
  )
}).annotations({ identifier: "Quota" })
export type QuotaView = typeof QuotaView.Type

/** A rate limit of a short window, or of one that the provider does not name; `model` is null when it holds for all. */
const RateLimitView = Schema.Struct({
  model: field(Schema.NullOr(Schema.String), "The model it holds for; null: all of them.", null),
  name: field(Schema.String, "The provider's name for it.", "requests"),
  total: field(Schema.NullOr(Schema.Number), "How much there is; null: unknown.", 500),
  remaining: field(Schema.Number, "How much is left.", 499),
  resetAt: field(Schema.NullOr(Schema.String), "When it is renewed, ISO 8601; null: unknown.", exampleTime)
}).annotations({ identifier: "RateLimit" })

/** `quotas` has the tightest of each window and of each rate limit by its name; `limits` all windows, `rates` all rate limits. */
export const ConnectionUsage = Schema.Struct({
  plan: field(Schema.NullOr(Schema.String), "Plan of the account; null: unknown.", "pro"),
  quotas: field(
    Schema.Record({ key: Schema.String, value: QuotaView }),
    "By window or name of the rate limit the one with the least left.",
    {
      daily: {
        used: 120,
        total: 1_000,
        remaining: 880,
        remainingPercentage: 88,
        resetAt: exampleTime,
        unit: "requests",
        source: "declared"
      }
    }
  ),
  limits: field(
    Schema.Array(Schema.Struct({ window: field(QuotaWindow, quotaWords.window, "daily"), ...QuotaView.fields })),
    "All quotas."
  ),
  rates: field(Schema.Array(RateLimitView), "All rate limits.")
}).annotations({ identifier: "ConnectionUsage" })
export type ConnectionUsage = typeof ConnectionUsage.Type

/** One quota or rate limit of a connection, with the time at which it will be used up. */
export const QuotaWindowView = Schema.Struct({
  connectionId: field(Schema.String, "The connection.", exampleId),
  connectionName: field(Schema.String, "Its name.", "work"),
  provider: field(Schema.String, "Its provider.", "openai"),
  plan: field(Schema.NullOr(Schema.String), "Plan of the account; null: unknown.", "pro"),
  window: field(
    Schema.String,
    "`5h`, `hourly`, `daily`, `weekly` or `monthly`; of a rate limit the provider's name for it.",
    "daily"
  ),
  model: field(Schema.NullOr(Schema.String), "The model a rate limit holds for; null: all of them.", null),
  used: field(Schema.Number, "How much is used, in the unit.", 120),
  total: field(Schema.NullOr(Schema.Number), "How much there is; null: unknown.", 1_000),
  remaining: field(Schema.NullOr(Schema.Number), "How much is left; null: unknown.", 880),
  remainingPercentage: field(Schema.NullOr(Schema.Number), "The same in percent; null: unknown.", 88),
  unit: field(QuotaUnit, quotaWords.unit),
  resetAt: field(Schema.NullOr(Schema.String), "When it is renewed, ISO 8601; null: unknown.", exampleTime),
  exhaustedAt: field(
    Schema.NullOr(Schema.String),
    "When it will be used up at the pace of its window, ISO 8601, or now where it is; null: not before it is renewed, or not known.",
    null
  ),
  source: field(
    Schema.Literal("declared", "learned", "header"),
    "What the figures are from: `declared`: the operator declared it, and it is counted here; `learned`: the provider told it of a window; `header`: a rate limit in the headers of its last answers.",
    "declared"
  ),
  basis: field(
    Schema.Literal("declared", "learned", "header", "forecast"),
    "What `exhaustedAt` is from: `forecast`: the pace of the window; else as `source`.",
    "declared"
  )
}).annotations({ identifier: "QuotaWindow" })
export type QuotaWindowView = typeof QuotaWindowView.Type

export const QuotaWindows = Schema.Struct({
  windows: field(
    Schema.Array(QuotaWindowView),
    "Quotas, connection by connection, and of rate limits the one with the least left by name."
  )
}).annotations({ identifier: "QuotaWindowList" })

const at = endpointsOf("usage", { connectionId: ["Id of the connection.", exampleId] })

const aboutLogs =
  "One row per request, also for failed and aborted ones; the newest first. Without `limit` 50 rows. Every filter that is given must fit. A page is full unless the log ends (`nextCursor` null), or looking took too long: `scannedTo` says how far it got, and it goes on with `nextCursor`."

export const UsageLogs = Schema.Struct({
  logs: field(Schema.Array(UsageLog), "The rows of the page."),
  nextCursor,
  scannedTo: field(
    Schema.NullOr(Schema.String),
    "When the request arrived down to which rows were looked at, ISO 8601; null: all of them were.",
    null
  )
}).annotations({ identifier: "UsageLogList" })

export class Usage extends HttpApiGroup.make("usage")
  .annotate(OpenApi.Title, "Usage")
  .annotate(OpenApi.Description, "What was asked, what it cost, and what is left of quotas.")
  .add(at("logs", { summary: "List requests", description: aboutLogs }).setUrlParams(LogsQuery).addSuccess(UsageLogs))
  .add(
    at("requestLogs", {
      summary: "List requests (request-logs)",
      description: `The same as \`/api/usage/logs\`. ${aboutLogs}`
    })
      .setUrlParams(LogsQuery)
      .addSuccess(UsageLogs)
  )
  .add(
    at("facets", {
      summary: "List values that the log can be filtered by",
      description:
        "For the completion of filters: what the newest 100,000 rows have in each field, with how many rows have it, as far as they fit the filters that are given."
    })
      .setUrlParams(FacetsQuery)
      .addSuccess(UsageFacets)
      .addError(UnavailableAnswer)
  )
  .add(
    at("series", {
      summary: "Show usage step by step",
      description:
        "Sums of each minute, hour or day of a range, by the clocks of a time zone, split by what you like and filtered as the log is. The series and `rest` add up to `total`. A request counts in the step in which it arrived, from the moment it has ended."
    })
      .setUrlParams(SeriesQuery)
      .addSuccess(UsageSeriesView)
      .addError(UnavailableAnswer)
  )
  .add(
    at("meSeries", {
      summary: "Show the key's own usage step by step",
      description:
        "As `/api/usage/series`, of the API key of the request only, and without accounts. Any key of scope `self:usage` may ask."
    })
      .setUrlParams(OwnSeriesQuery)
      .addSuccess(UsageSeriesView)
      .addError(UnavailableAnswer)
      .addError(NotFoundAnswer)
  )
  .add(
    at("meLogs", {
      summary: "List the key's own requests",
      description:
        "As `/api/usage/logs`, of the API key of the request only: without accounts and the words of their errors. Any key of scope `self:usage` may ask."
    })
      .setUrlParams(OwnLogsQuery)
      .addSuccess(OwnUsageLogs)
      .addError(NotFoundAnswer)
  )
  .add(
    at("quotas", {
      summary: "List the quotas of all connections",
      description: "What is used and left of each, when it is renewed, and when it will be used up at its present pace."
    }).addSuccess(QuotaWindows)
  )
  .add(
    at("connection", {
      summary: "Show the quotas of a connection",
      description: "What the operator declared, and what was learned from the provider's answers."
    })
      .addSuccess(ConnectionUsage)
      .addError(NotFoundAnswer)
  ) {}
