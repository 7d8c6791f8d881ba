/**
 * The classifier's table: what upstreams say when they fail, and what it means. Read from the top, the first row that holds
 * decides; what the words say comes before what the status says (reference-facts 1.6). Every row has an example and a
 * counter-example in its test. Phrases are lower case.
 */
import type { Rule } from "./Rule.ts"

const hour = 3_600_000

const banned = [
  /account (?:has been |is |was )?(?:been )?(?:permanently |temporarily )?(?:deactivated|disabled|suspended|terminated|banned|blocked)/,
  /(?:organization|workspace|project|user) (?:has been |is |was )(?:permanently )?(?:deactivated|disabled|suspended|terminated|banned)/,
  /account associated with .{0,60}(?:deactivated|disabled|suspended)/,
  "account_deactivated",
  "verify your account",
  "service has been disabled in this account",
  "service disabled in this account",
  "service is disabled for this account",
  "账号已被封禁",
  "账户已被封禁",
  "账号已被禁用"
]

/** The money is gone. */
const money = [
  "insufficient_quota",
  "insufficient quota",
  "billing hard limit",
  "billing_hard_limit",
  /credit balance is too low|credit balance too low/,
  "out of credits",
  "insufficient credit",
  "not enough credits",
  "no credits remaining",
  "payment required",
  "insufficient balance",
  "insufficient_balance",
  "insufficient funds",
  "exceeded your monthly included credits",
  "余额不足",
  "账户欠费"
]

const freeTierGone = [
  "free tier exhausted",
  "free tier has been exhausted",
  "free trial has ended",
  "free quota has been exhausted"
]

const dailyQuota = [
  "today's quota",
  "today’s quota",
  /daily (?:[a-z-]{1,20} ){0,2}(?:limit|quota|allocation|allowance|cap\b)/,
  "limit for today",
  "try again tomorrow",
  "free-models-per-day",
  /(?:requests|tokens|messages|queries|calls) per day/,
  /\b[rt]pd\b/,
  "dailylimitexceeded",
  "今日额度",
  "每日限额"
]

const planQuota = [
  "usage limit",
  "usage_limit",
  /\b(?:5|five)[- ]hour (?:usage )?limit/,
  /(?:hourly|weekly|monthly|session|subscription) (?:[a-z-]{1,20} ){0,2}(?:limit|quota|allocation|allowance|cap\b)/,
  "billing cycle",
  "billing period",
  /(?:requests|tokens|messages) per (?:week|month)/,
  "plan limit",
  /quota (?:will )?resets? (?:in|at|on|after)/,
  "enable overages"
]

const otherQuota = [
  "exceeded your current quota",
  "exceeded current quota",
  "quota exceeded",
  "quota_exceeded",
  "exceeded your quota",
  "quota has been exceeded",
  "quota has been exhausted",
  "quota exhausted",
  "insufficient_quota",
  "insufficient quota",
  "individual quota reached",
  /billing (?:cap|hard limit|limit)/,
  /credits? (?:is |are |has been |have been )?exhausted/,
  "hard limit",
  "额度已用完",
  "配额不足"
]

const rate = [
  "too many requests",
  "rate limit",
  "rate_limit_exceeded",
  "ratelimitexceeded",
  "requests per minute",
  "tokens per minute",
  "high frequency",
  "throttlingexception",
  "频繁",
  "频率",
  "速率限制"
]

const overloaded = [
  "overloaded",
  "overloaded_error",
  "at capacity",
  "no capacity",
  "capacity exceeded",
  "capacity constraints",
  "insufficient capacity",
  "high demand",
  "experiencing high load",
  "server is busy",
  "server busy",
  "no instances available",
  "no available accounts",
  "model is currently loading",
  "负载较高",
  "服务繁忙"
]

