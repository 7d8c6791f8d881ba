/** Usage over a range of time, the log as a file, and its deletion. */
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as HttpApiSchema from "@effect/platform/HttpApiSchema"
import * as OpenApi from "@effect/platform/OpenApi"
import * as Schema from "effect/Schema"
import { callReasons } from "../../contract/domain/CallReason.ts"
import { UsageRange } from "./entity.ts"
import { field } from "../../kernel/Documented.ts"
import { endpointsOf } from "../../contract/Endpoints.ts"
import { UnavailableAnswer } from "../../contract/Errors.ts"
import { exampleId, exampleKeyId, exampleRequestId, exampleTime } from "../../contract/Examples.ts"
import { body, IsoDay, IsoTimeOrDay, optional, TimeZone } from "../../contract/Inputs.ts"
import { LogsQuery, rowFilters, SeriesQuery, UsageSeriesView } from "../usage/routes.ts"

const strict = { parseOptions: { onExcessProperty: "error", errors: "all" } } as const

export const RangeQuery = Schema.Struct({
  range: field(
    Schema.optionalWith(UsageRange, { exact: true }),
    "How far back, from `to` or from now; absent: 24h, or what `from` says. From a day on it begins at a whole hour, 90d at a whole day in UTC.",
    "30d"
  ),
  from: field(
    Schema.optionalWith(IsoTimeOrDay, { exact: true }),
    "Where it begins instead, ISO 8601; a day begins by the clocks of `timezone`. Sums are by whole hours.",
    "2035-01-01"
  ),
  to: field(
    Schema.optionalWith(IsoTimeOrDay, { exact: true }),
    "Where it ends, likewise; the day itself is not in it. Absent: now.",
    "2035-02-01"
  ),
  timezone: field(
    Schema.optionalWith(TimeZone, { exact: true }),
    "The time zone of the days, a name of the IANA database; absent: UTC.",
    "Europe/Zurich"
  )
}).annotations(strict)
export type RangeQuery = typeof RangeQuery.Type

const words = {
  requests: ["Requests, also failed and aborted ones.", 1_200],
  tokensIn: ["Tokens of prompts, the cached ones included.", 1_500_000],
  tokensOut: ["Tokens of answers, reasoning included.", 420_000],
  costUsd: ["What they cost, in USD.", 4.21],
  lastUsedAt: ["When the latest request arrived, ISO 8601; null: there was none.", exampleTime]
} as const

const sums = {
  requests: field(Schema.Number, ...words.requests),
  failed: field(Schema.Number, "Requests that failed.", 12),
  aborted: field(Schema.Number, "Requests whose client left.", 3),
  unpriced: field(Schema.Number, "Requests of a model without a known price; they count as 0 USD.", 0),
  tokensIn: field(Schema.Number, ...words.tokensIn),
  tokensOut: field(Schema.Number, ...words.tokensOut),
  tokensCacheRead: field(Schema.Number, "Tokens of prompts read from a provider's cache.", 900_000),
  tokensCacheWrite: field(Schema.Number, "Tokens of prompts written to a provider's cache.", 0),
  tokensReasoning: field(Schema.Number, "Tokens of reasoning.", 20_000),
  costUsd: field(Schema.Number, ...words.costUsd),
  avgLatencyMs: field(Schema.Number, "Milliseconds until the end of an answer, on average.", 1_840),
  avgTtftMs: field(
    Schema.NullOr(Schema.Number),
    "Milliseconds until the first content, on average; null: unknown.",
    410
  ),
  successRate: field(Schema.Number, "The part of the requests that were completed, from 0 to 1; 0 without any.", 0.98),
  lastUsedAt: field(Schema.NullOr(Schema.String), ...words.lastUsedAt)
}

export const UsageSummary = Schema.Struct(sums).annotations({ identifier: "UsageSummary" })
export type UsageSummary = typeof UsageSummary.Type

const provider = field(Schema.NullOr(Schema.String), "The provider; null: none served them.", "openai")

