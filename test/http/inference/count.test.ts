/** "How many tokens would this be?", asked in every wire that has the question, with upstreams that can answer it and others. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type { WireName } from "../../../src/contract/domain/Wire.ts"
import * as Fake from "../../support/FakeUpstream.ts"
import * as TestGateway from "../../support/TestGateway.ts"

const setUp = (wire: WireName, config: Parameters<typeof TestGateway.start>[0] = {}) =>
  Effect.gen(function* () {
    const gateway = yield* TestGateway.start(config)
    const upstream = yield* Fake.start
    yield* Effect.promise(() => gateway.connect("up", upstream, wire))
    return { gateway, upstream }
  })

const messages = {
  model: "up/m",
  messages: [{ role: "user", content: "Hello there, how are you?" }]
}
const gemini = { contents: [{ role: "user", parts: [{ text: "Hello there, how are you?" }] }] }
const responses = { model: "up/m", input: "Hello there, how are you?" }

const paths = {
  messages: ["/v1/messages/count_tokens", messages, "input_tokens"],
  gemini: ["/v1beta/models/up/m:countTokens", gemini, "totalTokens"],
  responses: ["/v1/responses/input_tokens", responses, "input_tokens"]
} as const
type Counting = keyof typeof paths
const counting: ReadonlyArray<Counting> = ["messages", "gemini", "responses"]

const upstreamPaths: Readonly<Record<Counting, string>> = {
  messages: "/v1/messages/count_tokens",
  gemini: "/v1/models/m:countTokens",
  responses: "/v1/responses/input_tokens"
}
const upstreamAnswers: Readonly<Record<Counting, unknown>> = {
  messages: { input_tokens: 77 },
  gemini: { totalTokens: 77 },
  responses: { object: "response.input_tokens", input_tokens: 77 }
}

const source = (response: Response): string | null => response.headers.get("x-gateway-token-count-source")

const tokensOf = async (response: Response, field: string): Promise<number> => {
  const body = (await response.json()) as Record<string, unknown>
  assert.strictEqual(response.status, 200, JSON.stringify(body))
  assert.isTrue(Number.isInteger(body[field]), JSON.stringify(body))
  return Number(body[field])
}

describe("the provider's own count", () => {
  for (const client of counting) {
    for (const wire of counting) {
      it.scopedLive(`${client} client, ${wire} upstream`, () =>
        Effect.gen(function* () {
          const { gateway, upstream } = yield* setUp(wire)
          upstream.always(Fake.json(upstreamAnswers[wire]))
          yield* Effect.promise(async () => {
            const [path, body, field] = paths[client]
            const response = await gateway.post(path, body)
            assert.strictEqual(source(response), "provider")
            assert.strictEqual(await tokensOf(response, field), 77)
            assert.strictEqual(upstream.requests.length, 1)
            const [request] = upstream.requests
            assert.strictEqual(request?.url, upstreamPaths[wire])
            assert.include(request?.body, "Hello there, how are you?")
            assert.notMatch(request?.body ?? "", /up\/m|max_tokens|"stream"|max_output_tokens/)
          })
        })
      )
    }
  }

  it.scopedLive("relays what it does not know, and the version the client's body was written for", () =>
    Effect.gen(function* () {
      const { gateway, upstream } = yield* setUp("messages")
      upstream.always(Fake.json({ input_tokens: 5, context_management: { original_input_tokens: 9 } }))
      yield* Effect.promise(async () => {
        const asked = {
          ...messages,
          brand_new: { a: 1 },
          thinking: { type: "enabled", budget_tokens: 2048 }
        }
        const response = await gateway.post("/v1/messages/count_tokens?beta=true", asked, {
          "anthropic-version": "2026-10-21",
          "anthropic-beta": "token-counting"
        })
        assert.deepStrictEqual(await response.json(), {
          input_tokens: 5,
          context_management: { original_input_tokens: 9 }
        })
        const [request] = upstream.requests
        assert.deepStrictEqual(JSON.parse(request?.body ?? ""), { ...asked, model: "m" })
        assert.strictEqual(request?.headers["anthropic-version"], "2026-10-21")
        assert.strictEqual(request?.headers["anthropic-beta"], "token-counting")
        assert.strictEqual(request?.headers["x-api-key"], "upstream-key-of-up")
      })
    })
  )
})

describe("the local count", () => {
  it.scopedLive("stands in for an upstream without one, which is not asked again and again", () =>
    Effect.gen(function* () {
      const { gateway, upstream } = yield* setUp("messages")
      upstream.always(Fake.json({ type: "error", error: { type: "not_found_error", message: "?" } }, { status: 404 }))
      yield* Effect.promise(async () => {
        for (let i = 0; i < 3; i += 1) {
          const response = await gateway.post("/v1/messages/count_tokens", messages)
          assert.strictEqual(source(response), "local")
          const tokens = await tokensOf(response, "input_tokens")
          assert.isAtLeast(tokens, 7)
          assert.isAtMost(tokens, 15)
        }
        assert.strictEqual(upstream.requests.length, 1)
      })
    })
  )

  const answers: Readonly<Record<string, Fake.Answer>> = {
    "an error": Fake.json({ error: { message: "overloaded" } }, { status: 529 }),
    "a bad key": Fake.json({ error: { message: "no" } }, { status: 401 }),
    "a refusal": Fake.json({ error: { message: "unknown field" } }, { status: 400 }),
    "a 200 that is no count": Fake.json({ id: "msg_1", content: [] }),
    "no JSON": Fake.text("<html>"),
    "a reset": Fake.resetBeforeHeaders(),
    "a flood": Fake.text("x".repeat(200_000))
  }
  for (const [name, answer] of Object.entries(answers)) {
    it.scopedLive(`stands in for ${name}`, () =>
      Effect.gen(function* () {
        const { gateway, upstream } = yield* setUp("messages")
        upstream.always(answer)
        yield* Effect.promise(async () => {
          const response = await gateway.post("/v1/messages/count_tokens", messages)
          assert.strictEqual(source(response), "local")
          assert.isAbove(await tokensOf(response, "input_tokens"), 0)
        })
      })
    )
  }

  it.scopedLive("is all there is for wires without the question; nothing is sent", () =>
    Effect.gen(function* () {
      const { gateway, upstream } = yield* setUp("chat")
      yield* Effect.promise(async () => {
        for (const client of counting) {
          const [path, body, field] = paths[client]
          const response = await gateway.post(path, body)
          assert.strictEqual(source(response), "local")
          assert.isAbove(await tokensOf(response, field), 0)
        }
        assert.strictEqual(upstream.requests.length, 0)
      })
    })
  )

  it.scopedLive("counts system, tools, tool calls and results", () =>
    Effect.gen(function* () {
      const { gateway } = yield* setUp("chat")
      yield* Effect.promise(async () => {
        const count = async (body: unknown) =>
          tokensOf(await gateway.post("/v1/messages/count_tokens", body), "input_tokens")
        const words = "word ".repeat(500)
        const bare = await count(messages)
        const system = await count({ ...messages, system: words })
        const tools = await count({
          ...messages,
          tools: [{ name: "t", description: words, input_schema: {} }]
        })
        const rounds = await count({
          ...messages,
          messages: [
            ...messages.messages,
            {
              role: "assistant",
              content: [{ type: "tool_use", id: "t1", name: "t", input: { words } }]
            },
            { role: "user", content: [{ type: "tool_result", tool_use_id: "t1", content: words }] }
          ]
        })
        assert.isAtLeast(system - bare, 500)
        assert.isAtLeast(tools - bare, 500)
        assert.isAtLeast(rounds - bare, 1_000)
      })
    })
  )

  it.scopedLive("answers for a model that is not served", () =>
    Effect.gen(function* () {
      const { gateway } = yield* setUp("chat")
      yield* Effect.promise(async () => {
        const response = await gateway.post("/v1/messages/count_tokens", {
          ...messages,
          model: "claude-of-tomorrow"
        })
        assert.strictEqual(source(response), "local")
        assert.isAbove(await tokensOf(response, "input_tokens"), 0)
      })
    })
  )
})

describe("around the count", () => {
  it.scopedLive("bad requests and barred models are refused in the client's wire; no usage is written", () =>
    Effect.gen(function* () {
      const { gateway, upstream } = yield* setUp("messages", {
        environment: new Map([["REQUIRE_API_KEY", "true"]])
      })
      upstream.always(Fake.json({ input_tokens: 77 }))
      yield* Effect.promise(async () => {
        const { secret } = await gateway.manage("POST", "/api/keys", {
          name: "k",
          allowedModels: ["up/other"]
        })
        const headers = { "x-api-key": secret }
        const barred = await gateway.post("/v1/messages/count_tokens", messages, headers)
        assert.strictEqual(barred.status, 400)
        assert.include(await barred.text(), '"type":"error"')
        const bad = await gateway.post("/v1/messages/count_tokens", { model: "up/other", messages: "x" }, headers)
        assert.strictEqual(bad.status, 400)
        const strange = await gateway.post("/v1/messages/count_tokens", messages)
        assert.strictEqual(strange.status, 401)
        const good = await gateway.post("/v1/messages/count_tokens", { ...messages, model: "up/other" }, headers)
        assert.strictEqual(await tokensOf(good, "input_tokens"), 77)
        assert.strictEqual(upstream.requests.length, 1)
        const { logs } = await gateway.manage("GET", "/api/usage/logs?limit=100")
        assert.isFalse(
          logs.some((row: { requestId: string }) => row.requestId === good.headers.get("x-gateway-request-id"))
        )
      })
    })
  )

  it.scopedLive("a client that leaves takes the upstream call with it", () =>
    Effect.gen(function* () {
      const { gateway, upstream } = yield* setUp("messages")
      upstream.always(Fake.hang())
      yield* Effect.promise(async () => {
        const controller = new AbortController()
        const asked = gateway.post("/v1/messages/count_tokens", messages, {}, controller.signal).catch(() => null)
        const request = await upstream.received(1)
        controller.abort()
        await asked
        await request.closed
      })
    })
  )

  it.scopedLive("Gemini's whole request inside the count is understood", () =>
    Effect.gen(function* () {
      const { gateway, upstream } = yield* setUp("gemini")
      upstream.always(Fake.json({ totalTokens: 12 }))
      yield* Effect.promise(async () => {
        const inner = {
          ...gemini,
          model: "models/elsewhere",
          systemInstruction: { parts: [{ text: "Be brief." }] }
        }
        const response = await gateway.post("/v1beta/models/up/m:countTokens", {
          generateContentRequest: inner
        })
        assert.strictEqual(await tokensOf(response, "totalTokens"), 12)
        assert.deepStrictEqual(JSON.parse(upstream.requests[0]?.body ?? ""), {
          generateContentRequest: { ...inner, model: "models/m" }
        })
      })
    })
  )
})
