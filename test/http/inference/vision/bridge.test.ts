/** Pictures for models that take none, through a whole gateway and on every wire. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type { WireName } from "../../../../src/contract/domain/Wire.ts"
import * as Fake from "../../../support/FakeUpstream.ts"
import * as TestGateway from "../../../support/TestGateway.ts"
import { answerOf } from "../turns/Upstreams.ts"

/** A picture of one pixel, and others that only differ in their last bytes. */
const pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
const picture = (number: number): string =>
  Buffer.concat([Buffer.from(pixel, "base64"), Buffer.of(number)]).toString("base64")
const url = (number: number): string => `data:image/png;base64,${picture(number)}`

const wires = ["chat", "messages", "responses", "gemini", "ollama"] as const

const paths: Readonly<Record<WireName, string>> = {
  chat: "/v1/chat/completions",
  messages: "/v1/messages",
  responses: "/v1/responses",
  gemini: "/v1beta/models/up/m:generateContent",
  ollama: "/api/chat"
}

const source = (number: number) => ({ type: "base64", media_type: "image/png", data: picture(number) })

/** A picture of the user, one in the result of a tool where the wire has that, and words around both. */
const bodies: Readonly<Record<WireName, object>> = {
  chat: {
    model: "up/m",
    messages: [
      {
        role: "user",
        content: [
          { type: "text", text: "Before" },
          { type: "image_url", image_url: { url: url(1), detail: "low" } },
          { type: "text", text: "After" }
        ]
      },
      { role: "assistant", content: "Yes" },
      { role: "user", content: [{ type: "image_url", image_url: { url: url(2) } }] }
    ]
  },
  messages: {
    model: "up/m",
    max_tokens: 50,
    messages: [
      {
        role: "user",
        content: [
          { type: "text", text: "Before" },
          { type: "image", source: source(1), cache_control: { type: "ephemeral" } },
          { type: "text", text: "After" }
        ]
      },
      { role: "assistant", content: [{ type: "tool_use", id: "call_1", name: "look", input: {} }] },
      {
        role: "user",
        content: [{ type: "tool_result", tool_use_id: "call_1", content: [{ type: "image", source: source(2) }] }]
      }
    ]
  },
  responses: {
    model: "up/m",
    input: [
      {
        type: "message",
        role: "user",
        content: [
          { type: "input_text", text: "Before" },
          { type: "input_image", image_url: url(1), detail: "auto" },
          { type: "input_text", text: "After" }
        ]
      },
      { type: "function_call", call_id: "call_1", name: "look", arguments: "{}" },
      { type: "function_call_output", call_id: "call_1", output: [{ type: "input_image", image_url: url(2) }] }
    ]
  },
  gemini: {
    contents: [
      {
        role: "user",
        parts: [
          { text: "Before" },
          { inlineData: { mimeType: "image/png", data: picture(1) } },
          { inline_data: { mime_type: "image/png", data: picture(2) } },
          { text: "After" }
        ]
      }
    ]
  },
  ollama: {
    model: "up/m",
    stream: false,
    messages: [{ role: "user", content: "Before and After", images: [picture(1), picture(2)] }]
  }
}

const described = (text: string): Fake.Answer => Fake.json(Fake.chatCompletion({ text, usage: { in: 20, out: 8 } }))

const setUp = (wire: WireName, visionBridge: object = {}, flags: Readonly<Record<string, string>> = {}) =>
  Effect.gen(function* () {
    const gateway = yield* TestGateway.start({ environment: new Map(Object.entries(flags)) })
    const upstream = yield* Fake.start
    const eye = yield* Fake.start
    upstream.always(answerOf(wire, 0, false))
    yield* Effect.promise(async () => {
      await gateway.connect("up", upstream, wire)
      await gateway.connect("eye", eye, "chat")
      const capabilities = { vision: false }
      await gateway.manage("POST", "/api/provider-models", { provider: "up", modelId: "m", capabilities })
      const settings = { enabled: true, model: "eye/m", ...visionBridge }
      await gateway.manage("PATCH", "/api/settings", { visionBridge: settings })
    })
    const ask = async (body: object = bodies[wire], headers: Readonly<Record<string, string>> = {}) => {
      const before = upstream.requests.length
      const response = await gateway.post(paths[wire], body, headers)
      return {
        status: response.status,
        text: await response.text(),
        mark: response.headers.get("x-gateway-vision-bridge"),
        guardrail: response.headers.get("x-gateway-guardrail"),
        sent: upstream.requests[before]?.body ?? ""
      }
    }
    return { ask, eye, gateway, upstream }
  })

