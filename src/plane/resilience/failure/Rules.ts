/**
 * The classifier's table: failures as upstreams report them, and their meaning. Read from the top, the first row that holds
 * decides; the message takes precedence over the status. Every row has an example and a counter-example in its test.
 * Phrases are lower case.
 */
import * as Say from "./Phrases.ts"
import type { Rule } from "./Rule.ts"

const minute = 60_000
const hour = 60 * minute

export const rules: ReadonlyArray<Rule> = [
  // --- What the operator knows better.
  {
    id: "operator_banned",
    when: { mark: "operator_banned" },
    kind: "banned",
    source: "1.6: the texts of the setting customBannedSignals"
  },

  // --- Windows and limits in structured facts; their text would mislead.
  {
    id: "google_daily_project",
    when: { status: [403, 429], mark: "google_project_daily" },
    kind: "quota_exhausted",
    reopens: "midnight_pacific",
    source: "Gemini: quotaId …PerDayPerProject without PerModel: every model of the project"
  },
  {
    id: "google_daily_quota",
    when: { status: [403, 429], mark: "google_daily" },
    kind: "quota_exhausted",
    scope: "model",
    exhausts: "nothing",
    reopens: "midnight_pacific",
    source:
      "Gemini: quotaId …PerDay…; counted per model, renewed at midnight Pacific; its retryDelay speaks of the minute"
  },
  {
    id: "google_minute_quota",
    when: { status: [403, 429], mark: "google_minute" },
    kind: "rate_limit",
    source: "Gemini says 'exceeded your current quota' for the requests of a minute, too"
  },
  {
    id: "model_quota_header",
    when: { status: [403, 429], mark: "model_used_up", provider: "minimax" },
    kind: "quota_exhausted",
    scope: "model",
    exhausts: "nothing",
    source: "MiniMax counts per model and says so in a header (1.6)"
  },
  {
    id: "model_quota",
    when: { status: [403, 429], code: ["model_quota_exceeded", "allocationquota.freetieronly"], text: Say.modelQuota },
    kind: "quota_exhausted",
    scope: "model",
    exhausts: "nothing",
    reopens: hour,
    source: "Gemini Code Assist 'exhausted your capacity on this model … reset after'; DashScope's free tier per model"
  },
  {
    id: "request_over_share",
    when: { status: [413, 429], text: ["request too large", "request is too large for"] },
    kind: "too_large",
    source: "OpenAI, Groq: one request beyond the tokens of a minute; waiting does not help"
  },

  // --- The account.
  {
    id: "account_closed",
    when: {
      status: [400, 401, 402, 403, 429],
      code: [
        "account_deactivated",
        "account_suspended",
        "organization_disabled",
        "organization_deactivated",
        "consumer_suspended"
      ],
      text: Say.banned
    },
    kind: "banned",
    source: "OpenAI account_deactivated, Anthropic 'organization has been disabled', 1.6 first row"
  },
  {
    id: "credits",
    when: {
      status: [400, 401, 402, 403],
      code: ["insufficient_quota", "billing_hard_limit_reached", "creditserror", "billing_error", "arrearage"],
      text: [...Say.money, ...Say.freeTierGone, "exceeded your current quota", "exceeded current quota"]
    },
    kind: "credits_exhausted",
    source: "Anthropic 400 'credit balance is too low', OpenAI billing hard limit, OpenCode 401 CreditsError, 1.6"
  },
  {
    id: "credits_429_oauth",
    when: { status: [429], class: ["oauth"], code: ["insufficient_quota"], text: [...Say.money, ...Say.freeTierGone] },
    kind: "credits_exhausted",
    source: "1.6: on a 429 only for OAuth accounts; an API key's plan may be topped up any minute"
  },
  { id: "status_402", when: { status: [402] }, kind: "credits_exhausted", source: "1.6: any 402" },

  // --- Quotas that reopen.
  {
    id: "provider_quota",
    when: { status: [429], provider: "opencode", mark: "account_used_up" },
    kind: "quota_exhausted",
    scope: "provider",
    exhausts: "provider",
    source: "OpenCode counts per caller, not per account (1.6)"
  },
  {
    id: "daily_model_quota",
    when: { status: [403, 429], text: Say.dailyModelQuota },
    kind: "quota_exhausted",
    scope: "model",
    exhausts: "nothing",
    reopens: "midnight_utc",
    source: "1.6: the model until midnight; OpenRouter's paid models go on, Groq and OpenAI count RPD/TPD per model"
  },
  {
    id: "daily_quota",
    when: { status: [400, 403, 429], code: ["dailylimitexceeded"], text: Say.dailyQuota },
    kind: "quota_exhausted",
    reopens: "midnight_utc",
    source: "1.6 daily quota; where the text names no model it is the account's, and outlives a restart with it"
  },
  {
    id: "plan_window",
    when: { status: [403, 429], mark: "plan_used_up" },
    kind: "quota_exhausted",
    reopens: hour,
    source: "Claude and Codex subscriptions: 5 hour and weekly windows in the headers"
  },
  {
    id: "plan_quota",
    when: {
      status: [400, 403, 429],
      code: ["usage_limit_reached", "usage_not_included", "budget_exceeded"],
      text: Say.planQuota
    },
    kind: "quota_exhausted",
    reopens: hour,
    source: "1.6 subscription usage limit: the hint, else one hour; monthly texts ('resets in N days', thread 6060)"
  },
  {
    id: "quota_429",
    when: {
      status: [403, 429],
      code: ["insufficient_quota", "quota_exceeded", "quotaexceeded", "quota_exhausted", "insufficient_funds_credits"],
      text: [...Say.otherQuota, ...Say.money, ...Say.freeTierGone]
    },
    kind: "quota_exhausted",
    reopens: hour,
    source:
      "1.6 429 with quota words; OpenAI insufficient_quota; Linkup insufficient_funds_credits. 'Resource exhausted' alone is a burst (Vertex)"
  },
  {
    id: "search_quota",
    when: { status: [432, 433], provider: "tavily" },
    kind: "quota_exhausted",
    countsAs: 429,
    reopens: hour,
    source: "Tavily: 432 for the limit of a key or plan, 433 for that of what is paid as it is used"
  },
  {
    id: "quota_5xx",
    when: {
      status: [500, 502, 503],
      code: ["insufficient_quota", "quota_exceeded", "quota_exhausted", "usage_limit_reached"],
      text: ["exceeded your current quota", "quota exceeded", "quota has been exceeded", "quota exhausted"]
    },
    kind: "quota_exhausted",
    countsAs: 429,
    reopens: 10 * minute,
    source: "Relays tell the quota of an account behind them as a server error: no reason to open the breaker"
  },

  // --- The request.
  {
    id: "long_context_plan",
    when: { status: [400, 403, 429], text: Say.planWithoutLongContext },
    kind: "context_overflow",
    countsAs: 400,
    source: "Anthropic subscriptions say 429 to a prompt of more than 200k tokens: waiting does not help"
  },
  {
    id: "context_overflow",
    when: {
      status: [400, 413, 422, 500],
      code: [
        "context_length_exceeded",
        "context_window_exceeded",
        "exceed_context_size_error",
        "model_max_prompt_tokens_exceeded"
      ],
      text: Say.tooLong
    },
    kind: "context_overflow",
    countsAs: 400,
    source: "OpenAI, Anthropic, Gemini, Groq, llama.cpp, LM Studio, vLLM, xAI, Moonshot; 1.6"
  },
  { id: "status_413", when: { status: [413] }, kind: "too_large", source: "RFC 9110: content too large" },
  {
    id: "content_refused",
    when: {
      status: [400, 403, 422, 451],
      code: [
        "content_policy_violation",
        "content_filter",
        "data_inspection_failed",
        "responsibleaipolicyviolation",
        "invalid_prompt",
        "image_content_policy_violation",
        "moderation_blocked"
      ],
      text: Say.refusedContent
    },
    kind: "content_refused",
    countsAs: 400,
    source:
      "Azure content filter, OpenRouter 403 moderation, DashScope data_inspection_failed; OpenAI's response.error codes: https://platform.openai.com/docs/api-reference/responses/object"
  },
  {
    id: "request_code",
    when: { status: [400, 404, 413, 415, 422], code: Say.requestCodes },
    kind: "bad_request",
    countsAs: 400,
    source:
      "OpenAI's response.error codes about pictures, also in response.failed of a stream: https://platform.openai.com/docs/api-reference/responses/object"
  },
  {
    id: "unusable_output",
    when: { status: [500, 502], code: Say.unusableOutput },
    kind: "unusable_output",
    countsAs: 502,
    source:
      "Gemini's finish reasons of an answer that broke off: https://ai.google.dev/api/generate-content#FinishReason"
  },

  // --- Routes that are not known or not allowed.
  {
    id: "route_forbidden",
    when: { status: [403], text: ["not authorized for this route", "not allowed for this route"] },
    kind: "route",
    source: "1.6; the account is good, only not on this path"
  },
  {
    id: "google_api_off",
    when: {
      status: [403],
      code: ["service_disabled", "accessnotconfigured", "billing_disabled"],
      text: [
        /has not been used in project.{0,80}before or it is disabled/,
        "has not enabled the api",
        "requires billing to be enabled"
      ]
    },
    kind: "route",
    source: "Google: the API is not switched on in the project (1.6)"
  },
  {
    id: "region",
    when: {
      status: [400, 403, 451],
      code: ["unsupported_country_region_territory"],
      text: [
        "user location is not supported",
        "country, region, or territory not supported",
        "not available in your country",
        "not available in your region"
      ]
    },
    kind: "route",
    exhausts: "provider",
    source: "OpenAI 403, Gemini 400 FAILED_PRECONDITION: where we call from, not who calls"
  },

  {
    id: "route_missing",
    when: { status: [400, 404, 405], text: Say.noSuchRoute },
    kind: "route",
    exhausts: "connection",
    source: "OpenAI 'Invalid URL (POST …)', Go, Express, Kong, nginx: the path is wrong, the model may be there"
  },
  {
    id: "relay_without_account",
    when: { status: [401, 403, 500, 502, 503], text: Say.relayWithoutAccount },
    kind: "forbidden",
    source: "1.6 'no credentials': a relay whose own accounts are out; ours is good, and the provider is not down"
  },
  {
    id: "key_without_model",
    when: {
      status: [400, 401, 403],
      code: ["key_model_access_denied", "team_model_access_denied"],
      text: ["not allowed to access model", "can only access models"]
    },
    kind: "model_no_access",
    source: "LiteLLM says 401 to a good key that may not use this model"
  },

  // --- Credentials.
  {
    id: "bad_key_400",
    when: { status: [400, 403], code: ["api_key_invalid", "invalid_api_key"], text: Say.badKey },
    kind: "auth_expired",
    countsAs: 401,
    source: "Gemini answers a wrong key with 400 API_KEY_INVALID"
  },
  {
    id: "token_refreshable",
    when: { status: [401], canRefresh: true },
    kind: "auth_refreshable",
    source: "1.6: refresh once; what the text says does not matter, trying costs one call"
  },
  {
    id: "token_refreshable_403",
    when: { status: [403], canRefresh: true, text: Say.badToken },
    kind: "auth_refreshable",
    source: "Some OAuth providers say 403 for an expired token"
  },
  {
    id: "token_refreshable_header",
    when: { status: [403], canRefresh: true, mark: "invalid_token" },
    kind: "auth_refreshable",
    source: "RFC 6750: WWW-Authenticate error=invalid_token"
  },
  {
    id: "bad_key_422",
    when: { status: [422], code: ["subscription_token_invalid"] },
    kind: "auth_expired",
    countsAs: 401,
    source: "Brave answers a wrong token with 422 SUBSCRIPTION_TOKEN_INVALID"
  },
  { id: "status_401", when: { status: [401] }, kind: "auth_expired", source: "1.6 other 401" },
  {
    id: "dead_token_403",
    when: { status: [403], class: ["oauth"], text: Say.badToken },
    kind: "auth_expired",
    source: "Anthropic 403 'OAuth token has been revoked': the login is over, the account is not banned"
  },

  // --- The model.
  {
    id: "model_not_found",
    when: {
      status: [400, 403, 404, 422],
      code: [
        "model_not_found",
        "deployment_not_found",
        "deploymentnotfound",
        "not_found_error",
        "model_not_available",
        "model_decommissioned"
      ],
      text: Say.noSuchModel,
      unless: Say.credentials
    },
    kind: "model_not_found",
    source: "OpenAI, Azure, Anthropic, Ollama, OpenRouter 'No endpoints found'; 1.6"
  },
  {
    id: "model_no_access",
    when: {
      status: [400, 403, 404],
      code: ["model_no_access", "model_not_supported"],
      text: Say.noModelAccess,
      unless: Say.credentials
    },
    kind: "model_no_access",
    source: "1.6: permission_error only if the text speaks of the model, and not of credentials"
  },

  // --- Passing trouble in words, whatever the status.
  {
    id: "rate_words",
    when: {
      status: [400, 403],
      code: ["ratelimitexceeded", "rate_limit_exceeded", "throttlingexception"],
      text: Say.rate
    },
    kind: "rate_limit",
    countsAs: 429,
    source: "1.6: 400 with 'too many requests', 'high frequency', 频繁; GitHub 403"
  },
  {
    id: "overloaded",
    when: {
      status: [429, 500, 502, 503, 504, 529],
      code: ["overloaded_error", "overloaded", "engine_overloaded_error", "server_is_overloaded"],
      text: Say.overloaded,
      unless: ["rate limit"]
    },
    kind: "capacity",
    source: "Anthropic overloaded_error, Moonshot 429 engine_overloaded, Codex server_is_overloaded"
  },

  // --- Failures that only the status shows.
  {
    id: "status_403_page",
    when: { status: [403], mark: "web_page" },
    kind: "forbidden",
    source: "A bot wall before the API: nothing is known about the account"
  },
  {
    id: "request_not_allowed",
    when: { status: [403], text: ["request not allowed"] },
    kind: "forbidden",
    source: "Anthropic's edge; passes by itself (1.6: a few seconds)"
  },
  {
    id: "status_403",
    when: { status: [403] },
    kind: "forbidden",
    source: "A bare 403 may be about a model, a region or the content: it says nothing certain of the account"
  },
  {
    id: "status_404",
    when: { status: [404] },
    kind: "model_not_found",
    source: "The path is the registry's, so what is missing is the model; the connection is not punished"
  },
  { id: "status_429", when: { status: [429] }, kind: "rate_limit", source: "1.6 other 429" },
  { id: "status_503", when: { status: [503, 529] }, kind: "capacity", source: "1.6; Anthropic's 529" },
  {
    id: "status_5xx",
    when: {
      status: [406, 408, 409, 425, 500, 501, 502, 504, 520, 521, 522, 523, 524, 525, 526, 527, 530]
    },
    kind: "transient",
    source: "1.6: 406, 408, 5xx; Cloudflare's 52x"
  },
  {
    id: "status_4xx",
    when: {
      status: [400, 405, 407, 410, 411, 412, 414, 415, 416, 417, 418, 421, 422, 423, 424, 426, 428, 431, 451]
    },
    kind: "bad_request",
    source: "any other 400: the request's fault; sent on in the upstream's own words"
  }
]
