import { assert, describe, it } from "@effect/vitest"
import * as Either from "effect/Either"
import * as Schema from "effect/Schema"
import { describe as view, InvalidRequest, LimitReached } from "../../../../src/contract/domain/Errors.ts"
import { gemini } from "../../../../src/wire/gemini/Codec.ts"
import { GeminiRequest } from "../../../../src/wire/gemini/Schema.ts"
import type { JsonObject } from "../../../../src/wire/json/Json.ts"
import { geminiBody, model, user } from "./support.ts"

const refusedField = (body: unknown): string | null | undefined =>
  Either.match(gemini.checkEnvelope(body), { onLeft: (error) => error.param, onRight: () => undefined })

describe("checkEnvelope", () => {
  it("names the field that is wrong, as the schema of the document does", () => {
    const wrong: ReadonlyArray<readonly [field: string, more: JsonObject]> = [
      ["contents", { contents: 5 }],
      ["contents", { contents: [] }],
      ["contents[0]", { contents: ["x"] }],
      ["contents[0].parts", { contents: [{ role: "user", parts: "x" }] }],
      ["tools", { tools: 1 }],
      ["generationConfig.temperature", { generationConfig: { temperature: "hot" } }],
      ["generationConfig.maxOutputTokens", { generationConfig: { maxOutputTokens: 0 } }]
    ]
    for (const [field, more] of wrong) {
      assert.strictEqual(refusedField(geminiBody(more)), field)
      assert.isFalse(Schema.is(GeminiRequest)(geminiBody(more)), field)
    }
    assert.strictEqual(refusedField([1]), "body")
    assert.strictEqual(refusedField(geminiBody({ model: "" })), "model")
    assert.isTrue(Schema.is(GeminiRequest)(geminiBody({ extra: 1 })))
  })

  it("reads what routing needs, in both spellings", () => {
    const envelope = gemini.checkEnvelope(
      geminiBody({
        stream: true,
        contents: [user({ inline_data: { mime_type: "image/png", data: "A" } })],
        tools: [{ functionDeclarations: [] }],
        generation_config: {
          max_output_tokens: 9,
          candidate_count: 2,
          response_schema: { type: "OBJECT" },
          thinking_config: { include_thoughts: true }
        }
      })
    )
    assert.deepEqual(Either.getOrThrow(envelope), {
      model: "m",
      stream: true,
      wantsUsage: true,
      messageCount: 1,
      hasTools: true,
      hasImages: true,
      wantsReasoning: true,
      wantsSchema: true,
      maxOutputTokens: 9,
      candidates: 2,
      needsRewrite: false
    })
  })

  it("signs the steps of calls that are not signed, of all turns, for models that mind, and nothing else", () => {
    const call = (more: JsonObject = {}) => model({ functionCall: { name: "f" }, ...more })
    const result = user({ functionResponse: { name: "f", response: {} } })
    const own = { tools: [{ function_declarations: [{ name: "f", parameters: { type: "object" } }] }] }
    const sent = (contents: ReadonlyArray<JsonObject>, name: string) => {
      const raw = Buffer.from(JSON.stringify({ ...own, contents }))
      const parsed = { ...own, contents, model: "alias", stream: false }
      const envelope = Either.getOrThrow(gemini.checkEnvelope(parsed))
      assert.isFalse(envelope.needsRewrite)
      const { body } = gemini.relayRequest(raw, parsed, name, envelope)
      return body === raw ? "untouched" : (JSON.parse(body.toString()) as JsonObject)
    }
    const pardoned = call({ thoughtSignature: "skip_thought_signature_validator" })
    const turns = [user({ text: "a" }), call(), result, model({ text: "b" }), user({ text: "c" })]
    const signed = [user({ text: "a" }), pardoned, result, model({ text: "b" }), user({ text: "c" })]
    assert.deepStrictEqual(sent(turns.slice(0, 3), "gemini-3-pro"), { ...own, contents: signed.slice(0, 3) })
    assert.deepStrictEqual(sent(turns, "gemini-3-pro"), { ...own, contents: signed })
    assert.strictEqual(sent(turns, "gemini-2.5-flash"), "untouched")
    assert.strictEqual(
      sent([user({ text: "a" }), call({ thoughtSignature: "s" }), result], "gemini-3-pro"),
      "untouched"
    )
    assert.strictEqual(
      sent([user({ text: "a" }), call({ thought_signature: "s" }), result], "gemini-3-pro"),
      "untouched"
    )
  })

  it("relays the bytes untouched", () => {
    const raw = Buffer.from('{ "contents": [{"parts":[{"text":"a"}]}], "contents_x":1 }')
    const parsed = { ...(JSON.parse(raw.toString()) as JsonObject), model: "m" }
    const relay = gemini.relayRequest(raw, parsed, "up", Either.getOrThrow(gemini.checkEnvelope(parsed)))
    assert.strictEqual(relay.body, raw)
    assert.isFalse(relay.hideUsage)
  })
})

describe("errors", () => {
  it("have a numeric code, a status and typed details", () => {
    const invalid = new InvalidRequest({
      message: "contents: bad",
      param: "contents",
      details: [{ field: "contents", message: "bad" }]
    })
    assert.deepEqual(gemini.renderError(view(invalid), "q1"), {
      error: {
        code: 400,
        message: "contents: bad",
        status: "INVALID_ARGUMENT",
        details: [
          {
            "@type": "type.googleapis.com/google.rpc.BadRequest",
            fieldViolations: [{ field: "contents", description: "bad" }]
          }
        ],
        request_id: "q1"
      }
    })
    const limit = gemini.renderError(view(new LimitReached({ message: "wait", retryAfterMs: 1500 })), "q2")["error"]
    assert.deepInclude(limit, {
      code: 429,
      status: "RESOURCE_EXHAUSTED",
      details: [{ "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay: "2s" }]
    })
  })

  it("name the status of every class", () => {
    const base = view(new LimitReached({ message: "m", retryAfterMs: 0 }))
    const names = [400, 401, 403, 404, 413, 429, 500, 502, 503, 504].map(
      (status) => (gemini.renderError({ ...base, status }, "q")["error"] as JsonObject)["status"]
    )
    assert.deepEqual(names, [
      "INVALID_ARGUMENT",
      "UNAUTHENTICATED",
      "PERMISSION_DENIED",
      "NOT_FOUND",
      "INVALID_ARGUMENT",
      "RESOURCE_EXHAUSTED",
      "INTERNAL",
      "UNAVAILABLE",
      "UNAVAILABLE",
      "DEADLINE_EXCEEDED"
    ])
  })

  it("end a stream so that readers of events and of bare text both see them", () => {
    const text = gemini.renderStreamError(view(new LimitReached({ message: "wait", retryAfterMs: 0 })), "q")
    const [event, rest] = text.split("\n\n")
    assert.strictEqual(event, `data: ${rest}`)
    assert.deepInclude(JSON.parse(rest ?? "")["error"], { code: 429, message: "wait" })
  })

  it("are read from an upstream, alone or in a list", () => {
    const error = { error: { code: 429, message: "slow down", status: "RESOURCE_EXHAUSTED" } }
    const problem = { status: 429, message: "slow down", type: "RESOURCE_EXHAUSTED", code: "429" }
    assert.deepInclude(gemini.readUpstreamError(429, JSON.stringify(error)), problem)
    assert.deepInclude(gemini.readUpstreamError(429, JSON.stringify([error])), problem)
  })
})
