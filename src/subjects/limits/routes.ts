/** Budgets and token limits of API keys, and the ledger of what was reserved and booked. */
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as OpenApi from "@effect/platform/OpenApi"
import * as Schema from "effect/Schema"
import { ledgerStates } from "../../contract/domain/Ledger.ts"
import { LimitScope, ResetInterval } from "./entity.ts"
import { ModelPrice, priceWords, unitPriceFields } from "../pricing/entity.ts"
import { exactOptional, field } from "../../kernel/Documented.ts"
import { endpointsOf } from "../../contract/Endpoints.ts"
import { NotFoundAnswer } from "../../contract/Errors.ts"
import { exampleId, exampleKeyId, exampleRequestId, exampleTeamId, exampleTime } from "../../contract/Examples.ts"
import { body, NoContent, optional, TimeZone } from "../../contract/Inputs.ts"
import { observed } from "../../kernel/Observed.ts"

/** Dollars: far above any budget, and small enough for sums of nano-USD to stay exact. */
const mostUsd = 1_000_000
const mostTokens = 1_000_000_000_000

const words = {
  apiKeyId: ["The API key that is limited.", exampleKeyId],
  daily: ["USD a day; 0: no limit.", 5],
  weekly: ["USD a week, from Monday; 0: no limit.", 25],
  monthly: ["USD a month; 0: no limit.", 80],
  warningThreshold: ["Part of a limit, from 0 to 1, from which `warning` is true.", 0.8],
  resetInterval: ["The window that `windowStart` and the sums refer to.", "daily"],
  resetTime: ["Time of day at which windows begin, HH:MM.", "00:00"],
  tz: ["Time zone of that time, a name of the IANA database.", "Europe/Zurich"],
  windowStart: ["When the window began, ISO 8601.", exampleTime],
  nextResetAt: ["When the next one begins, ISO 8601.", exampleTime],
  scopeType: ["What is counted: one model, one provider, or everything.", "provider"],
  scopeValue: ["`provider/model` or a provider's id; absent for `global`.", "openai"],
  tokenLimit: ["Most tokens of prompts and answers in a window.", 1_000_000],
  enabled: ["Whether it holds.", true],
  interval: ["How often it is renewed.", "monthly"]
} as const

const Usd = Schema.Number.pipe(
  Schema.finite(),
  Schema.nonNegative(),
  Schema.lessThanOrEqualTo(mostUsd, { message: () => `must be at most ${mostUsd} USD` })
)
const Part = Schema.Number.pipe(Schema.between(0, 1))
const TimeOfDay = Schema.String.pipe(
  Schema.pattern(/^(?:[01]\d|2[0-3]):[0-5]\d$/, { message: () => "must be a time of day such as 08:30" })
)
const Zone = Schema.String.pipe(Schema.maxLength(64))
const Id = Schema.String.pipe(Schema.minLength(1), Schema.maxLength(100))

export const SetBudget = Schema.Struct({
  apiKeyId: field(Id, ...words.apiKeyId),
  dailyLimitUsd: field(optional(Usd), ...words.daily),
  weeklyLimitUsd: field(optional(Usd), ...words.weekly),
  monthlyLimitUsd: field(optional(Usd), ...words.monthly),
  warningThreshold: field(optional(Part), ...words.warningThreshold),
  resetInterval: field(optional(ResetInterval), ...words.resetInterval),
  resetTime: field(optional(TimeOfDay), ...words.resetTime),
  tz: field(optional(Zone), ...words.tz)
}).annotations(body("SetBudget"))
export type SetBudget = typeof SetBudget.Type

/** Budget of a person or a team; what is absent has no limit, or its default. */
export const GivenOwnerBudget = Schema.Struct({
  dailyLimitUsd: field(optional(Usd), ...words.daily),
  weeklyLimitUsd: field(optional(Usd), ...words.weekly),
  monthlyLimitUsd: field(optional(Usd), ...words.monthly),
  warningThreshold: field(optional(Part), ...words.warningThreshold),
  resetTime: field(optional(TimeOfDay), ...words.resetTime),
  tz: field(optional(TimeZone), ...words.tz)
}).annotations({ identifier: "GivenOwnerBudget" })
export type GivenOwnerBudget = typeof GivenOwnerBudget.Type