export const UsageByDay = Schema.Struct({
  date: field(Schema.String, "The day, by the clocks of `timezone`.", "2035-01-01"),
  ...sums
}).annotations({ identifier: "UsageByDay" })
export const UsageByProvider = Schema.Struct({ provider, ...sums }).annotations({ identifier: "UsageByProvider" })
export const UsageByModel = Schema.Struct({
  model: field(
    Schema.NullOr(Schema.String),
    "The model; null: none served them, `(other)`: models that were too many to be told apart.",
    "gpt-4o-mini"
  ),
  provider,
  ...sums
}).annotations({ identifier: "UsageByModel" })
export const UsageByConnection = Schema.Struct({
  connectionId: field(Schema.NullOr(Schema.String), "The connection; null: none served them.", exampleId),
  name: field(Schema.NullOr(Schema.String), "Its name; null: it is gone.", "work"),
  ...sums
}).annotations({ identifier: "UsageByConnection" })
export const UsageByApiKey = Schema.Struct({
  apiKeyId: field(Schema.NullOr(Schema.String), "The key; null: callers without one.", exampleKeyId),
  name: field(Schema.NullOr(Schema.String), "Its name; null: it is gone, or there is none.", "laptop"),
  ...sums
}).annotations({ identifier: "UsageByApiKey" })

const period = {
  range: field(Schema.NullOr(UsageRange), "The range that was asked for; null: `from` or `to` was given.", "24h"),
  from: field(Schema.String, "Where it begins, ISO 8601.", exampleTime),
  to: field(Schema.String, "Where it ends, ISO 8601.", "2035-01-02T00:00:00.000Z"),
  timezone: field(Schema.String, "The time zone of the days.", "UTC"),
  inexact: field(
    Schema.Array(Schema.String),
    "What is not exact, in sentences: `from` or `to` at no whole hour, days of zones that begin at half hours, days from before the sums by hour.",
    []
  )
}

export const UsageAnalytics = Schema.Struct({
  ...period,
  summary: field(UsageSummary, "All requests of the range."),
  dailyTrend: field(Schema.Array(UsageByDay), "By day, the oldest first, also days without requests."),
  byProvider: field(Schema.Array(UsageByProvider), "By provider, the most requests first, 500 at most."),
  byModel: field(Schema.Array(UsageByModel), "By model, likewise."),
  byConnection: field(Schema.Array(UsageByConnection), "By connection, likewise."),
  byApiKey: field(Schema.Array(UsageByApiKey), "By API key, likewise.")
}).annotations({ identifier: "UsageAnalytics" })
export type UsageAnalytics = typeof UsageAnalytics.Type

const Totals = Schema.Struct({
  requests: field(Schema.Number, ...words.requests),
  promptTokens: field(Schema.Number, ...words.tokensIn),
  completionTokens: field(Schema.Number, ...words.tokensOut),
  cost: field(Schema.Number, ...words.costUsd),
  lastUsed: field(Schema.NullOr(Schema.String), ...words.lastUsedAt)
}).annotations({ identifier: "UsageTotals" })

const exampleTotals = {
  requests: 1_200,
  promptTokens: 1_500_000,
  completionTokens: 420_000,
  cost: 4.21,
  lastUsed: exampleTime
}
const totalsBy = (what: string, example: string) =>
  field(Schema.Record({ key: Schema.String, value: Totals }), what, { [example]: exampleTotals })

const counts = (what: string, example: string) =>
  field(Schema.Record({ key: Schema.String, value: Schema.Number }), what, { [example]: 2 })

export const UsageHistoryView = Schema.Struct({
  ...period,
  totalRequests: field(Schema.Number, ...words.requests),
  totalPromptTokens: field(Schema.Number, ...words.tokensIn),
  totalCompletionTokens: field(Schema.Number, ...words.tokensOut),
  totalCost: field(Schema.Number, ...words.costUsd),
  byProvider: totalsBy("By provider; `none`: requests that none served.", "openai"),
  byModel: totalsBy("By `provider/model`.", "openai/gpt-4o-mini"),
  byAccount: totalsBy("By the id of the connection.", exampleId),
  byApiKey: totalsBy("By the id of the API key; `none`: callers without one.", exampleKeyId),
  last10Minutes: field(
    Schema.Array(
      Schema.Struct({
        time: field(Schema.String, "Where the minute begins, ISO 8601.", exampleTime),
        requests: field(Schema.Number, ...words.requests),
        promptTokens: field(Schema.Number, ...words.tokensIn),
        completionTokens: field(Schema.Number, ...words.tokensOut),
        cost: field(Schema.Number, ...words.costUsd)
      }).annotations({ identifier: "UsageMinute" })
    ),
    "Ten minutes, the oldest first; the last one is not over. Requests count in the minute they arrived in."
  ),
  pending: field(
    Schema.Struct({
      byModel: counts("By `provider/model`.", "openai/gpt-4o-mini"),
      byAccount: counts("By the id of the connection.", exampleId)
    }),
    "Calls to providers that are under way."
  ),
  activeRequests: field(
    Schema.Array(
      Schema.Struct({
        provider: field(Schema.NullOr(Schema.String), "The provider; null: its connection is gone.", "openai"),
        model: field(Schema.String, "The model.", "gpt-4o-mini"),
        account: field(Schema.String, "Id of the connection.", exampleId),
        count: field(Schema.Number, "Calls under way.", 2)
      }).annotations({ identifier: "ActiveCalls" })
    ),
    "The same, by connection and model."
  )
}).annotations({ identifier: "UsageHistory" })
export type UsageHistoryView = typeof UsageHistoryView.Type

