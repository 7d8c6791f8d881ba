/**
 * The words of upstreams, by what they mean; `Rules.ts` says where each counts. Lower case; patterns are linear (no unbounded
 * repetition).
 */

export const banned = [
  /account (?:has been |is |was )?(?:been )?(?:permanently |temporarily )?(?:deactivated|disabled|suspended|terminated|banned|blocked)/,
  /(?:organization|workspace|project|user) (?:has been |is |was )(?:permanently )?(?:deactivated|disabled|suspended|terminated|banned)/,
  /account associated with .{0,60}(?:deactivated|disabled|suspended)/,
  /consumer .{0,80}has been suspended/,
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
export const money = [
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

export const freeTierGone = [
  "free tier exhausted",
  "free tier has been exhausted",
  "free trial has ended",
  "free quota has been exhausted"
]

export const dailyQuota = [
  "today's quota",
  "today’s quota",
  /daily (?:[a-z-]{1,20} ){0,2}(?:limit|quota|allocation|allowance|cap\b)/,
  "limit for today",
  "try again tomorrow",
  /(?:requests|tokens|messages|queries|calls) per day/,
  /\b[rt]pd\b/,
  "dailylimitexceeded",
  "今日额度",
  "每日限额"
]

/** A day that is used up for one model, or for one kind of models. */
export const dailyModelQuota = ["free-models-per-day", /limit reached for .{1,200} on (?:requests|tokens) per day/]

export const planQuota = [
  "usage limit",
  "usage_limit",
  /\b(?:5|five)[- ]hour (?:usage )?limit/,
  /(?:hourly|weekly|monthly|session|subscription) (?:[a-z-]{1,20} ){0,2}(?:limit|quota|allocation|allowance|cap\b)/,
  "billing cycle",
  "billing period",
  /(?:requests|tokens|messages|queries|calls) per (?:week|month)/,
  "plan limit",
  /quota (?:will )?resets? (?:in|at|on|after)/,
  "budget has been exceeded",
  "使用上限",
  "enable overages"
]

export const otherQuota = [
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

/** Phrases for a used-up quota of this model; another model of the account may answer. */
export const modelQuota = [
  "exhausted your capacity on this model",
  /quota (?:for|of|on) (?:this|the) model/,
  /(?:limit|quota) for (?:this|the) model (?:has been |is |was )?(?:reached|exceeded|exhausted|used up)/,
  "free tier of the model has been exhausted"
]

export const rate = [
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

export const overloaded = [
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

export const tooLong = [
  "context_length_exceeded",
  "context length exceeded",
  "maximum context length",
  "max context length",
  "prompt is too long",
  "input is too long",
  "prompt too long",
  /exceeds? (?:the |this |its )?(?:model's |available |maximum )?context (?:window|length|size|limit)/,
  /context (?:window|length|size) (?:exceeds|exceeded|has been exceeded|of this model)/,
  /exceeds? (?:the )?model'?s? context/,
  "exceeds model context window",
  "greater than the context length",
  "maximum prompt length is",
  /token count.{0,60}(?:exceeds|but (?:the )?model only supports)/,
  "longer than the maximum model length",
  "prompt exceeds max length",
  /tokens \+ `?max_new_tokens/,
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

export const planWithoutLongContext = ["extra usage is required for long context", "long context beta is not"]

export const refusedContent = [
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

export const badToken = [
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

export const badKey = [
  "api key not valid",
  "invalid api key",
  "invalid api-key",
  "incorrect api key",
  "api key expired",
  /api key (?:has been |is )(?:invalid|expired|revoked|disabled|deactivated|suspended)/,
  "invalid x-api-key",
  "api key not found",
  "reported as leaked"
]

/** Codes of a request that cannot be served as it is: its pictures. */
export const requestCodes = [
  "invalid_image",
  "invalid_image_format",
  "invalid_base64_image",
  "invalid_image_url",
  "image_too_large",
  "image_too_small",
  "image_parse_error",
  "invalid_image_mode",
  "image_file_too_large",
  "unsupported_image_media_type",
  "empty_image_file",
  "failed_to_download_image",
  "image_file_not_found"
]

/** Codes of an answer in which the model itself broke off. */
export const unusableOutput = [
  "malformed_function_call",
  "malformed_response",
  "unexpected_tool_call",
  "too_many_tool_calls",
  "missing_thought_signature"
]

/** A gateway or proxy on the way knows no such path. */
export const noSuchRoute = [
  /invalid url \((?:post|get) /,
  /^cannot (?:post|get) \//,
  "404 page not found",
  "no route matched",
  "plain http request was sent to https port"
]

/** A relay in front of the provider has no account to send the request with. */
export const relayWithoutAccount = [
  "no credentials available",
  "no active credentials",
  "no credentials for",
  "no auth available",
  "auth_unavailable"
]

/** Texts about credentials are not about models, whatever else they mention. */
export const credentials = ["api key", "apikey", "credential", "token is", "unauthorized"]

export const noSuchModel = [
  /model .{0,200}(?:does not exist|not found|not exist|is not found|was not found|could not be found|is not a valid model|has been deprecated|is no longer available|has been decommissioned|is not available)/,
  /(?:no such|unknown|invalid|nonexistent) model/,
  "is not a valid model",
  "model_not_found",
  "model not exist",
  "model identifier is invalid",
  "no endpoints found",
  "模型不存在"
]

export const noModelAccess = [
  /(?:do not|does not|don't|doesn't|not) have access to (?:the |this )?(?:model|project|.{0,80}model)/,
  /(?:not|isn't) (?:authorized|allowed|permitted|entitled) to (?:access|use|call) (?:the |this )?model/,
  /model .{0,120}(?:requires? (?:a )?(?:paid|pro|plus|higher|subscription)|is not (?:enabled|supported|included|allowed)|access (?:is )?denied)/,
  "access to the model",
  "access to model denied",
  "organization must be verified",
  "not supported when using codex with a chatgpt account"
]