export const OwnerBudgetView = Schema.Struct({
  dailyLimitUsd: field(Schema.Number, ...words.daily),
  weeklyLimitUsd: field(Schema.Number, ...words.weekly),
  monthlyLimitUsd: field(Schema.Number, ...words.monthly),
  warningThreshold: field(Schema.Number, ...words.warningThreshold),
  resetTime: field(Schema.String, ...words.resetTime),
  tz: field(Schema.String, ...words.tz)
}).annotations({ identifier: "OwnerBudget" })

const limitWords = {
  dailyTokens: ["Tokens of prompts and answers in a day of UTC; 0: no limit.", 2_000_000],
  weeklyTokens: ["Tokens in a week of UTC, from Monday; 0: no limit.", 0],
  monthlyTokens: ["Tokens in a month of UTC; 0: no limit.", 40_000_000],
  requestsPerDay: ["Requests in a day of UTC; 0: no limit.", 5_000]
} as const

const MostTokens = Schema.Int.pipe(Schema.between(0, mostTokens))

/** Limits of a person or a team besides money; what is absent has no limit. */
export const GivenOwnerLimits = Schema.Struct({
  dailyTokens: field(optional(MostTokens), ...limitWords.dailyTokens),
  weeklyTokens: field(optional(MostTokens), ...limitWords.weeklyTokens),
  monthlyTokens: field(optional(MostTokens), ...limitWords.monthlyTokens),
  requestsPerDay: field(optional(Schema.Int.pipe(Schema.between(0, 1_000_000_000))), ...limitWords.requestsPerDay)
}).annotations({ identifier: "GivenOwnerLimits" })
export type GivenOwnerLimits = typeof GivenOwnerLimits.Type

export const OwnerLimitsView = Schema.Struct({
  dailyTokens: field(Schema.Number, ...limitWords.dailyTokens),
  weeklyTokens: field(Schema.Number, ...limitWords.weeklyTokens),
  monthlyTokens: field(Schema.Number, ...limitWords.monthlyTokens),
  requestsPerDay: field(Schema.Number, ...limitWords.requestsPerDay)
}).annotations({ identifier: "OwnerLimits" })

/** A limit of a person or a team as it is now. */
export const OwnerMeter = Schema.Struct({
  unit: field(Schema.Literal("usd", "tokens", "requests"), "Unit of the limit.", "usd"),
  interval: field(ResetInterval, "The window.", "daily"),
  limit: field(Schema.Number, "The limit, in the unit.", 5),
  used: field(Schema.Number, "Use of it, in the unit.", 1.25),
  reserved: field(Schema.Number, "Part of it that is reserved for calls that run, in the unit.", 0.02),
  windowStart: field(Schema.String, ...words.windowStart),
  nextResetAt: field(Schema.String, ...words.nextResetAt)
}).annotations({ identifier: "OwnerMeter" })
export type OwnerMeter = typeof OwnerMeter.Type

const OwnerUsage = Schema.Struct({
  kind: field(Schema.Literal("user", "team"), "A person or a team.", "team"),
  id: field(Schema.String, "Id of the person or team.", exampleTeamId),
  name: field(Schema.String, "Name of the person or team.", "Research"),
  meters: field(Schema.Array(OwnerMeter), "The limits as they are now.")
}).annotations({ identifier: "OwnerUsage" })

export const BudgetView = Schema.Struct({
  apiKeyId: field(Schema.String, ...words.apiKeyId),
  dailyLimitUsd: field(Schema.Number, ...words.daily),
  weeklyLimitUsd: field(Schema.Number, ...words.weekly),
  monthlyLimitUsd: field(Schema.Number, ...words.monthly),
  warningThreshold: field(Schema.Number, ...words.warningThreshold),
  resetInterval: field(ResetInterval, ...words.resetInterval),
  resetTime: field(Schema.String, ...words.resetTime),
  tz: field(Schema.String, ...words.tz),
  createdAt: field(Schema.String, "When it was set first, ISO 8601.", exampleTime),
  updatedAt: field(Schema.String, "When it was set last, ISO 8601.", exampleTime)
}).annotations({ identifier: "Budget" })

