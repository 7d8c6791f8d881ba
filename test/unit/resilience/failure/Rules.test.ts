/** Row by row: every rule has an example that it takes, and a counter-example that goes to another row. */
import { assert, describe, it } from "@effect/vitest"
import { classify } from "../../../../src/plane/resilience/failure/Classifier.ts"
import type { FailureKind } from "../../../../src/plane/resilience/failure/FailureKind.ts"
import { rules } from "../../../../src/plane/resilience/failure/Rules.ts"
import type { FailureSignal } from "../../../../src/plane/resilience/failure/Signal.ts"
import { answered, inAnswer, inStream, local, oauth, refreshable } from "./signals.ts"

const coded = (message: string, code: string | null, type: string | null = null) => ({ error: { message, code, type } })

const google = (quotaId: string, more: ReadonlyArray<unknown> = []) => ({
  error: {
    code: 429,
    status: "RESOURCE_EXHAUSTED",
    message: "You exceeded your current quota, please check your plan and billing details.",
    details: [{ "@type": "type.googleapis.com/google.rpc.QuotaFailure", violations: [{ quotaId }] }, ...more]
  }
})

interface Row {
  readonly examples: ReadonlyArray<FailureSignal>
  /** Near misses, with the rule that takes them. */
  readonly others: ReadonlyArray<readonly [FailureSignal, rule: string]>
}

const perDay = "GenerateRequestsPerDayPerProjectPerModel-FreeTier"
const perMinute = "GenerateContentInputTokensPerModelPerMinute-FreeTier"
const page = "<html><head><title>Just a moment...</title></head></html>"

const perProject = "GenerateRequestsPerDayPerProject-FreeTier"
const knowing = { bannedTexts: ["Fair Use breach"] }

