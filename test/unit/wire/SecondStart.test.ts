import { assert, describe, it } from "@effect/vitest"
import * as Either from "effect/Either"
import { codecs } from "../../../src/wire/Codec.ts"
import type { JsonObject } from "../../../src/wire/json/Json.ts"
import { messagesBody, sse, tapStream, translate, translateStream } from "./support.ts"

const start = (id: string): JsonObject => ({
  type: "message_start",
  message: {
    id,
    type: "message",
    role: "assistant",
    model: "m",
    content: [],
    usage: { input_tokens: 9, output_tokens: 1 }
  }
})
const begin: JsonObject = { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } }
const said = (text: string): JsonObject => ({
  type: "content_block_delta",
  index: 0,
  delta: { type: "text_delta", text }
})
const end: ReadonlyArray<JsonObject> = [
  { type: "content_block_stop", index: 0 },
  { type: "message_delta", delta: { stop_reason: "end_turn", stop_sequence: null }, usage: { output_tokens: 2 } },
  { type: "message_stop" }
]

describe("a second start in a messages stream", () => {
  it("before any content is left out", () => {
    const stream = sse(start("a"), start("a"), begin, said("Hello"), ...end)
    const tap = tapStream("messages", stream)
    assert.isNull(tap.facts.problem)
    assert.lengthOf(tap.text.match(/event: message_start/g) ?? [], 1)
    assert.isTrue(translateStream("chat", "messages", stream).facts.terminated)
  })

  it("after content is refused with its reason", () => {
    const stream = sse(start("a"), begin, said("Hel"), start("b"), begin, said("Hello"), ...end)
    for (const { facts, text } of [tapStream("messages", stream), translateStream("chat", "messages", stream)]) {
      assert.match(facts.problem?.message ?? "", /began another answer/)
      assert.notInclude(text, "Hello")
    }
  })

  it("behind the end of the first is another turn's, and not read", () => {
    const stream = sse(start("a"), begin, said("Hello"), ...end, start("b"), begin, said("Again"), ...end)
    const { facts, text } = translateStream("chat", "messages", stream)
    assert.isTrue(facts.terminated)
    assert.notInclude(text, "Again")
  })
})

describe("a thinking budget that is not below the output limit", () => {
  const body = messagesBody({ max_tokens: 8000, thinking: { type: "enabled", budget_tokens: 32_000 } })

  it("is mended on the way to a messages or gemini upstream", () => {
    assert.isTrue(Either.getOrThrow(codecs.messages.checkEnvelope(body)).budgetAboveLimit)
    assert.deepEqual(translate("messages", "messages", body, { reasoning: true }).body["thinking"], {
      type: "enabled",
      budget_tokens: 6400
    })
    const { generationConfig } = translate("messages", "gemini", body, { model: "gemini-2.5-pro" }).body
    assert.deepInclude((generationConfig as JsonObject)["thinkingConfig"], { thinkingBudget: 6400 })
  })
})