const LimitWindow = Schema.Struct({
  interval: field(ResetInterval, "The window."),
  limitUsd: field(Schema.Number, "The limit in USD.", 5),
  spentUsd: field(Schema.Number, "USD that are spent.", 1.25),
  reservedUsd: field(Schema.Number, "USD that are reserved for calls that run.", 0.02),
  windowStart: field(Schema.String, ...words.windowStart),
  nextResetAt: field(Schema.String, ...words.nextResetAt)
}).annotations({ identifier: "BudgetWindow" })

export const BudgetStatusView = Schema.Struct({
  apiKeyId: field(Schema.String, ...words.apiKeyId),
  budget: field(Schema.NullOr(BudgetView), "The budget; null: the key has none."),
  spentUsd: observed(Schema.Number, "USD spent in the window; without a budget, this month.", 1.25),
  reservedUsd: observed(Schema.Number, "USD reserved for calls that run.", 0.02),
  remainingUsd: observed(Schema.NullOr(Schema.Number), "USD left of the tightest limit; null: no budget.", 3.73),
  windowStart: observed(Schema.String, ...words.windowStart),
  nextResetAt: observed(Schema.String, ...words.nextResetAt),
  warning: observed(Schema.Boolean, "Whether a limit is used to its threshold.", false),
  windows: observed(Schema.Array(LimitWindow), "Every limit of the budget.")
}).annotations({ identifier: "BudgetStatus" })
export type BudgetStatusView = typeof BudgetStatusView.Type

export const SetTokenLimit = Schema.Struct({
  id: field(
    optional(Id),
    "Of a limit that is changed; absent: a new one, or the one of the same scope and interval.",
    exampleId
  ),
  apiKeyId: field(Id, ...words.apiKeyId),
  scopeType: field(LimitScope, ...words.scopeType),
  scopeValue: field(optional(Schema.String.pipe(Schema.maxLength(512))), ...words.scopeValue),
  tokenLimit: field(Schema.Int.pipe(Schema.between(1, mostTokens)), ...words.tokenLimit),
  resetInterval: field(optional(ResetInterval), ...words.interval),
  resetTime: field(optional(TimeOfDay), ...words.resetTime),
  tz: field(optional(Zone), ...words.tz),
  enabled: field(optional(Schema.Boolean), ...words.enabled)
}).annotations(body("SetTokenLimit"))
export type SetTokenLimit = typeof SetTokenLimit.Type

export const TokenLimitView = Schema.Struct({
  id: field(Schema.String, "Id of the limit.", exampleId),
  apiKeyId: field(Schema.String, ...words.apiKeyId),
  scopeType: field(LimitScope, ...words.scopeType),
  scopeValue: field(Schema.NullOr(Schema.String), ...words.scopeValue),
  tokenLimit: field(Schema.Number, ...words.tokenLimit),
  resetInterval: field(ResetInterval, ...words.interval),
  resetTime: field(Schema.String, ...words.resetTime),
  tz: field(Schema.String, ...words.tz),
  enabled: field(Schema.Boolean, ...words.enabled),
  tokensUsed: observed(Schema.Number, "Tokens used in the window.", 12_500),
  tokensReserved: observed(Schema.Number, "Tokens reserved for calls that run.", 0),
  remaining: observed(Schema.Number, "Tokens left.", 987_500),
  windowStart: observed(Schema.String, ...words.windowStart),
  nextResetAt: observed(Schema.String, ...words.nextResetAt),
  createdAt: field(Schema.String, "When it was made, ISO 8601.", exampleTime),
  updatedAt: field(Schema.String, "When it was changed last, ISO 8601.", exampleTime)
}).annotations({ identifier: "TokenLimit" })
export type TokenLimitView = typeof TokenLimitView.Type

/** Each of its prices of tokens is there, null: none of its own; that of an hour's cache, and others, only where it has one. */
const PriceThen = Schema.Struct({
  input: ModelPrice.fields.input,
  output: ModelPrice.fields.output,
  cached: field(Schema.NullOr(Schema.Number), ...priceWords.cached),
  cacheCreation: field(Schema.NullOr(Schema.Number), ...priceWords.cacheCreation),
  cacheCreation1h: ModelPrice.fields.cacheCreation1h,
  reasoning: field(Schema.NullOr(Schema.Number), ...priceWords.reasoning),
  ...unitPriceFields
}).annotations({ identifier: "LedgerPrice" })