describe("the vision bridge", () => {
  for (const wire of wires) {
    it.scopedLive(`${wire}: puts what pictures show in their places, and asks about each of them once`, () =>
      Effect.gen(function* () {
        const { ask, eye } = yield* setUp(wire)
        eye.enqueue(described("A red square."), described("A blue circle."))
        yield* Effect.promise(async () => {
          const first = await ask()
          assert.strictEqual(first.status, 200, first.text)
          assert.strictEqual(first.mark, "2")
          assert.match(first.sent, /Before.*\[Image 1\]: .*\[Image 2\]: /s)
          assert.include(first.sent, "After")
          for (const text of ["A red square.", "A blue circle."]) assert.include(first.sent, text)
          for (const number of [1, 2]) assert.notInclude(first.sent, picture(number))
          assert.notMatch(first.sent, /"image|inline_?data|"images"/i)
          if (wire === "messages") assert.include(first.sent, "ephemeral")
          const asked = eye.requests.map(({ body }) => JSON.parse(body).messages[0].content[1].image_url.url)
          assert.deepStrictEqual(asked.toSorted(), [url(1), url(2)])
          const again = await ask()
          assert.strictEqual(again.sent, first.sent, "what a provider has cached stays valid")
          assert.lengthOf(eye.requests, 2)
        })
      })
    )
  }

  it.scopedLive("makes its requests in the caller's name: rows, money, and models that the key may use", () =>
    Effect.gen(function* () {
      const { ask, eye, gateway } = yield* setUp("chat")
      eye.always(described("A red square."))
      yield* Effect.promise(async () => {
        const keyFor = async (name: string, allowedModels: ReadonlyArray<string> | null) =>
          gateway.manage("POST", "/api/keys", { name, allowedModels })
        const may = await keyFor("may", null)
        const all = await ask(bodies.chat, { authorization: `Bearer ${may.secret}` })
        assert.strictEqual(all.mark, "2", all.text)
        const { logs } = await gateway.manage("GET", "/api/usage/logs?limit=100")
        const rows = logs.filter((row: { readonly provider: string | null }) => row.provider === "eye")
        assert.lengthOf(rows, 2)
        for (const row of rows) {
          assert.strictEqual(
            row.apiKeyId,
            logs.find((each: { readonly provider: string }) => each.provider === "up").apiKeyId
          )
          assert.deepInclude(row.tokens, { in: 20, out: 8 })
        }
        const mayNot = await keyFor("may-not", ["up/*"])
        const none = await ask(bodies.chat, { authorization: `Bearer ${mayNot.secret}` })
        assert.strictEqual(none.status, 200, none.text)
        assert.strictEqual(none.mark, "0; failed=2", "another key's descriptions are not shown")
        assert.lengthOf(eye.requests, 2)
      })
    })
  )

  it.scopedLive("goes on without a description that fails, and asks for it again in the next request", () =>
    Effect.gen(function* () {
      const { ask, eye } = yield* setUp("chat")
      eye.always(Fake.json({ error: { message: "no", type: "invalid_request_error" } }, { status: 400 }))
      yield* Effect.promise(async () => {
        const failed = await ask()
        assert.strictEqual(failed.status, 200, failed.text)
        assert.strictEqual(failed.mark, "0; failed=2")
        assert.include(failed.sent, "[Image 1: no description is available]")
        eye.always(described("A red square."))
        const fine = await ask()
        assert.strictEqual(fine.mark, "2")
        assert.include(fine.sent, "[Image 1]: A red square.")
      })
    })
  )

  it.scopedLive("describes as many new pictures as may be, the last ones, and those that it knows besides", () =>
    Effect.gen(function* () {
      const { ask, eye } = yield* setUp("chat", { maxImages: 1 })
      eye.enqueue(described("The second."), described("The first."))
      yield* Effect.promise(async () => {
        const one = await ask()
        assert.strictEqual(one.mark, "1; failed=1")
        assert.include(one.sent, "[Image 1: no description is available]")
        assert.include(one.sent, "[Image 2]: The second.")
        const two = await ask()
        assert.strictEqual(two.mark, "2")
        assert.include(two.sent, "[Image 1]: The first.")
        assert.lengthOf(eye.requests, 2)
      })
    })
  )

  it.scopedLive("leaves pictures to models that may take them, and all of them while it is off", () =>
    Effect.gen(function* () {
      const { ask, eye, gateway } = yield* setUp("chat")
      yield* Effect.promise(async () => {
        const passes = async (why: string) => {
          const { mark, sent, status, text } = await ask()
          assert.deepStrictEqual([status, mark], [200, null], why + text)
          assert.include(sent, picture(1), why)
        }
        await gateway.manage("PATCH", "/api/settings", { visionBridge: { enabled: false } })
        await passes("off")
        await gateway.manage("PATCH", "/api/settings", { visionBridge: { enabled: true, model: null } })
        await passes("no model")
        await gateway.manage("PATCH", "/api/settings", { visionBridge: { model: "eye/m" } })
        const model = { provider: "up", modelId: "m", capabilities: { vision: true } }
        await gateway.manage("PATCH", "/api/provider-models", model)
        await passes("takes pictures")
        assert.lengthOf(eye.requests, 0)
      })
    })
  )

  it.scopedLive("lets the guardrails see what pictures say, and is switched off by keys that may", () =>
    Effect.gen(function* () {
      const { ask, eye, gateway } = yield* setUp("chat", {}, { PII_REDACTION_ENABLED: "true" })
      eye.always(described("A card of ann@example.com."))
      yield* Effect.promise(async () => {
        const { guardrail, mark, sent } = await ask()
        assert.deepStrictEqual([mark, guardrail], ["2", "pii=redact:2"])
        assert.include(sent, "[Image 1]: A card of [EMAIL_REDACTED].")
        const made = await gateway.manage("POST", "/api/keys", { name: "k", scopes: ["guardrails:bypass"] })
        const off = { "x-gateway-disabled-guardrails": "vision-bridge" }
        assert.strictEqual((await ask(bodies.chat, off)).mark, "2", "without the scope the header has no effect")
        const passed = await ask(bodies.chat, { ...off, authorization: `Bearer ${made.secret}` })
        assert.isNull(passed.mark)
        assert.include(passed.sent, picture(1))
      })
    })
  )
})