export const ExportQuery = Schema.Struct({
  format: field(
    Schema.optionalWith(Schema.Literal("csv", "jsonl"), { exact: true }),
    "Comma-separated values, or one JSON object a line; absent: csv.",
    "csv"
  ),
  ...LogsQuery.pick("model", "provider", "apiKeyId", "status", "from", "to").fields
}).annotations(strict)
export type ExportQuery = typeof ExportQuery.Type

const given = <A, I>(schema: Schema.Schema<A, I>) => Schema.optionalWith(schema, { exact: true })

const dimensions = ["provider", "model", "connection", "apiKey", "combo", "outcome"] as const

export const BreakdownQuery = Schema.Struct({
  from: SeriesQuery.fields.from,
  to: SeriesQuery.fields.to,
  tz: field(
    given(TimeZone),
    "The time zone of the days, a name of the IANA database; absent: UTC. Days are whole.",
    "Europe/Zurich"
  ),
  by: field(Schema.Literal(...dimensions), "What to split by.", "model"),
  and: field(given(Schema.Literal(...dimensions)), "What to split each of them by; absent: nothing.", "apiKey"),
  top: field(
    given(
      Schema.NumberFromString.pipe(Schema.int(), Schema.between(1, 500)).annotations({
        jsonSchema: { type: "integer", minimum: 1, maximum: 500 }
      })
    ),
    "Rows at most, those that cost the most; all others are in `rest`. Absent: 100.",
    100
  ),
  ...rowFilters
}).annotations(strict)
export type BreakdownQuery = typeof BreakdownQuery.Type

const splitSums = {
  requests: field(Schema.Number, "Requests, also failed and aborted ones.", 120),
  failed: field(Schema.Number, "Requests of them that failed.", 2),
  tokensIn: field(Schema.Number, "Tokens of prompts, the cached ones included.", 150_000),
  tokensOut: field(Schema.Number, "Tokens of answers, reasoning included.", 42_000),
  cacheRead: field(Schema.Number, "Tokens of prompts read from a provider's cache.", 90_000),
  costUsd: field(Schema.Number, "What they cost, in USD.", 0.42),
  cacheSavedUsd: field(
    Schema.Number,
    "What reading from the providers' caches has saved against the price of other tokens, in USD, at the prices of today; what writing to them cost more is not taken off.",
    0.06
  )
}

const SplitSums = Schema.Struct(splitSums).annotations({ identifier: "UsageSplitSums" })

export const UsageBreakdownView = Schema.Struct({
  by: field(Schema.Literal(...dimensions), "What it is split by.", "model"),
  and: field(Schema.NullOr(Schema.Literal(...dimensions)), "What each of them is split by; null: nothing.", "apiKey"),
  from: field(Schema.String, "Where it begins, ISO 8601.", exampleTime),
  to: field(Schema.String, "Where it ends, ISO 8601.", "2035-02-01T00:00:00.000Z"),
  tz: field(Schema.String, "The time zone of its days.", "UTC"),
  rows: field(
    Schema.Array(
      Schema.Struct({
        key: field(
          Schema.NullOr(Schema.String),
          "What its requests have in common: an id, a name, `provider/model`, or an outcome; null: they have none.",
          "openai/gpt-4o-mini"
        ),
        name: field(Schema.NullOr(Schema.String), "Its name for people; null: not known.", "openai/gpt-4o-mini"),
        andKey: field(Schema.NullOr(Schema.String), "The same of the second dimension.", exampleKeyId),
        andName: field(Schema.NullOr(Schema.String), "Its name for people; null: not known.", "laptop"),
        ...splitSums
      }).annotations({ identifier: "UsageSplit" })
    ),
    "Those that cost the most first."
  ),
  rest: field(SplitSums, "Requests that are in none of `rows`."),
  total: field(SplitSums, "All requests."),
  basis: UsageSeriesView.fields.basis,
  scannedTo: UsageSeriesView.fields.scannedTo,
  inexact: UsageSeriesView.fields.inexact
}).annotations({ identifier: "UsageBreakdown" })
export type UsageBreakdownView = typeof UsageBreakdownView.Type