export const LedgerEntryView = Schema.Struct({
  id: field(Schema.String, "Id of the entry.", `${exampleRequestId}.1`),
  requestId: field(Schema.String, "The answer's `X-Gateway-Request-Id`.", exampleRequestId),
  attempt: field(Schema.Number, "The call of the request, from 1.", 1),
  apiKeyId: field(Schema.NullOr(Schema.String), "Who asked; null: a caller without a key.", exampleKeyId),
  provider: field(Schema.NullOr(Schema.String), "The provider that was asked.", "openai"),
  connectionId: field(Schema.NullOr(Schema.String), "The connection that was asked.", exampleId),
  model: field(Schema.NullOr(Schema.String), "The model that was asked.", "gpt-4o-mini"),
  state: field(
    Schema.Literal(...ledgerStates),
    "`reserved`: the call runs; `settled`: booked as the upstream reported; `voided`: it cost nothing; `estimated`: booked as an estimate.",
    "settled"
  ),
  reservedUsd: field(Schema.Number, "USD reserved for the call; 0 for callers without limits.", 0.0042),
  settledUsd: field(Schema.NullOr(Schema.Number), "USD booked; null: the call runs.", 0.000312),
  pricedAt: field(Schema.String, "When the price was taken, ISO 8601.", exampleTime),
  price: field(Schema.NullOr(PriceThen), "The price then, in USD per 1,000,000 tokens; null: none is known."),
  createdAt: field(Schema.String, "When the call began, ISO 8601.", exampleTime),
  settledAt: field(Schema.NullOr(Schema.String), "When it was booked, ISO 8601; null: the call runs.", exampleTime)
}).annotations({ identifier: "LedgerEntry" })
export type LedgerEntryView = typeof LedgerEntryView.Type

const SpendView = Schema.Struct({
  requests: field(Schema.Number, "Requests.", 12),
  tokens: field(Schema.Number, "Tokens of prompts and answers.", 18_400),
  costUsd: field(Schema.Number, "USD.", 0.12)
}).annotations({ identifier: "Spend" })

const ForKey = Schema.Struct({ apiKeyId: field(exactOptional(Id), "Only of this API key.", exampleKeyId) })

export const LedgerQuery = Schema.Struct({
  limit: field(
    exactOptional(
      Schema.NumberFromString.pipe(Schema.int(), Schema.between(1, 1_000)).annotations({
        jsonSchema: { type: "integer", minimum: 1, maximum: 1_000 }
      })
    ),
    "How many entries to answer at most.",
    100
  ),
  cursor: field(
    exactOptional(
      Schema.String.pipe(
        Schema.pattern(/^[\w-]{1,128}\.\d{1,4}$/, { message: () => "is not one that this list gave out" })
      )
    ),
    "The `nextCursor` of the page before this one.",
    `${exampleRequestId}.1`
  ),
  apiKeyId: field(exactOptional(Id), "Only of this API key.", exampleKeyId),
  requestId: field(exactOptional(Schema.String.pipe(Schema.maxLength(128))), "Only of this request.", exampleRequestId)
}).annotations({ parseOptions: { onExcessProperty: "error", errors: "all" } })
export type LedgerQuery = typeof LedgerQuery.Type

export const OwnUsage = Schema.Struct({
  apiKeyId: field(Schema.String, "The key of the request.", exampleKeyId),
  name: field(Schema.String, "Its name.", "laptop"),
  budget: field(BudgetStatusView, "Its budget as it stands."),
  limits: field(Schema.Array(TokenLimitView), "Its token limits."),
  owners: field(
    Schema.Array(OwnerUsage),
    "The person and the teams that it belongs to, the nearest first, with the limits that it shares with their other keys."
  ),
  totals: field(
    Schema.Struct({
      today: field(SpendView, "Since midnight, UTC."),
      month: field(SpendView, "Since the first of the month, UTC.")
    }),
    "What it has used."
  )
}).annotations({ identifier: "OwnUsage" })