const table: Readonly<Record<string, Row>> = {
  operator_banned: {
    examples: [
      answered(403, "Closed for a FAIR USE breach.", knowing),
      answered(400, "fair use breach", knowing),
      answered(500, "fair use breach", knowing),
      inAnswer({ error: { message: "fair use breach" } }, knowing)
    ],
    others: [
      [answered(403, "Closed for a fair use breach."), "status_403"],
      // Behind the beginning upstreams repeat what the client sent.
      [answered(400, `Unexpected value. ${"x".repeat(500)} fair use breach`, knowing), "status_4xx"]
    ]
  },
  google_daily_project: {
    examples: [answered(429, google(perProject))],
    others: [[answered(429, google(perDay)), "google_daily_quota"]]
  },
  model_quota: {
    examples: [
      answered(429, "You have exhausted your capacity on this model. Your quota will reset after 4h12m3s.", oauth),
      answered(
        403,
        coded("The free tier of the model has been exhausted. Use paid only.", "AllocationQuota.FreeTierOnly")
      ),
      answered(429, "The daily limit for this model has been reached")
    ],
    others: [[answered(429, "You have exhausted your capacity on this plan."), "status_429"]]
  },
  quota_5xx: {
    examples: [
      answered(503, coded("no quota", "insufficient_quota")),
      answered(500, "You exceeded your current quota, please check your plan and billing details.")
    ],
    others: [
      [answered(500, "Cannot read the quota table"), "status_5xx"],
      [answered(504, "quota exceeded"), "status_5xx"]
    ]
  },
  long_context_plan: {
    examples: [
      answered(429, coded("Extra usage is required for long context requests.", null, "rate_limit_error"), oauth),
      answered(400, "The long context beta is not yet available for this subscription.", oauth)
    ],
    others: [[answered(429, "Extra usage is required."), "status_429"]]
  },
  route_missing: {
    examples: [
      answered(404, coded("Invalid URL (POST /v1/chat/completion)", null, "invalid_request_error")),
      answered(404, "404 page not found", local),
      answered(404, "Cannot POST /v1/chat/completions"),
      answered(404, { message: "no Route matched with those values" }),
      answered(400, "The plain HTTP request was sent to HTTPS port")
    ],
    others: [
      [answered(404, "Not Found"), "status_404"],
      [answered(400, "invalid url in image_url"), "status_4xx"]
    ]
  },
  relay_without_account: {
    examples: [
      answered(500, coded("auth_unavailable: no auth available", "internal_server_error")),
      answered(401, "No credentials for provider: acme"),
      answered(503, "no active credentials")
    ],
    others: [
      [answered(401, "no credential given"), "status_401"],
      [answered(404, "no credentials available"), "status_404"]
    ]
  },
  key_without_model: {
    examples: [
      answered(
        401,
        coded(
          "API Key not allowed to access model. This token can only access models=['a'].",
          "401",
          "key_model_access_denied"
        )
      )
    ],
    others: [[answered(401, "API key not allowed"), "status_401"]]
  },
  google_daily_quota: {
    examples: [answered(429, google(perDay)), answered(429, [google(perDay)])],
    others: [[answered(429, google(perMinute)), "google_minute_quota"]]
  },
  google_minute_quota: {
    examples: [answered(429, google(perMinute))],
    others: [[answered(429, "You exceeded your current quota, please check your plan."), "quota_429"]]
  },
  model_quota_header: {
    examples: [answered(429, "no", { providerId: "minimax", headers: { "X-Model-Quota-Remaining": "0" } })],
    others: [
      [answered(429, "no", { providerId: "minimax", headers: { "X-Model-Quota-Remaining": "3" } }), "status_429"],
      [answered(429, "no", { headers: { "X-Model-Quota-Remaining": "0" } }), "status_429"]
    ]
  },
  request_over_share: {
    examples: [
      answered(
        429,
        "Request too large for gpt-x in organization org-1 on tokens per min (TPM): Limit 10000, Requested 12000."
      ),
      answered(
        413,
        coded("Request too large for model `m` on tokens per minute (TPM)", "rate_limit_exceeded", "tokens")
      )
    ],
    others: [[answered(429, "Rate limit reached for gpt-x on tokens per min (TPM): Limit 10000"), "status_429"]]
  },
  account_closed: {
    examples: [
      answered(
        401,
        coded("The OpenAI account associated with this API key has been deactivated.", "account_deactivated")
      ),
      answered(400, "This organization has been disabled."),
      answered(403, "Your account is suspended."),
      answered(403, "Please verify your account.", oauth),
      answered(401, "The account associated with this API key has been deactivated."),
      answered(403, "Permission denied: Consumer 'api_key:AIza' has been suspended.")
    ],
    others: [
      [answered(400, "Invalid `messages`: 'tool' must follow a tool call."), "status_4xx"],
      // The upstream repeats the prompt: an account is not banned for what a client wrote.
      [answered(400, `Unexpected value. ${"x".repeat(500)} my account has been suspended, please help`), "status_4xx"],
      [answered(500, "The account has been disabled upstream."), "status_5xx"]
    ]
  },
  credits: {
    examples: [
      answered(400, "Your credit balance is too low to access the Anthropic API."),
      answered(400, coded("Billing hard limit has been reached", "billing_hard_limit_reached")),
      answered(401, { type: "error", error: { type: "CreditsError", message: "Insufficient balance." } }),
      answered(402, coded("Insufficient Balance", "invalid_request_error")),
      answered(403, coded("You exceeded your current quota", "insufficient_quota")),
      answered(403, "free tier exhausted", oauth)
    ],
    others: [[answered(400, "The account balance field is not a number."), "status_4xx"]]
  },
  credits_429_oauth: {
    examples: [answered(429, coded("You are out of credits.", "insufficient_quota"), oauth)],
    others: [
      [answered(429, coded("You are out of credits.", "insufficient_quota")), "quota_429"],
      [answered(429, "You exceeded your current quota.", oauth), "quota_429"]
    ]
  },
  status_402: {
    examples: [answered(402, "no"), answered(402, "")],
    others: [[answered(403, "no"), "status_403"]]
  },
  provider_quota: {
    examples: [answered(429, "slow down", { providerId: "opencode-zen", headers: { "x-ratelimit-remaining": "0" } })],
    others: [
      [answered(429, "slow down", { providerId: "opencode-zen" }), "status_429"],
      [answered(429, "slow down", { headers: { "x-ratelimit-remaining": "0" } }), "status_429"]
    ]
  },
  daily_model_quota: {
    examples: [
      answered(429, "Rate limit exceeded: free-models-per-day"),
      answered(
        429,
        "Rate limit reached for model `m` in organization `o` service tier `x` on tokens per day (TPD): Limit 100000."
      )
    ],
    others: [
      [answered(429, "Rate limit reached on requests per day (RPD): Limit 1000"), "daily_quota"],
      [answered(429, "Rate limit reached for m on requests per minute (RPM): Limit 10"), "status_429"]
    ]
  },
  daily_quota: {
    examples: [
      answered(429, "You have used up today's quota, try again tomorrow."),
      answered(403, "Daily limit reached for this key."),
      answered(429, "You have used up your daily free allocation of 10,000 neurons"),
      answered(429, "Rate limit reached on requests per day (RPD): Limit 1000, Used 1000. Please try again in 1m26.4s.")
    ],
    others: [[answered(429, "Rate limit reached on requests per minute."), "status_429"]]
  },
  plan_window: {
    examples: [
      answered(429, coded("This request would exceed your account's rate limit.", null, "rate_limit_error"), {
        ...oauth,
        headers: { "anthropic-ratelimit-unified-status": "rejected" }
      }),
      answered(429, "no", { ...oauth, headers: { "x-codex-primary-used-percent": "100" } })
    ],
    others: [
      [answered(429, "no", { ...oauth, headers: { "anthropic-ratelimit-unified-status": "allowed" } }), "status_429"],
      [answered(429, "no", { ...oauth, headers: { "x-codex-primary-used-percent": "99.5" } }), "status_429"]
    ]
  },
  plan_quota: {
    examples: [
      answered(429, coded("The usage limit has been reached", null, "usage_limit_reached"), oauth),
      answered(429, "Monthly limit reached, resets in 12 days"),
      answered(
        400,
        "You have reached your specified API usage limits. You will regain access on 2026-12-01 at 00:00 UTC."
      ),
      answered(429, "You have reached your 5-hour limit."),
      answered(429, "Monthly token quota exceeded"),
      answered(400, coded("Budget has been exceeded! Current cost: 10.2, Max budget: 10.0", "400", "budget_exceeded")),
      answered(429, "已达到 5 小时的使用上限"),
      answered(429, "You have reached the limit of this billing cycle")
    ],
    others: [[answered(400, "usage must be an object"), "status_4xx"]]
  },
  search_quota: {
    examples: [
      answered(432, "This request exceeds your plan's set usage limit.", { providerId: "tavily" }),
      answered(433, "no", { providerId: "tavily" })
    ],
    others: [
      [answered(432, "no"), "unknown"],
      [answered(429, "no", { providerId: "tavily" }), "status_429"]
    ]
  },
  bad_key_422: {
    examples: [answered(422, coded("The provided subscription token is invalid.", "SUBSCRIPTION_TOKEN_INVALID"))],
    others: [[answered(422, coded("Unable to validate request parameter(s)", "VALIDATION")), "status_4xx"]]
  },
  quota_429: {
    examples: [
      answered(429, coded("no", "INSUFFICIENT_FUNDS_CREDITS")),
      answered(
        429,
        coded("You exceeded your current quota, please check your plan and billing details.", "insufficient_quota")
      ),
      answered(429, "Quota exceeded for this key"),
      answered(429, "Insufficient balance, please recharge"),
      answered(429, "余额不足或无可用资源包,请充值。"),
      answered(429, "individual quota reached")
    ],
    others: [
      [answered(429, coded("Resource exhausted. Please try again later.", "429", "RESOURCE_EXHAUSTED")), "status_429"],
      [answered(429, "Too many requests"), "status_429"]
    ]
  },
  context_overflow: {
    examples: [
      answered(400, coded("This model's maximum context length is 8192 tokens.", "context_length_exceeded")),
      answered(400, "prompt is too long: 213462 tokens > 200000 maximum"),
      answered(400, "input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000"),
      answered(400, "The input token count (1196265) exceeds the maximum number of tokens allowed (1048575)."),
      answered(400, "Your input exceeds the context window of this model."),
      answered(400, "This model's maximum prompt length is 131072 but the request contains 537812 tokens."),
      answered(400, "Please reduce the length of the messages or completion."),
      answered(400, coded("the request exceeds the available context size", "400", "exceed_context_size_error"), local),
      answered(400, "Trying to keep the first 9000 tokens when the prompt is greater than the context length", local),
      answered(400, "invalid params, context window exceeds limit"),
      answered(400, "Your request exceeded model token limit: 262144"),
      answered(413, "Prompt is too long."),
      answered(
        400,
        "Unable to submit request because the input token count is 36864 but model only supports up to 32768."
      ),
      answered(400, "The decoder prompt (length 5000) is longer than the maximum model length of 4096."),
      answered(422, "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4097", local),
      answered(400, { error: "the input length exceeds the context length" }, local),
      answered(500, "Context size has been exceeded.", local),
      answered(
        400,
        coded("prompt token count of 150000 exceeds the limit of 128000", "model_max_prompt_tokens_exceeded")
      ),
      answered(400, coded("Prompt exceeds max length", "1261")),
      answered(400, "Prompt contains 40000 tokens, too large for model with 32768 maximum context length"),
      answered(400, {
        error: {
          message: "Provider returned error",
          code: 400,
          metadata: { raw: "input is too long for requested model" }
        }
      }),
      inStream({ error: { message: "Your input exceeds the context window", code: "context_length_exceeded" } })
    ],
    others: [
      [
        answered(400, "max_tokens is too large: 100000. This model supports at most 16384 completion tokens."),
        "status_4xx"
      ],
      [answered(429, "Too many tokens, please wait before trying again."), "status_429"]
    ]
  },
  status_413: {
    examples: [answered(413, page), answered(413, coded("too big", null, "request_too_large"))],
    others: [[answered(414, "no"), "status_4xx"]]
  },
  content_refused: {
    examples: [
      answered(400, coded("The response was filtered due to Azure's content management policy.", "content_filter")),
      answered(403, 'Your chosen model requires moderation and your input was flagged for "violence".'),
      answered(400, coded("Input data may contain inappropriate content.", "data_inspection_failed")),
      inStream({ error: { code: "invalid_prompt", message: "Your prompt was flagged." } }),
      inAnswer({ error: { code: "image_content_policy_violation", message: "no" } })
    ],
    others: [[answered(400, "content must be a string or an array"), "status_4xx"]]
  },
  request_code: {
    examples: [
      answered(400, coded("The image is too small.", "image_too_small")),
      inStream({ error: { code: "invalid_image_url", message: "no" } }, { contentBegan: true })
    ],
    others: [[answered(500, coded("no", "image_parse_error")), "status_5xx"]]
  },
  unusable_output: {
    examples: [
      inStream({ error: { message: "The upstream's model broke off.", type: "MALFORMED_FUNCTION_CALL" } }),
      inAnswer({ error: { message: "The upstream's model broke off.", type: "UNEXPECTED_TOOL_CALL" } })
    ],
    others: [[answered(500, "Malformed function call"), "status_5xx"]]
  },
  route_forbidden: {
    examples: [answered(403, "Not authorized for this route"), answered(403, "not authorized for this route", oauth)],
    others: [[answered(403, "Not authorized"), "status_403"]]
  },
  google_api_off: {
    examples: [
      answered(403, {
        error: { code: 403, status: "PERMISSION_DENIED", message: "no", details: [{ reason: "SERVICE_DISABLED" }] }
      }),
      answered(403, "Generative Language API has not been used in project 1 before or it is disabled.", oauth),
      answered(403, "This API method requires billing to be enabled.", oauth)
    ],
    others: [[answered(403, "The caller does not have permission", oauth), "status_403"]]
  },
  region: {
    examples: [
      answered(
        403,
        coded("Country, region, or territory not supported", "unsupported_country_region_territory"),
        oauth
      ),
      answered(400, "User location is not supported for the API use.")
    ],
    others: [[answered(400, "location is required"), "status_4xx"]]
  },
  bad_key_400: {
    examples: [
      answered(400, {
        error: {
          code: 400,
          status: "INVALID_ARGUMENT",
          message: "API key not valid. Please pass a valid API key.",
          details: [{ "@type": "type.googleapis.com/google.rpc.ErrorInfo", reason: "API_KEY_INVALID" }]
        }
      }),
      answered(400, "API key expired. Please renew the API key."),
      answered(403, "Invalid API key"),
      answered(403, "This API key has been disabled."),
      answered(403, "Your API key was reported as leaked. Please use another API key.")
    ],
    others: [[answered(400, "messages.0.content: invalid"), "status_4xx"]]
  },
  token_refreshable: {
    examples: [answered(401, "Invalid authentication credentials", refreshable), answered(401, "", refreshable)],
    others: [
      [answered(401, "Invalid authentication credentials", oauth), "status_401"],
      [answered(401, "Invalid authentication credentials", { canRefresh: true }), "status_401"]
    ]
  },
  token_refreshable_403: {
    examples: [answered(403, "OAuth token has expired", refreshable)],
    others: [[answered(403, "OAuth token has been revoked", oauth), "dead_token_403"]]
  },
  token_refreshable_header: {
    examples: [
      answered(403, "no", {
        ...refreshable,
        headers: { "WWW-Authenticate": 'Bearer realm="x", error="invalid_token"' }
      })
    ],
    others: [[answered(403, "no", refreshable), "status_403"]]
  },
  status_401: {
    examples: [
      answered(401, coded("Incorrect API key provided: sk-x.", "invalid_api_key")),
      answered(401, page, oauth)
    ],
    others: [[answered(407, "no"), "status_4xx"]]
  },
  dead_token_403: {
    examples: [answered(403, "OAuth token has been revoked. Please obtain a new token.", oauth)],
    others: [[answered(403, "OAuth token has been revoked."), "status_403"]]
  },
  model_not_found: {
    examples: [
      answered(404, coded("The model `gpt-9` does not exist or you do not have access to it.", "model_not_found")),
      answered(404, { type: "error", error: { type: "not_found_error", message: "model: claude-9" } }),
      answered(404, 'model "llama9" not found, try pulling it first', local),
      answered(400, "acme/none is not a valid model ID"),
      answered(404, "No endpoints found for acme/none."),
      answered(400, coded("Model not exist.", "invalid_request_error")),
      answered(400, "The provided model identifier is invalid."),
      answered(400, coded("gone", "model_decommissioned"))
    ],
    others: [
      [answered(400, "model is required"), "status_4xx"],
      [answered(403, "API key has no rights: model x not found", oauth), "status_403"]
    ]
  },
  model_no_access: {
    examples: [
      answered(403, "You do not have access to the model gpt-9.", oauth),
      answered(404, "Your organization must be verified to use the model `gpt-9`."),
      answered(403, "Project `proj_1` does not have access to model `gpt-9`"),
      answered(400, "The 'gpt-9' model is not supported when using Codex with a ChatGPT account.", oauth),
      answered(403, { type: "error", error: { type: "permission_error", message: "Not allowed to use this model" } }),
      answered(403, "this model requires a subscription, upgrade for access"),
      answered(400, coded("The requested model is not supported.", "model_not_supported")),
      answered(403, coded("Access to model denied.", "AccessDenied.Unpurchased"))
    ],
    others: [[answered(403, { error: { type: "permission_error", message: "Forbidden" } }), "status_403"]]
  },
  rate_words: {
    examples: [
      answered(400, "Too many requests, slow down"),
      answered(400, "请求过于频繁"),
      answered(403, coded("You have exceeded a secondary rate limit.", "rateLimitExceeded"), oauth)
    ],
    others: [[answered(400, "frequency_penalty must be at most 2"), "status_4xx"]]
  },
  overloaded: {
    examples: [
      answered(529, { type: "error", error: { type: "overloaded_error", message: "Overloaded" } }),
      answered(
        429,
        coded("The engine is currently overloaded, please try again later", null, "engine_overloaded_error")
      ),
      answered(500, "The model is at capacity."),
      inStream({ type: "error", error: { type: "overloaded_error", message: "Overloaded" } }),
      inAnswer({ error: { message: "We are experiencing high demand." } })
    ],
    others: [
      [answered(500, "Internal error"), "status_5xx"],
      [answered(429, "Rate limit reached due to high demand"), "status_429"]
    ]
  },
  status_403_page: {
    examples: [answered(403, page, oauth), answered(403, page)],
    others: [[answered(403, "Just a moment...", oauth), "status_403"]]
  },
  request_not_allowed: {
    examples: [answered(403, { error: { type: "forbidden", message: "Request not allowed" } }, oauth)],
    others: [[answered(403, { error: { type: "forbidden", message: "Forbidden" } }, oauth), "status_403"]]
  },
  status_403: {
    examples: [
      answered(403, "Forbidden"),
      answered(403, "Forbidden", oauth),
      answered(403, "", { ...oauth, providerClass: "apikey" }),
      answered(403, "Forbidden", local)
    ],
    others: [[answered(401, "Forbidden"), "status_401"]]
  },
  status_404: {
    examples: [answered(404, page), answered(404, "Not Found", local)],
    others: [[answered(410, "Gone"), "status_4xx"]]
  },
  status_429: {
    examples: [answered(429, ""), answered(429, coded("Rate limit reached", "rate_limit_exceeded", "requests"))],
    others: [[answered(428, ""), "status_4xx"]]
  },
  status_503: {
    examples: [answered(503, page), answered(529, "")],
    others: [[answered(502, page), "status_5xx"]]
  },
  status_5xx: {
    examples: [answered(500, "boom"), answered(408, ""), answered(504, page), answered(522, page)],
    others: [[answered(599, ""), "unknown"]]
  },
  status_4xx: {
    examples: [
      answered(400, "max_tokens must be at least 1"),
      answered(422, {
        detail: [{ loc: ["body", "messages"], msg: "field required", input: "my account has been suspended" }]
      }),
      inStream({ error: { message: "bad", type: "invalid_request_error" } })
    ],
    others: [[inStream({ error: { message: "bad" } }), "unknown"]]
  }
}

