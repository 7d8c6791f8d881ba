/**
 * Kinds of failure × wire of the client × wire of the upstream, over real sockets and with the official SDKs: the provider's own error on its
 * own wire, the client's words on any other. `ERRORS=all npm test -- test/sdk/errorIdentity` prints the whole table.
 */
import Anthropic, { APIError as AnthropicError } from "@anthropic-ai/sdk"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { ApiError as GoogleError, GoogleGenAI } from "@google/genai"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"
import { Ollama } from "ollama"
import OpenAI, { APIError as OpenAIError } from "openai"
import type { ErrorKind } from "../../src/contract/domain/ErrorKind.ts"
import type { WireName } from "../../src/contract/domain/Wire.ts"
import * as Fake from "../support/FakeUpstream.ts"
import * as TestGateway from "../support/TestGateway.ts"

const wires: ReadonlyArray<WireName> = ["chat", "messages", "responses", "gemini", "ollama"]

interface Said {
  readonly status: number
  readonly body: Readonly<Record<string, unknown>>
  readonly headers?: Readonly<Record<string, string>>
}

const openAi = (status: number, type: string, code: string | null, message: string, more: object = {}): Said => ({
  status,
  body: { error: { message, type, param: null, code, ...more } },
  headers: { "x-request-id": "req_0123456789", "x-ratelimit-remaining-requests": "0" }
})
const anthropic = (status: number, type: string, message: string): Said => ({
  status,
  body: { type: "error", error: { type, message }, request_id: "req_0123456789" },
  headers: { "request-id": "req_0123456789", "anthropic-ratelimit-requests-remaining": "0" }
})
const google = (code: number, status: string, message: string, details: ReadonlyArray<object> = []): Said => ({
  status: code,
  body: { error: { code, message, status, ...(details.length === 0 ? {} : { details }) } }
})
const plain = (status: number, error: string): Said => ({ status, body: { error } })

