/** What a client is told of an upstream's failure: the provider's own object on its own wire, the client's own words on another. */
import { assert, describe, it } from "@effect/vitest"
import type { ErrorKind } from "../../../src/contract/domain/ErrorKind.ts"
import { errorView } from "../../../src/contract/domain/Errors.ts"
import type { WireName } from "../../../src/contract/domain/Wire.ts"
import { codecs } from "../../../src/wire/Codec.ts"
import type { JsonObject } from "../../../src/wire/json/Json.ts"
import { readUpstreamError } from "../../../src/wire/UpstreamError.ts"

const errorOf = (wire: WireName, body: JsonObject): JsonObject =>
  wire === "ollama" ? body : (body["error"] as JsonObject)

/** Error objects as the providers write them. */
const natives: Readonly<Record<Exclude<WireName, "ollama">, JsonObject>> = {
  chat: {
    message: "You exceeded your current quota, please check your plan and billing details.",
    type: "insufficient_quota",
    param: null,
    code: "insufficient_quota"
  },
  responses: {
    type: "usage_limit_reached",
    message: "The usage limit has been reached",
    plan_type: "plus",
    resets_at: 1_790_000_000
  },
  messages: { type: "rate_limit_error", message: "This request would exceed your account's rate limit." },
  gemini: {
    code: 429,
    message: "You exceeded your current quota",
    status: "RESOURCE_EXHAUSTED",
    details: [
      {
        "@type": "type.googleapis.com/google.rpc.QuotaFailure",
        violations: [{ quotaId: "GenerateRequestsPerDayPerProjectPerModel-FreeTier", quotaValue: "250" }]
      },
      { "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay: "38s" }
    ]
  }
}

describe("an error on its own wire", () => {
  for (const [wire, native] of Object.entries(natives) as ReadonlyArray<[WireName, JsonObject]>) {
    it(`${wire}: every member stays as it came`, () => {
      const problem = readUpstreamError(429, JSON.stringify({ error: native }))
      assert.deepEqual(problem.native, native)
      const body = codecs[wire].renderError(
        errorView(429, problem.message, {
          kind: "usage_limit",
          native: { wire, error: problem.native ?? {}, headers: [] }
        }),
        "r1"
      )
      assert.deepInclude(errorOf(wire, body), native)
    })
  }

  it("an object too large to pass on leaves its words", () => {
    const problem = readUpstreamError(400, JSON.stringify({ error: { message: "no", rest: "x".repeat(20_000) } }))
    assert.strictEqual(problem.native, undefined)
    assert.strictEqual(problem.message, "no")
  })

  it("an object of another wire is not passed on", () => {
    const error = errorView(429, "slow", {
      kind: "rate_limit",
      native: { wire: "gemini", error: natives.gemini, headers: [] }
    })
    assert.notProperty(errorOf("chat", codecs.chat.renderError(error, "r1")), "details")
  })
})

describe("an error of another wire", () => {
  const told: Readonly<Record<ErrorKind, Readonly<Record<WireName, object>>>> = {
    insufficient_quota: {
      chat: { type: "insufficient_quota", code: "insufficient_quota" },
      responses: { type: "insufficient_quota", code: "insufficient_quota" },
      messages: { type: "billing_error" },
      gemini: { status: "RESOURCE_EXHAUSTED" },
      ollama: { error: "words" }
    },
    usage_limit: {
      chat: { type: "insufficient_quota", code: "insufficient_quota" },
      responses: { type: "usage_limit_reached", code: "usage_limit_reached", resets_at: 1_790_000_000 },
      messages: {
        type: "invalid_request_error",
        message: "You have reached your API usage limits: words. You will regain access on 2026-09-21 at 14:14 UTC."
      },
      gemini: { status: "RESOURCE_EXHAUSTED" },
      ollama: { error: "words" }
    },
    rate_limit: {
      chat: { type: "rate_limit_error", code: "rate_limit_exceeded" },
      responses: { type: "rate_limit_error", code: "rate_limit_exceeded" },
      messages: { type: "rate_limit_error" },
      gemini: { status: "RESOURCE_EXHAUSTED" },
      ollama: { error: "words" }
    },
    overloaded: {
      chat: { type: "server_error", code: "overloaded" },
      responses: { type: "server_error", code: "server_is_overloaded" },
      messages: { type: "overloaded_error" },
      gemini: { status: "UNAVAILABLE" },
      ollama: { error: "words" }
    },
    content_refused: {
      chat: { type: "invalid_request_error", code: "content_policy_violation" },
      responses: { type: "invalid_request_error", code: "invalid_prompt" },
      messages: { type: "invalid_request_error" },
      gemini: { status: "INVALID_ARGUMENT" },
      ollama: { error: "words" }
    },
    context_overflow: {
      chat: { type: "invalid_request_error", code: "context_length_exceeded" },
      responses: { type: "invalid_request_error", code: "context_length_exceeded" },
      messages: { type: "invalid_request_error", message: "prompt is too long: words" },
      gemini: { status: "INVALID_ARGUMENT" },
      ollama: { error: "This model's maximum context length is exceeded: words" }
    },
    model_not_found: {
      chat: { type: "invalid_request_error", code: "model_not_found" },
      responses: { type: "invalid_request_error", code: "model_not_found" },
      messages: { type: "not_found_error" },
      gemini: { status: "NOT_FOUND" },
      ollama: { error: "words" }
    }
  }
  const statuses: Readonly<Record<ErrorKind, number>> = {
    insufficient_quota: 429,
    usage_limit: 429,
    rate_limit: 429,
    overloaded: 529,
    content_refused: 400,
    context_overflow: 400,
    model_not_found: 404
  }

  for (const [kind, wires] of Object.entries(told) as ReadonlyArray<[ErrorKind, Readonly<Record<WireName, object>>]>) {
    for (const [wire, expected] of Object.entries(wires) as ReadonlyArray<[WireName, object]>) {
      it(`${kind} is told to ${wire} in its own words`, () => {
        const error = errorView(statuses[kind], "words", { kind, resetsAtMs: 1_790_000_000_000 })
        assert.deepInclude(errorOf(wire, codecs[wire].renderError(error, "r1")), expected)
      })
    }
  }

  const reached = "You have reached your API usage limits"
  const limits: ReadonlyArray<readonly [message: string, told: string]> = [
    ["The usage limit has been reached", `${reached}: The usage limit has been reached.`],
    [
      "Rate limit reached for model m on tokens per day (TPD): Limit 100000, Used 99950. Please try again in 7m12s.",
      `${reached}.`
    ],
    [
      "You exceeded your current quota. For more information on this error, head to: https://example.com/rate-limits.",
      `${reached}: You exceeded your current quota.`
    ]
  ]
  for (const [message, told] of limits) {
    it(`a used-up limit leaves nothing for clients of the messages wire to ask again after: ${message.slice(0, 30)}`, () => {
      const view = errorView(429, message, { kind: "usage_limit" })
      assert.strictEqual(errorOf("messages", codecs.messages.renderError(view, "r1"))["message"], told)
      assert.strictEqual(codecs.messages.errorStatus?.(view), 400)
    })
  }

  it("the status that Anthropic chose for a used-up limit stays", () => {
    const native = { wire: "messages" as const, error: natives.messages, headers: [] }
    const view = errorView(429, "words", { kind: "usage_limit", native })
    assert.strictEqual(codecs.messages.errorStatus?.(view), 429)
  })

  it("a quota that is used up ends a Gemini client instead of keeping it waiting", () => {
    const error = errorView(429, "used up", { kind: "insufficient_quota" })
    const { details } = errorOf("gemini", codecs.gemini.renderError(error, "r1"))
    assert.match(JSON.stringify(details), /QuotaFailure.*PerDay/)
  })
})

describe("a conversation that does not fit", () => {
  /** The words of each provider for 201,537 tokens in a window of 200,000. */
  const said = [
    "prompt is too long: 201537 tokens > 200000 maximum",
    "This model's maximum context length is 200000 tokens. However, your messages resulted in 201537 tokens. Please reduce the length.",
    "The input token count (201537) exceeds the maximum number of tokens allowed (200000).",
    "request (201537 tokens) exceeds the available context size (200000 tokens), try increasing it"
  ]
  for (const message of said) {
    it(`numbers are kept: ${message.slice(0, 40)}`, () => {
      const error = errorView(400, message, { kind: "context_overflow" })
      assert.strictEqual(
        errorOf("messages", codecs.messages.renderError(error, "r1"))["message"],
        "prompt is too long: 201537 tokens > 200000 maximum"
      )
      assert.match(
        String(errorOf("gemini", codecs.gemini.renderError(error, "r1"))["message"]),
        /input token count \(201537\) exceeds the maximum number of tokens allowed \(200000\)/
      )
      assert.match(
        String(errorOf("chat", codecs.chat.renderError(error, "r1"))["message"]),
        /maximum context length|context size/
      )
    })
  }

  it("what has no numbers keeps its words behind the trigger", () => {
    const error = errorView(400, "Your input exceeds the context window of this model.", { kind: "context_overflow" })
    assert.strictEqual(
      errorOf("messages", codecs.messages.renderError(error, "r1"))["message"],
      "prompt is too long: Your input exceeds the context window of this model."
    )
  })
})