const tooLong = [
  "context_length_exceeded",
  "context length exceeded",
  "maximum context length",
  "max context length",
  "prompt is too long",
  "input is too long",
  "prompt too long",
  /exceeds? (?:the |this |its )?(?:model's |available |maximum )?context (?:window|length|size|limit)/,
  /context (?:window|length|size) (?:exceeds|exceeded|of this model)/,
  /exceeds? (?:the )?model'?s? context/,
  "exceeds model context window",
  "greater than the context length",
  "maximum prompt length is",
  /token count.{0,60}exceeds/,
  /prompt contains at least.{0,40}input tokens/,
  "exceeded model token limit",
  "reduce the length of the messages",
  "reduce your prompt",
  "too many input tokens",
  "too many tokens",
  "range of input length should be",
  "上下文长度",
  "输入长度超过"
]

const refusedContent = [
  "content_policy_violation",
  "content policy",
  "content management policy",
  "usage policies",
  "flagged by moderation",
  "requires moderation",
  "data_inspection_failed",
  "inappropriate content",
  "safety system",
  "敏感"
]

const badToken = [
  "invalid_token",
  "invalid token",
  "token has expired",
  "token expired",
  "token is expired",
  "expired token",
  "oauth token",
  "access token",
  "invalid authentication credentials",
  "token has been invalidated"
]

const badKey = [
  "api key not valid",
  "invalid api key",
  "invalid api-key",
  "incorrect api key",
  "api key expired",
  /api key (?:has been |is )(?:invalid|expired|revoked|disabled|deactivated|suspended)/,
  "invalid x-api-key",
  "api key not found"
]

/** Texts about credentials are not about models, whatever else they mention. */
const credentials = ["api key", "apikey", "credential", "token is", "unauthorized"]

const noSuchModel = [
  /model .{0,200}(?:does not exist|not found|not exist|is not found|was not found|could not be found|is not a valid model|has been deprecated|is no longer available|has been decommissioned|is not available)/,
  /(?:no such|unknown|invalid|nonexistent) model/,
  "is not a valid model",
  "model_not_found",
  "model not exist",
  "no endpoints found",
  "模型不存在"
]

const noModelAccess = [
  /(?:do not|does not|don't|doesn't|not) have access to (?:the |this )?(?:model|project|.{0,80}model)/,
  /(?:not|isn't) (?:authorized|allowed|permitted|entitled) to (?:access|use|call) (?:the |this )?model/,
  /model .{0,120}(?:requires? (?:a )?(?:paid|pro|plus|higher)|is not (?:enabled|supported|included|allowed)|access (?:is )?denied)/,
  "access to the model",
  "organization must be verified",
  "not supported when using codex with a chatgpt account"
]

export const rules: ReadonlyArray<Rule> = [
  // --- Windows and limits that structured facts tell; their words would mislead.
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
    id: "request_over_share",
    when: { status: [413, 429], text: ["request too large", "request is too large for"] },
    kind: "too_large",
    source: "OpenAI, Groq: one request beyond the tokens of a minute; waiting does not help"
  },

  // --- The account.
  {
    id: "account_closed",
    when: { status: [400, 401, 402, 403, 429], code: ["account_deactivated", "organization_disabled"], text: banned },
    kind: "banned",
    source: "OpenAI account_deactivated, Anthropic 'organization has been disabled', 1.6 first row"
  },
  {
    id: "credits",
    when: {
      status: [400, 401, 402, 403],
      code: ["insufficient_quota", "billing_hard_limit_reached", "creditserror", "billing_error", "arrearage"],
      text: [...money, ...freeTierGone, "exceeded your current quota", "exceeded current quota"]
    },
    kind: "credits_exhausted",
    source: "Anthropic 400 'credit balance is too low', OpenAI billing hard limit, OpenCode 401 CreditsError, 1.6"
  },
  {
    id: "credits_429_oauth",
    when: { status: [429], class: ["oauth"], code: ["insufficient_quota"], text: [...money, ...freeTierGone] },
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
    id: "daily_quota",
    when: { status: [400, 403, 429], code: ["dailylimitexceeded"], text: dailyQuota },
    kind: "quota_exhausted",
    reopens: "midnight_utc",
    source: "1.6 daily quota; OpenRouter free-models-per-day; Groq RPD/TPD"
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
    when: { status: [400, 403, 429], code: ["usage_limit_reached", "usage_not_included"], text: planQuota },
    kind: "quota_exhausted",
    reopens: hour,
    source: "1.6 subscription usage limit: the hint, else one hour; monthly texts ('resets in N days', thread 6060)"
  },
  {
    id: "quota_429",
    when: {
      status: [403, 429],
      code: ["insufficient_quota", "quota_exceeded", "quotaexceeded", "quota_exhausted"],
      text: [...otherQuota, ...money, ...freeTierGone]
    },
    kind: "quota_exhausted",
    reopens: hour,
    source: "1.6 429 with quota words; OpenAI insufficient_quota. 'Resource exhausted' alone is a burst (Vertex)"
  },

  // --- The request.
  {
    id: "context_overflow",
    when: {
      status: [400, 413, 422, 500],
      code: ["context_length_exceeded", "context_window_exceeded", "exceed_context_size_error"],
      text: tooLong
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
      code: ["content_policy_violation", "content_filter", "data_inspection_failed", "responsibleaipolicyviolation"],
      text: refusedContent
    },
    kind: "content_refused",
    source: "Azure content filter, OpenRouter 403 moderation, DashScope data_inspection_failed"
  },

  // --- The way there.
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
      code: ["service_disabled", "accessnotconfigured"],
      text: [/has not been used in project.{0,80}before or it is disabled/, "has not enabled the api"]
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

  // --- Credentials.
  {
    id: "bad_key_400",
    when: { status: [400, 403], code: ["api_key_invalid", "invalid_api_key"], text: badKey },
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
    when: { status: [403], canRefresh: true, text: badToken },
    kind: "auth_refreshable",
    source: "Some OAuth providers say 403 for an expired token"
  },
  {
    id: "token_refreshable_header",
    when: { status: [403], canRefresh: true, mark: "invalid_token" },
    kind: "auth_refreshable",
    source: "RFC 6750: WWW-Authenticate error=invalid_token"
  },
  { id: "status_401", when: { status: [401] }, kind: "auth_expired", source: "1.6 other 401" },
  {
    id: "dead_token_403",
    when: { status: [403], class: ["oauth"], text: badToken },
    kind: "auth_expired",
    source: "Anthropic 403 'OAuth token has been revoked': the login is over, the account is not banned"
  },

  // --- The model.
  {
    id: "model_not_found",
    when: {
      status: [400, 403, 404, 422],
      code: ["model_not_found", "deployment_not_found", "deploymentnotfound", "not_found_error", "model_not_available"],
      text: noSuchModel,
      unless: credentials
    },
    kind: "model_not_found",
    source: "OpenAI, Azure, Anthropic, Ollama, OpenRouter 'No endpoints found'; 1.6"
  },
  {
    id: "model_no_access",
    when: { status: [400, 403, 404], code: ["model_no_access"], text: noModelAccess, unless: credentials },
    kind: "model_no_access",
    source: "1.6: permission_error only if the text speaks of the model, and not of credentials"
  },

  // --- Passing trouble in words, whatever the status.
  {
    id: "rate_words",
    when: { status: [400, 403], code: ["ratelimitexceeded", "rate_limit_exceeded", "throttlingexception"], text: rate },
    kind: "rate_limit",
    countsAs: 429,
    source: "1.6: 400 with 'too many requests', 'high frequency', 频繁; GitHub 403"
  },
  {
    id: "overloaded",
    when: {
      status: [429, 500, 502, 503, 504, 529],
      code: ["overloaded_error", "overloaded", "engine_overloaded_error", "server_is_overloaded"],
      text: overloaded,
      unless: ["rate limit"]
    },
    kind: "capacity",
    source: "Anthropic overloaded_error, Moonshot 429 engine_overloaded, Codex server_is_overloaded"
  },

  // --- What only the status tells.
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
    id: "status_403_oauth",
    when: { status: [403], class: ["oauth"] },
    kind: "banned",
    source: "1.6: 403 of a class other than API key"
  },
  { id: "status_403", when: { status: [403] }, kind: "forbidden", source: "1.6: 403 of an API key: cooldown" },
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
    source: "1.6 other 400: the request's fault; sent on in the upstream's own words (B5)"
  }
]