const kinds = new Map<string, FailureKind>(rules.map((rule) => [rule.id, rule.kind]))

describe("the classifier's table", () => {
  it("has a unique id, an example and a counter-example for every row", () => {
    assert.strictEqual(new Set(rules.map((rule) => rule.id)).size, rules.length)
    assert.sameMembers(
      Object.keys(table),
      rules.map((rule) => rule.id)
    )
    for (const [id, row] of Object.entries(table)) {
      assert.isNotEmpty(row.examples, id)
      assert.isNotEmpty(row.others, id)
    }
  })

  for (const [id, { examples, others }] of Object.entries(table)) {
    it(`${id} takes its examples`, () => {
      for (const signal of examples) {
        const failure = classify(signal)
        assert.strictEqual(failure.rule, id, signal.bodyText.slice(0, 200))
        assert.strictEqual(failure.kind, kinds.get(id))
        assert.isTrue(failure.answered)
      }
    })

    it(`${id} leaves the others alone`, () => {
      for (const [signal, rule] of others)
        assert.strictEqual(classify(signal).rule, rule, signal.bodyText.slice(0, 200))
    })
  }

  it("has no phrase or code that an earlier row always takes first", () => {
    const dead: Array<string> = []
    for (const { id, when } of rules) {
      const extra = when.canRefresh === true ? refreshable : when.class?.includes("oauth") === true ? oauth : {}
      const signals = (word: string, isCode: boolean): ReadonlyArray<FailureSignal> =>
        (when.status ?? []).map((status) =>
          answered(status, isCode ? coded("no words", word) : `It says: ${word}`, extra)
        )
      const phrases = (when.text ?? []).filter((phrase) => typeof phrase === "string")
      for (const [words, isCode] of [[phrases, false] as const, [when.code ?? [], true] as const]) {
        for (const word of words) {
          if (!signals(word, isCode).some((signal) => classify(signal).rule === id)) dead.push(`${id}: ${word}`)
        }
      }
    }
    assert.deepStrictEqual(dead, [])
  })

  it("keeps its phrases in lower case, as the texts are", () => {
    for (const { id, when } of rules) {
      for (const phrase of [...(when.code ?? []), ...(when.text ?? []), ...(when.unless ?? [])]) {
        const source = typeof phrase === "string" ? phrase : phrase.source.replaceAll(/\\[a-zA-Z]/g, "")
        assert.strictEqual(source, source.toLowerCase(), id)
        if (typeof phrase !== "string") assert.notMatch(phrase.source, /[^\\][*+]|\{\d+,\}/, `${id}: unbounded`)
        if (typeof phrase !== "string") assert.isFalse(phrase.global || phrase.sticky, `${id}: keeps state`)
      }
    }
  })
})
