/** The policy for tools and the check of structured answers, through a whole gateway. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type { FlagKey } from "../../../../src/subjects/flags/FlagCatalog.ts"
import * as Fake from "../../../support/FakeUpstream.ts"
import * as TestGateway from "../../../support/TestGateway.ts"

const started = (settings: object, flags: Partial<Record<FlagKey, string>> = {}) =>
  Effect.gen(function* () {
    const environment = new Map(Object.entries({ TOOL_POLICY_MODE: "block", ...flags }))
    const gateway = yield* TestGateway.start({ environment })
    const upstream = yield* Fake.start
    yield* Effect.promise(async () => {
      await gateway.connect("up", upstream, "chat")
      await gateway.manage("PUT", "/api/settings/guardrails", settings)
    })
    return { gateway, upstream }
  })

const turns = [{ role: "user", content: "Do it" }]
const tool = (name: string) => ({ type: "function", function: { name, parameters: { type: "object" } } })
const called = (name: string) => ({ toolCalls: [{ id: "call_1", name, arguments: "{}" }] })

describe("the policy for tools", () => {
  it.scopedLive("refuses a request that offers a tool which it may not, before anything is asked", () =>
    Effect.gen(function* () {
      const { gateway, upstream } = yield* started({
        toolPolicy: { mode: "deny", tools: ["delete_*"], action: "block" }
      })
      yield* Effect.promise(async () => {
        const body = { model: "up/m", messages: turns, tools: [tool("read"), tool("delete_all")] }
        const response = await gateway.post("/v1/chat/completions", body)
        const { error } = (await response.json()) as { error: { code: string } }
        assert.deepStrictEqual([response.status, error.code], [400, "SECURITY_001"])
        assert.lengthOf(upstream.requests, 0)
      })
    })
  )

  it.scopedLive("marks such a tool with TOOL_POLICY_MODE=warn, and does nothing while it is disabled", () =>
    Effect.gen(function* () {
      for (const [mode, mark] of [
        ["warn", "tools=warn:1"],
        ["disabled", null]
      ] as const) {
        const { gateway, upstream } = yield* started(
          { toolPolicy: { mode: "deny", tools: ["delete_*"], action: "strip" } },
          { TOOL_POLICY_MODE: mode }
        )
        const tools = [tool("read"), tool("delete_all")]
        upstream.enqueue(Fake.json(Fake.chatCompletion(called("delete_all"))))
        yield* Effect.promise(async () => {
          const response = await gateway.post("/v1/chat/completions", { model: "up/m", messages: turns, tools })
          assert.strictEqual(response.status, 200)
          assert.strictEqual(response.headers.get("x-gateway-guardrail"), mark)
          assert.include(await response.text(), "delete_all")
          assert.deepStrictEqual(JSON.parse(upstream.requests[0]?.body ?? "").tools, tools)
        })
      }
    })
  )

  it.scopedLive("may be another one for a key, for which guardrails may be off", () =>
    Effect.gen(function* () {
      const { gateway, upstream } = yield* started({}, { PII_REDACTION_ENABLED: "true" })
      upstream.always(Fake.json(Fake.chatCompletion({ text: "Done" })))
      yield* Effect.promise(async () => {
        const made = async (name: string) => gateway.manage("POST", "/api/keys", { name })
        const one = await made("one")
        const other = await made("other")
        await gateway.manage("PUT", "/api/settings/guardrails", {
          keys: [
            {
              apiKeyId: one.key.id,
              disabledGuardrails: ["pii"],
              toolPolicy: { mode: "allow", tools: ["read"], action: "block" }
            },
            { apiKeyId: other.key.id, disabledGuardrails: [] }
          ]
        })
        const ask = (secret: string | null, name: string) =>
          gateway.post(
            "/v1/chat/completions",
            { model: "up/m", messages: [{ role: "user", content: "I am jane@example.com" }], tools: [tool(name)] },
            secret === null ? {} : { authorization: `Bearer ${secret}` }
          )
        assert.strictEqual((await ask(one.secret, "write")).status, 400)
        assert.lengthOf(upstream.requests, 0)
        assert.strictEqual((await ask(one.secret, "read")).status, 200)
        assert.include(upstream.requests[0]?.body, "jane@example.com")
        for (const secret of [other.secret, null]) {
          assert.strictEqual((await ask(secret, "write")).status, 200)
          assert.include(upstream.requests.at(-1)?.body, "[EMAIL_REDACTED]")
        }
      })
    })
  )

  it.scopedLive("takes the tool out where it may, and blocks its call all the same, whole and streamed", () =>
    Effect.gen(function* () {
      const { gateway, upstream } = yield* started({ toolPolicy: { mode: "allow", tools: ["read*"], action: "strip" } })
      const ask = (stream: boolean) =>
        gateway.post("/v1/chat/completions", {
          model: "up/m",
          stream,
          messages: turns,
          tools: [tool("read"), tool("delete_all")]
        })
      yield* Effect.promise(async () => {
        upstream.enqueue(Fake.json(Fake.chatCompletion(called("read"))))
        const fine = await ask(false)
        assert.strictEqual(fine.status, 200)
        assert.strictEqual(fine.headers.get("x-gateway-guardrail"), "tools=strip:1")
        assert.deepStrictEqual(JSON.parse(upstream.requests[0]?.body ?? "").tools, [tool("read")])
        for (const name of ["delete_all", "read_other"]) {
          upstream.enqueue(
            Fake.json(Fake.chatCompletion(called(name))),
            Fake.sse(Fake.chatStream([], called(name))),
            Fake.sse(Fake.chatStream(["Let me do that. ", "Now. "], called(name)))
          )
          const whole = await ask(false)
          assert.strictEqual(whole.status, 400, name)
          const text = await whole.text()
          assert.include(text, "SECURITY_002")
          assert.notInclude(text, name)
          const early = await ask(true)
          assert.strictEqual(early.status, 400, name)
          assert.notInclude(await early.text(), name)
          const late = await ask(true)
          assert.strictEqual(late.status, 200)
          const stream = await late.text()
          assert.include(stream, "Let me do that. ")
          assert.include(stream, "SECURITY_002")
          assert.notInclude(stream, name)
          assert.notInclude(stream, "[DONE]")
          const row = await gateway.usageRow(late.headers.get("x-gateway-request-id") ?? "")
          assert.deepInclude(row, { outcome: "failed", error: "SECURITY_002" })
        }
      })
    })
  )
})

describe("structured answers", () => {
  const schema = {
    type: "object",
    properties: { name: { type: "string" }, age: { type: "integer" } },
    required: ["name", "age"],
    additionalProperties: false
  }
  const body = {
    model: "up/m",
    messages: turns,
    response_format: { type: "json_schema", json_schema: { name: "person", schema } }
  }
  const usage = { in: 10, out: 5 }
  const right = '{"name":"Ann","age":7}'
  const wrong = '{"name":"Ann","age":"seven"}'
  const answered = (text: string): Fake.Answer => Fake.json(Fake.chatCompletion({ text, usage }))

  it.scopedLive("say whether they match", () =>
    Effect.gen(function* () {
      const { gateway, upstream } = yield* started({ structuredOutput: { check: true, repair: false } })
      yield* Effect.promise(async () => {
        for (const [text, outcome] of [
          [right, "schema=ok"],
          [wrong, "schema=failed"],
          ["no JSON", "schema=failed"]
        ] as const) {
          upstream.enqueue(answered(text))
          const response = await gateway.post("/v1/chat/completions", body)
          assert.strictEqual(response.headers.get("x-gateway-guardrail"), outcome)
          const answer = (await response.json()) as { choices: ReadonlyArray<{ message: { content: string } }> }
          assert.strictEqual(answer.choices[0]?.message.content, text)
        }
        upstream.enqueue(answered(right))
        const other = await gateway.post("/v1/chat/completions", { model: "up/m", messages: turns })
        assert.isNull(other.headers.get("x-gateway-guardrail"))
      })
    })
  )

  it.scopedLive("are asked for once more, on one bill", () =>
    Effect.gen(function* () {
      const { gateway, upstream } = yield* started({ structuredOutput: { check: true, repair: true } })
      yield* Effect.promise(async () => {
        upstream.enqueue(answered(wrong), answered(right))
        const response = await gateway.post("/v1/chat/completions", body)
        assert.strictEqual(response.headers.get("x-gateway-guardrail"), "schema=repaired")
        const answer = (await response.json()) as { choices: ReadonlyArray<{ message: { content: string } }> }
        assert.strictEqual(answer.choices[0]?.message.content, right)
        const again = JSON.parse(upstream.requests[1]?.body ?? "{}")
        assert.deepStrictEqual(again.messages.slice(0, 1), turns)
        assert.deepStrictEqual(again.messages[1], { role: "assistant", content: wrong })
        assert.include(JSON.stringify(again.messages[2]), ".age must be integer")
        assert.deepStrictEqual(again.response_format, body.response_format)
        const row = await gateway.usageRow(response.headers.get("x-gateway-request-id") ?? "")
        assert.deepInclude(row, { outcome: "completed", attempts: 2 })
        assert.deepStrictEqual([row.tokens.in, row.tokens.out], [20, 10])
      })
    })
  )

  it.scopedLive("are given as they first came where the second is wrong, too, or is none", () =>
    Effect.gen(function* () {
      const { gateway, upstream } = yield* started({ structuredOutput: { check: true, repair: true } })
      yield* Effect.promise(async () => {
        for (const second of [answered("still wrong"), Fake.json({ error: { message: "no" } }, { status: 400 })]) {
          upstream.enqueue(answered(wrong), second)
          const response = await gateway.post("/v1/chat/completions", body)
          assert.strictEqual(response.status, 200)
          assert.strictEqual(response.headers.get("x-gateway-guardrail"), "schema=failed")
          assert.include(await response.text(), "seven")
        }
      })
    })
  )

  it.scopedLive("that are streamed go out as they come, and are not asked for again", () =>
    Effect.gen(function* () {
      const { gateway, upstream } = yield* started({ structuredOutput: { check: true, repair: true } })
      yield* Effect.promise(async () => {
        upstream.enqueue(Fake.sse(Fake.chatStream([wrong])))
        const response = await gateway.post("/v1/chat/completions", { ...body, stream: true })
        assert.strictEqual(response.status, 200)
        assert.isNull(response.headers.get("x-gateway-guardrail"))
        const text = await response.text()
        assert.include(text, "seven")
        assert.include(text, "[DONE]")
        assert.lengthOf(upstream.requests, 1)
      })
    })
  )

  it.scopedLive("of the other wires are checked by their own fields", () =>
    Effect.gen(function* () {
      const { gateway, upstream } = yield* started({ structuredOutput: { check: true, repair: false } })
      const requests: Readonly<Record<string, object>> = {
        "/v1/messages": {
          model: "up/m",
          max_tokens: 50,
          messages: turns,
          output_config: { format: { type: "json_schema", schema } }
        },
        "/v1/responses": {
          model: "up/m",
          input: "Do it",
          text: { format: { type: "json_schema", name: "p", schema } }
        },
        "/v1beta/models/up/m:generateContent": {
          contents: [{ role: "user", parts: [{ text: "Do it" }] }],
          generationConfig: {
            responseMimeType: "application/json",
            responseSchema: {
              type: "OBJECT",
              properties: { name: { type: "STRING" }, age: { type: "INTEGER" } },
              required: ["name", "age"]
            }
          }
        },
        "/api/chat": { model: "up/m", stream: false, messages: turns, format: schema }
      }
      yield* Effect.promise(async () => {
        for (const [path, request] of Object.entries(requests)) {
          for (const [text, outcome] of [
            [right, "schema=ok"],
            [wrong, "schema=failed"]
          ] as const) {
            upstream.enqueue(answered(text))
            const response = await gateway.post(path, request)
            assert.strictEqual(response.status, 200, await response.clone().text())
            assert.strictEqual(response.headers.get("x-gateway-guardrail"), outcome, path)
          }
        }
      })
    })
  )
})