export const CallsQuery = Schema.Struct({
  provider: field(
    Schema.String.pipe(Schema.minLength(1), Schema.maxLength(300)),
    "The provider that was called.",
    "openai"
  ),
  connectionId: LogsQuery.fields.connectionId,
  from: field(IsoDay, "The first day, in UTC.", "2035-01-01"),
  to: field(IsoDay, "The last day, in UTC.", "2035-01-31")
}).annotations(strict)

export const CallsExplained = Schema.Struct({
  reason: field(
    Schema.Literal(...callReasons),
    "`unpriced`: no price is known; `voided`: another call of the request answered; `estimated`: the provider reported no usage; `aborted`: as that, because the client left; `failed`: as that, because the answer broke off.",
    "estimated"
  ),
  calls: field(Schema.Number, "Calls it holds for.", 3),
  costUsd: field(Schema.Number, "What was booked for them, in USD.", 0.01),
  requestIds: field(Schema.Array(Schema.String), "The latest of their requests, five at most.", [exampleRequestId])
}).annotations({ identifier: "CallsExplained" })

const exampleReason: typeof CallsExplained.Type = {
  reason: "estimated",
  calls: 3,
  costUsd: 0.01,
  requestIds: [exampleRequestId]
}

export const CallsByDay = Schema.Struct({
  days: field(
    Schema.Array(
      Schema.Struct({
        date: field(Schema.String, "The day in UTC.", "2035-01-01"),
        model: field(Schema.String, "The model that was called.", "gpt-4o-mini"),
        calls: field(Schema.Number, "Calls; requests where `source` is `sums`.", 1_200),
        costUsd: field(Schema.Number, "What was booked for them, in USD.", 4.21),
        source: field(
          Schema.Literal("calls", "sums"),
          "`sums`: the rows of that day were deleted; all calls of a request count at the model that answered.",
          "calls"
        ),
        reasons: field(Schema.Array(CallsExplained), "Calls for which the provider may have billed another amount.", [
          exampleReason
        ])
      }).annotations({ identifier: "CallsOfDay" })
    ),
    "By day and model, the latest day first.",
    [
      {
        date: "2035-01-01",
        model: "gpt-4o-mini",
        calls: 1_200,
        costUsd: 4.21,
        source: "calls",
        reasons: [exampleReason]
      }
    ]
  ),
  isCut: field(Schema.Boolean, "Whether there are more than 10,000 of them, and the rest was left out.", false)
}).annotations({ identifier: "CallsByDay" })
export type CallsByDay = typeof CallsByDay.Type

/** Longest bill that is compared by HTTP; `gateway cost reconcile` reads longer ones. */
const maxBillChars = 1_000_000

export const CompareBill = Schema.Struct({
  bill: field(
    Schema.String.pipe(Schema.maxLength(maxBillChars)),
    "The provider's export of costs as it is, JSON or CSV.",
    "usage_date_utc,model,token_type,cost_usd\n2035-01-01,claude-haiku-4-5,input,0.42\n"
  ),
  provider: field(
    optional(Schema.String.pipe(Schema.minLength(1), Schema.maxLength(300))),
    "The provider or node whose calls are compared; absent: that of the export.",
    "anthropic"
  ),
  connectionId: field(
    optional(Schema.String.pipe(Schema.minLength(1), Schema.maxLength(300))),
    "Only calls of this connection, where a provider has several accounts.",
    exampleId
  )
}).annotations(body("CompareBill"))
export type CompareBill = typeof CompareBill.Type

const billedWords = {
  billedUsd: ["What was billed, in USD.", 4.2],
  ledgerUsd: ["What was booked here, in USD.", 4.21],
  differenceUsd: ["What was billed beyond that, in USD.", -0.01]
} as const

const billSums = {
  billedUsd: field(Schema.Number, ...billedWords.billedUsd),
  ledgerUsd: field(Schema.Number, ...billedWords.ledgerUsd),
  differenceUsd: field(Schema.Number, ...billedWords.differenceUsd)
}