/** As the providers document it; a wire is missing where its providers have no such answer. */
const said: Readonly<Record<ErrorKind, Readonly<Partial<Record<WireName, Said>>>>> = {
  insufficient_quota: {
    chat: openAi(
      429,
      "insufficient_quota",
      "insufficient_quota",
      "You exceeded your current quota, please check your plan and billing details."
    ),
    responses: openAi(
      429,
      "insufficient_quota",
      "insufficient_quota",
      "You exceeded your current quota, please check your plan and billing details."
    ),
    messages: anthropic(400, "invalid_request_error", "Your credit balance is too low to access the Anthropic API.")
  },
  usage_limit: {
    responses: openAi(429, "usage_limit_reached", null, "The usage limit has been reached", {
      plan_type: "plus",
      resets_in_seconds: 7_200
    }),
    gemini: google(
      429,
      "RESOURCE_EXHAUSTED",
      "You exceeded your current quota, please check your plan and billing details.",
      [
        {
          "@type": "type.googleapis.com/google.rpc.QuotaFailure",
          violations: [{ quotaId: "GenerateRequestsPerDayPerProjectPerModel-FreeTier", quotaValue: "250" }]
        },
        { "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay: "38s" }
      ]
    )
  },
  rate_limit: {
    chat: {
      ...openAi(429, "requests", "rate_limit_exceeded", "Rate limit reached for requests"),
      headers: { "retry-after": "7" }
    },
    responses: {
      ...openAi(429, "requests", "rate_limit_exceeded", "Rate limit reached for requests"),
      headers: { "retry-after": "7" }
    },
    messages: {
      ...anthropic(429, "rate_limit_error", "This request would exceed your rate limit."),
      headers: { "retry-after": "7" }
    },
    gemini: google(429, "RESOURCE_EXHAUSTED", "You exceeded your current quota", [
      {
        "@type": "type.googleapis.com/google.rpc.QuotaFailure",
        violations: [{ quotaId: "GenerateRequestsPerMinutePerProjectPerModel-FreeTier", quotaValue: "10" }]
      },
      { "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay: "7s" }
    ]),
    ollama: { ...plain(429, "too many requests"), headers: { "retry-after": "7" } }
  },
  overloaded: {
    messages: anthropic(529, "overloaded_error", "Overloaded"),
    gemini: google(503, "UNAVAILABLE", "The model is overloaded. Please try again later."),
    responses: openAi(503, "server_error", "server_is_overloaded", "The server is overloaded")
  },
  content_refused: {
    chat: openAi(
      400,
      "invalid_request_error",
      "content_policy_violation",
      "Your request was rejected by the safety system."
    ),
    responses: openAi(
      400,
      "invalid_request_error",
      "content_policy_violation",
      "Your request was rejected by the safety system."
    )
  },
  context_overflow: {
    chat: openAi(
      400,
      "invalid_request_error",
      "context_length_exceeded",
      "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens."
    ),
    responses: openAi(
      400,
      "invalid_request_error",
      "context_length_exceeded",
      "Your input exceeds the context window of this model."
    ),
    messages: anthropic(400, "invalid_request_error", "prompt is too long: 9000 tokens > 8192 maximum"),
    gemini: google(
      400,
      "INVALID_ARGUMENT",
      "The input token count (9000) exceeds the maximum number of tokens allowed (8192)."
    )
  },
  model_not_found: {
    chat: openAi(404, "invalid_request_error", "model_not_found", "The model `m` does not exist"),
    responses: openAi(404, "invalid_request_error", "model_not_found", "The model `m` does not exist"),
    messages: anthropic(404, "not_found_error", "model: m"),
    gemini: google(404, "NOT_FOUND", "models/m is not found for API version v1beta"),
    ollama: plain(404, "model 'm' not found, try pulling it first")
  }
}

/** What clients of a wire look for, where the upstream spoke another one. */
const words: Readonly<Record<ErrorKind, Readonly<Record<WireName, RegExp>>>> = {
  insufficient_quota: {
    chat: /"code":"insufficient_quota"/,
    responses: /"code":"insufficient_quota"/,
    messages: /"type":"billing_error"/,
    gemini: /QuotaFailure.*PerDay/,
    ollama: /"error":"/
  },
  usage_limit: {
    chat: /"code":"insufficient_quota"/,
    responses: /"type":"usage_limit_reached".*"resets_at":\d{10}/,
    messages:
      /"type":"invalid_request_error","message":"You have reached your API usage limits.*You will regain access on /,
    gemini: /QuotaFailure.*PerDay/,
    ollama: /"error":"/
  },
  rate_limit: {
    chat: /"code":"rate_limit_exceeded"/,
    responses: /"code":"rate_limit_exceeded"/,
    messages: /"type":"rate_limit_error"/,
    gemini: /RESOURCE_EXHAUSTED.*"retryDelay":"7s"/,
    ollama: /"error":"/
  },
  overloaded: {
    chat: /"type":"server_error"/,
    responses: /"code":"server_is_overloaded"/,
    messages: /"type":"overloaded_error"/,
    gemini: /"status":"UNAVAILABLE"/,
    ollama: /"error":"/
  },
  content_refused: {
    chat: /"code":"content_policy_violation"/,
    responses: /"code":"invalid_prompt"/,
    messages: /"type":"invalid_request_error"/,
    gemini: /"status":"INVALID_ARGUMENT"/,
    ollama: /"error":"/
  },
  context_overflow: {
    chat: /"code":"context_length_exceeded"/,
    responses: /"code":"context_length_exceeded"/,
    messages: /"message":"prompt is too long/,
    gemini: /input token count/i,
    ollama: /context/
  },
  model_not_found: {
    chat: /"code":"model_not_found"/,
    responses: /"code":"model_not_found"/,
    messages: /"type":"not_found_error"/,
    gemini: /"status":"NOT_FOUND"/,
    ollama: /"error":"/
  }
}

/** Kinds that waiting does not mend. */
const lasting: ReadonlySet<ErrorKind> = new Set([
  "insufficient_quota",
  "content_refused",
  "context_overflow",
  "model_not_found"
])

/** Of the messages wire, where other wires have a 429. */
const ownStatus: Readonly<Partial<Record<ErrorKind, number>>> = { insufficient_quota: 402, usage_limit: 400 }

const ask = [{ role: "user" as const, content: "Hi" }]

const asks: Readonly<Record<WireName, (model: string) => readonly [path: string, body: object]>> = {
  chat: (model) => ["/v1/chat/completions", { model, messages: ask }],
  messages: (model) => ["/v1/messages", { model, max_tokens: 10, messages: ask }],
  responses: (model) => ["/v1/responses", { model, input: "Hi" }],
  gemini: (model) => [
    `/v1beta/models/${model}:generateContent`,
    { contents: [{ role: "user", parts: [{ text: "Hi" }] }] }
  ],
  ollama: (model) => ["/api/chat", { model, messages: ask, stream: false }]
}

/** The error an official SDK throws, by its class and status. */
const thrown = async (url: string, wire: WireName, model: string): Promise<string> => {
  const openai = new OpenAI({ baseURL: `${url}/v1`, apiKey: "any", maxRetries: 0 })
  const calls: Readonly<Record<WireName, () => Promise<unknown>>> = {
    chat: () => openai.chat.completions.create({ model, messages: ask }),
    responses: () => openai.responses.create({ model, input: "Hi" }),
    messages: () =>
      new Anthropic({ baseURL: url, apiKey: "any", maxRetries: 0 }).messages.create({
        model,
        max_tokens: 10,
        messages: ask
      }),
    gemini: () =>
      new GoogleGenAI({ apiKey: "any", httpOptions: { baseUrl: url } }).models.generateContent({
        model,
        contents: "Hi"
      }),
    ollama: () => new Ollama({ host: url }).chat({ model, messages: ask })
  }
  const error: unknown = await calls[wire]().then(
    () => null,
    (failure: unknown) => failure
  )
  if (error instanceof OpenAIError || error instanceof AnthropicError)
    return `${error.constructor.name} ${error.status}`
  if (error instanceof GoogleError) return `ApiError ${error.status}`
  if (error instanceof Error) return `${error.name} ${(error as { status_code?: number }).status_code ?? ""}`.trim()
  return "nothing"
}

describe("errors keep their identity", () => {
  const scope = Effect.runSync(Scope.make())
  const table: Array<string> = []
  let gateway: TestGateway.TestGateway
  let upstream: Fake.FakeUpstream
  let count = 0

  beforeAll(async () => {
    const within = <A>(effect: Effect.Effect<A, never, Scope.Scope>): Promise<A> =>
      Effect.runPromise(Scope.extend(effect, scope))
    gateway = await within(TestGateway.start())
    upstream = await within(Fake.start)
  })
  afterAll(async () => {
    if (process.env["ERRORS"] === "all") process.stdout.write(`\n${table.join("\n")}\n`)
    await Effect.runPromise(Scope.close(scope, Exit.void))
  })

  /** An account that has not failed yet. */
  const fresh = async (wire: WireName): Promise<string> => {
    const prefix = `e${++count}`
    await gateway.connect(prefix, upstream, wire)
    return `${prefix}/m`
  }

  for (const [kind, byWire] of Object.entries(said) as ReadonlyArray<[ErrorKind, (typeof said)[ErrorKind]]>) {
    for (const upstreamWire of wires) {
      const answer = byWire[upstreamWire]
      if (answer === undefined) continue
      it(`${kind} of a ${upstreamWire} upstream`, async () => {
        upstream.always(Fake.json(answer.body, { status: answer.status, headers: answer.headers ?? {} }))
        for (const wire of wires) {
          const [path, body] = asks[wire](await fresh(upstreamWire))
          const response = await gateway.post(path, body)
          const text = await response.text()
          const retryAfter = response.headers.get("retry-after")
          const sdk = await thrown(gateway.url, wire, await fresh(upstreamWire))
          table.push(
            [kind, wire, upstreamWire, response.status, retryAfter ?? "-", sdk, text.slice(0, 160)].join(" | ")
          )
          const label = `${wire} ← ${upstreamWire}: ${response.status} ${text}`
          // Anthropic has statuses of its own for what is used up; after a 429 its clients ask again.
          const own = wire === "messages" && answer.status === 429 ? ownStatus[kind] : undefined
          const status = own ?? answer.status
          assert.strictEqual(response.status, status, label)
          assert.include(sdk, wire === "ollama" ? "Error" : String(status), label)
          if (lasting.has(kind)) assert.isNull(retryAfter, label)
          if (kind === "rate_limit") assert.strictEqual(retryAfter, "7", label)
          if (wire === upstreamWire && wire !== "ollama") {
            assert.deepInclude(JSON.parse(text).error, answer.body["error"], label)
            for (const [name, value] of Object.entries(answer.headers ?? {})) {
              assert.strictEqual(response.headers.get(name), value, `${name}: ${label}`)
            }
          } else assert.match(text, words[kind][wire], label)
        }
      })
    }
  }

  it("a conversation that does not fit is told inside a stream of the responses wire, as OpenAI does", async () => {
    upstream.always(Fake.json(said.context_overflow.messages?.body, { status: 400 }))
    const response = await gateway.post("/v1/responses", { model: await fresh("messages"), input: "Hi", stream: true })
    assert.strictEqual(response.status, 200)
    const text = await response.text()
    assert.match(
      text,
      /^event: response\.created\n.*\n\nevent: response\.failed\ndata: .*"code":"context_length_exceeded"/
    )
    assert.notInclude(text, "response.completed")
    const row = await gateway.usageRow(response.headers.get("x-gateway-request-id") ?? "")
    assert.deepInclude(row, { outcome: "failed", status: 400 })
  })

  it("headers about limits reach a client of the same wire with its answer too", async () => {
    const headers = {
      "x-ratelimit-remaining-requests": "41",
      "x-request-id": "req_1",
      "set-cookie": "a=b",
      server: "x"
    }
    for (const stream of [false, true]) {
      upstream.always(
        stream
          ? Fake.sse(Fake.chatStream(["Hello"]), { headers })
          : Fake.json(Fake.chatCompletion({ text: "Hello" }), { headers })
      )
      const same = await gateway.post("/v1/chat/completions", { model: await fresh("chat"), messages: ask, stream })
      await same.text()
      assert.strictEqual(same.headers.get("x-ratelimit-remaining-requests"), "41")
      assert.strictEqual(same.headers.get("x-request-id"), "req_1")
      assert.isNull(same.headers.get("set-cookie"))
      const other = await gateway.post("/v1/messages", {
        model: await fresh("chat"),
        max_tokens: 9,
        messages: ask,
        stream
      })
      await other.text()
      assert.isNull(other.headers.get("x-ratelimit-remaining-requests"))
    }
  })
})