export type OwnUsage = typeof OwnUsage.Type

const at = endpointsOf("limits")

export class Limits extends HttpApiGroup.make("limits")
  .annotate(OpenApi.Title, "Budgets and limits")
  .annotate(OpenApi.Description, "What API keys may spend and use, what they have, and the ledger of it.")
  .add(
    at("budget", {
      summary: "Show budgets",
      description: "With `apiKeyId` that key's budget as it stands; without it all budgets, as `budgets`."
    })
      .setUrlParams(ForKey)
      .addSuccess(
        Schema.Union(
          BudgetStatusView,
          Schema.Struct({
            budgets: field(Schema.Array(BudgetStatusView), "The budgets of all keys that have one.")
          }).annotations({ identifier: "BudgetList" })
        )
      )
      .addError(NotFoundAnswer)
  )
  .add(
    at("setBudget", {
      summary: "Set a budget",
      description:
        "Replaces the budget of a key. At least one of the limits must be greater than zero; a request whose largest possible cost does not fit into what is left of each is refused with 429.",
      example: { apiKeyId: exampleKeyId, dailyLimitUsd: 5, monthlyLimitUsd: 80, warningThreshold: 0.8 }
    })
      .setUrlParams(
        Schema.Struct({
          apiKeyId: field(
            exactOptional(Id),
            "The same key as in the body: `If-Match` is then of that key's budget, as `GET` with `apiKeyId` shows it; absent: of all.",
            exampleKeyId
          )
        })
      )
      .setPayload(SetBudget)
      .addSuccess(BudgetStatusView)
      .addError(NotFoundAnswer)
  )
  .add(
    at("removeBudget", { summary: "Remove a budget", description: "The key has no budget any more." })
      .setUrlParams(Schema.Struct({ apiKeyId: field(Id, ...words.apiKeyId) }))
      .addSuccess(NoContent)
      .addError(NotFoundAnswer)
  )
  .add(
    at("tokenLimits", { summary: "List token limits", description: "Of one key with `apiKeyId`, else of all." })
      .setUrlParams(ForKey)
      .addSuccess(
        Schema.Struct({
          apiKeyId: field(Schema.NullOr(Schema.String), "The key that was asked for; null: all.", exampleKeyId),
          limits: field(Schema.Array(TokenLimitView), "The limits, the oldest first.")
        }).annotations({ identifier: "TokenLimitList" })
      )
      .addError(NotFoundAnswer)
  )
  .add(
    at("setTokenLimit", {
      summary: "Set a token limit",
      description: "Adds a limit, or replaces the one of the same `id`, or of the same scope and interval.",
      example: { apiKeyId: exampleKeyId, scopeType: "provider", scopeValue: "openai", tokenLimit: 1_000_000 }
    })
      .setPayload(SetTokenLimit)
      .addSuccess(
        Schema.Struct({ limit: field(TokenLimitView, "The limit as it stands.") }).annotations({
          identifier: "TokenLimitAnswer"
        })
      )
      .addError(NotFoundAnswer)
  )
  .add(
    at("removeTokenLimit", { summary: "Remove a token limit", description: "It holds no more." })
      .setUrlParams(Schema.Struct({ id: field(Id, "Id of the limit.", exampleId) }))
      .addSuccess(NoContent)
      .addError(NotFoundAnswer)
  )
  .add(
    at("ledger", {
      summary: "Read the ledger",
      description:
        "What was reserved for each call and what was booked, the newest first. Calls that run now come first, on the first page."
    })
      .setUrlParams(LedgerQuery)
      .addSuccess(
        Schema.Struct({
          entries: field(Schema.Array(LedgerEntryView), "The entries of the page."),
          nextCursor: field(Schema.NullOr(Schema.String), "The `cursor` of the next page; null on the last one.", null)
        }).annotations({ identifier: "Ledger" })
      )
  )
  .add(
    at("me", {
      summary: "Show the key's own usage",
      description: "What the API key of the request may spend and has used. Any key of scope `self:usage` may ask."
    })
      .addSuccess(OwnUsage)
      .addError(NotFoundAnswer)
  ) {}