export const BillCompared = Schema.Struct({
  provider: field(Schema.String, "The provider whose calls were compared.", "anthropic"),
  form: field(Schema.String, "What the export is.", "Anthropic's cost export"),
  from: field(Schema.String, "The first day of the bill, in UTC.", "2035-01-01"),
  to: field(Schema.String, "The last one.", "2035-01-31"),
  total: field(Schema.Struct(billSums).annotations({ identifier: "BillSums" }), "All days and models."),
  days: field(
    Schema.Array(
      Schema.Struct({
        date: field(Schema.String, "The day in UTC.", "2035-01-01"),
        model: field(
          Schema.NullOr(Schema.String),
          "The model, or the service in the provider's words; null: all of the day.",
          "claude-haiku-4-5"
        ),
        ...billSums,
        calls: field(Schema.Number, "Calls that were booked.", 120),
        why: field(Schema.String, "What may explain the difference; empty: there is none.", ""),
        reasons: field(Schema.Array(CallsExplained), "Calls for which another amount may have been billed.", [
          exampleReason
        ])
      }).annotations({ identifier: "BillOfDay" })
    ),
    "By day and model, the latest day first."
  ),
  remarks: field(Schema.Array(Schema.String), "What to know about this comparison, in sentences.", [])
}).annotations({ identifier: "BillCompared" })
export type BillCompared = typeof BillCompared.Type

export const PurgeInput = Schema.NullOr(
  Schema.Struct({
    before: field(
      optional(IsoTimeOrDay),
      "Requests that arrived before this time are deleted, ISO 8601; absent: all so far.",
      exampleTime
    )
  }).annotations(body("PurgeRequestHistory"))
)

const Purged = Schema.Struct({ deleted: field(Schema.Number, "Rows that were deleted.", 1_200) }).annotations({
  identifier: "RequestHistoryPurged"
})

const at = endpointsOf("usageHistory")

export class UsageHistory extends HttpApiGroup.make("usageHistory")
  .annotate(OpenApi.Title, "Usage over time")
  .annotate(OpenApi.Description, "Sums of usage by day, provider, model, connection and key.")
  .add(
    at("history", {
      summary: "Show usage and what is under way",
      description: "Sums of a range, the last ten minutes one by one, and the calls under way."
    })
      .setUrlParams(RangeQuery)
      .addSuccess(UsageHistoryView)
      .addError(UnavailableAnswer)
  )
  .add(
    at("analytics", {
      summary: "Show usage by day, provider, model, connection and key",
      description: "From sums that outlive the rows of the log. A request counts from the moment it has ended."
    })
      .setUrlParams(RangeQuery)
      .addSuccess(UsageAnalytics)
      .addError(UnavailableAnswer)
  )
  .add(
    at("breakdown", {
      summary: "Show usage by two dimensions",
      description:
        "Sums of whole days of a range, split by one or two of provider, model, connection, key, combo and outcome, and filtered as the log is. The rows and `rest` add up to `total`. By day: `/api/usage/series`."
    })
      .setUrlParams(BreakdownQuery)
      .addSuccess(UsageBreakdownView)
      .addError(UnavailableAnswer)
  )
  .add(
    at("calls", {
      summary: "Show what calls to a provider cost, by day and model",
      description:
        "To be compared with the provider's bill: each call counts at the model that was called, where the log has one row for all calls of a request."
    })
      .setUrlParams(CallsQuery)
      .addSuccess(CallsByDay)
      .addError(UnavailableAnswer)
  )
  .add(
    at("reconcile", {
      summary: "Compare a provider's bill with the ledger",
      description:
        "Takes an export of costs of OpenAI or Anthropic (docs/costs.md) and shows it beside what was booked, by day and model, with what explains a difference. Nothing of it is kept."
    })
      .setPayload(CompareBill)
      .addSuccess(BillCompared)
      .addError(UnavailableAnswer)
  )
  .add(
    at("export", {
      summary: "Load the log as a file",
      description: "One row per request, the oldest first, as `text/csv` or `application/x-ndjson`."
    })
      .setUrlParams(ExportQuery)
      .addSuccess(
        HttpApiSchema.Text({ contentType: "text/csv" }).annotations({
          description: "The rows; the first line of csv names the columns.",
          examples: ["id,timestamp,requestId\r\n"]
        })
      )
      .addError(UnavailableAnswer)
  )
  .add(
    at("purge", {
      summary: "Delete rows of the log",
      description:
        "Deletes what is known of single requests. Sums by hour and day stay, and so do what keys have used of their limits.",
      example: { before: exampleTime }
    })
      .setPayload(PurgeInput)
      .addSuccess(Purged)
  ) {}
