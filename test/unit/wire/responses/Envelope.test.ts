import { assert, describe, it } from "@effect/vitest"
import * as Either from "effect/Either"
import { describe as describeError, InvalidRequest } from "../../../../src/contract/domain/Errors.ts"
import type { JsonObject } from "../../../../src/wire/json/Json.ts"
import { responses } from "../../../../src/wire/responses/Codec.ts"
import { item, user } from "./support.ts"

const check = (body: unknown) => responses.checkEnvelope(body)
const envelope = (body: JsonObject) => Either.getOrThrow(check(body))
const refused = (body: unknown) => {
  const result = check(body)
  return Either.isLeft(result) ? result.left.param : null
}

describe("the envelope", () => {
  it("knows what routing needs", () => {
    assert.deepEqual(
      envelope({
        ...item({ role: "user", content: [{ type: "input_image", image_url: "u" }] }, user("x")),
        stream: true,
        tools: [{ type: "web_search" }],
        reasoning: { effort: "low" },
        text: { format: { type: "json_schema" } },
        max_output_tokens: 9
      }),
      {
        model: "m",
        stream: true,
        wantsUsage: true,
        messageCount: 2,
        hasTools: true,
        hasImages: true,
        needsRewrite: false,
        wantsReasoning: true,
        wantsSchema: true,
        maxOutputTokens: 9,
        candidates: 1
      }
    )
    assert.isTrue(
      envelope(item({ type: "function_call_output", call_id: "c", output: [{ type: "input_image" }] })).hasImages
    )
    assert.strictEqual(envelope({ model: "m", input: "x", reasoning: { effort: "none" } }).wantsReasoning, false)
  })

  it("asks for a rewrite where the gateway's own reasoning comes back", () => {
    assert.isTrue(envelope(item({ type: "reasoning", id: "rs_gw_1_0", summary: [] })).needsRewrite)
    assert.isFalse(envelope(item({ type: "reasoning", id: "rs_1", summary: [] })).needsRewrite)
  })

  it("refuses what no upstream could take", () => {
    assert.strictEqual(refused(5), "body")
    assert.strictEqual(refused({ input: "x" }), "model")
    assert.strictEqual(refused({ model: "m" }), "input")
    assert.strictEqual(refused({ model: "m", input: 5 }), "input")
    assert.strictEqual(refused({ model: "m", input: [5] }), "input[0]")
    assert.strictEqual(refused({ model: "m", input: [{}] }), "input[0].type")
    assert.strictEqual(refused({ model: "m", input: "x", tools: {} }), "tools")
    assert.strictEqual(refused({ model: "m", input: "x", max_output_tokens: 0 }), "max_output_tokens")
    assert.isNull(refused({ model: "m", previous_response_id: "r" }))
    assert.isNull(refused({ model: "m", input: [] }))
  })

  it("changes nothing but the model on the way to its own wire", () => {
    const raw = '{ "input" : "x\\u00e9", "model":"m", "unknown": 1.0 }'
    const parsed = JSON.parse(raw) as JsonObject
    const { body, hideUsage } = responses.relayRequest(Buffer.from(raw), parsed, "other", envelope(parsed))
    assert.strictEqual(body.toString(), raw.replace('"m"', '"other"'))
    assert.isFalse(hideUsage)
  })
})

describe("errors", () => {
  const view = describeError(
    new InvalidRequest({ message: "bad", param: "input", details: [{ field: "input", message: "bad" }] })
  )

  it("have the body of the contract", () => {
    assert.deepEqual(responses.renderError(view, "r1"), {
      error: {
        message: "bad",
        type: "invalid_request_error",
        code: "bad_request",
        param: "input",
        details: [{ field: "input", message: "bad" }],
        request_id: "r1"
      }
    })
  })

  it("are told inside a stream both ways clients read them", () => {
    const text = responses.renderStreamError(view, "r1")
    assert.match(text, /^event: error\ndata: \{.*\}\n\n$/)
    const event = JSON.parse(text.slice(text.indexOf("{")))
    assert.deepEqual([event.type, event.code, event.message, event.param], ["error", "bad_request", "bad", "input"])
    assert.strictEqual(event.error.message, "bad")
    assert.isTrue(Number.isInteger(event.sequence_number))
  })
})
