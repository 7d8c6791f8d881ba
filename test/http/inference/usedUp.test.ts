/** What clients are told while an account cools down because its money is used up: what the provider said, and nothing about waiting. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fake from "../../support/FakeUpstream.ts"
import * as TestGateway from "../../support/TestGateway.ts"

const message = "You exceeded your current quota, please check your plan and billing details."
const noMoney = Fake.json(
  { error: { message, type: "insufficient_quota", param: null, code: "insufficient_quota" } },
  { status: 429 }
)

const clients = [
  {
    wire: "chat",
    path: "/v1/chat/completions",
    body: { messages: [{ role: "user", content: "Hi" }] },
    status: 429,
    says: { error: { type: "insufficient_quota", code: "insufficient_quota" } }
  },
  {
    wire: "messages",
    path: "/v1/messages",
    body: { max_tokens: 9, messages: [{ role: "user", content: "Hi" }] },
    status: 402,
    says: { error: { type: "billing_error", code: "insufficient_quota" } }
  }
] as const

/** https://ai.google.dev/gemini-api/docs/rate-limits */
const dayUsedUp = Fake.json(
  {
    error: {
      code: 429,
      message: `${message} For more information on this error, head to: https://ai.google.dev/gemini-api/docs/rate-limits.`,
      status: "RESOURCE_EXHAUSTED",
      details: [
        {
          "@type": "type.googleapis.com/google.rpc.QuotaFailure",
          violations: [{ quotaId: "GenerateRequestsPerDayPerProjectPerModel-FreeTier", quotaValue: "250" }]
        },
        { "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay: "38s" }
      ]
    }
  },
  { status: 429 }
)

/** What makes clients of the messages wire ask again, wherever it stands in the error. */
const callsBack = /429|rate.?limit|too many requests|resource.?exhausted|try again/i

describe("a limit of a day that is used up", () => {
  it.scopedLive(
    "is told to clients of the messages wire as Anthropic tells it, at the first request and while it lasts",
    () =>
      Effect.gen(function* () {
        const gateway = yield* TestGateway.start()
        const upstream = yield* Fake.start
        upstream.always(dayUsedUp)
        yield* Effect.promise(async () => {
          await gateway.connect("one", upstream, "gemini")
          for (const asked of [1, 1]) {
            const response = await gateway.post("/v1/messages", {
              model: "one/m",
              max_tokens: 9,
              messages: [{ role: "user", content: "Hi" }]
            })
            assert.strictEqual(response.status, 400)
            assert.strictEqual(response.headers.get("x-should-retry"), "false")
            const told = (await response.json()) as { error: { type: string; message: string } }
            assert.strictEqual(told.error.type, "invalid_request_error")
            assert.match(told.error.message, /^You have reached your API usage limits: .*quota/)
            assert.match(told.error.message, /You will regain access on \d{4}-\d\d-\d\d at \d\d:\d\d UTC\.$/)
            assert.notMatch(JSON.stringify(told.error), callsBack)
            assert.lengthOf(upstream.requests, asked)
          }
        })
      })
  )
})

describe("an account whose money is used up", () => {
  for (const { body, path, says, status, wire } of clients) {
    it.scopedLive(`is told of in the words of ${wire}, at the first request and while it cools down`, () =>
      Effect.gen(function* () {
        const gateway = yield* TestGateway.start()
        const upstream = yield* Fake.start
        upstream.always(noMoney)
        yield* Effect.promise(async () => {
          await gateway.connect("one", upstream, "chat")
          for (const asked of [1, 1]) {
            const response = await gateway.post(path, { model: "one/m", ...body })
            assert.strictEqual(response.status, status)
            assert.isNull(response.headers.get("retry-after"))
            assert.strictEqual(response.headers.get("x-should-retry"), "false")
            const told = (await response.json()) as { error: Record<string, unknown> }
            assert.deepInclude(told.error, says.error)
            if (wire === "messages") assert.notMatch(JSON.stringify(told.error), callsBack)
            assert.lengthOf(upstream.requests, asked)
          }
        })
      })
    )
  }
})
