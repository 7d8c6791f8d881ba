/** What upstreams tell of their usage, as far as it can be true. */
import { assert, describe, it } from "@effect/vitest"
import { codecs } from "../../../src/wire/Codec.ts"
import { countOr, mergeUsage } from "../../../src/wire/canonical/Usage.ts"

const lies = [-1, 1e10, Number.NaN, Number.POSITIVE_INFINITY, "12", null, undefined]

const answers = (count: unknown) => ({
  chat: {
    choices: [{ index: 0, message: { content: "hi" }, finish_reason: "stop" }],
    usage: { prompt_tokens: count, completion_tokens: count }
  },
  messages: {
    type: "message",
    content: [{ type: "text", text: "hi" }],
    stop_reason: "end_turn",
    usage: { input_tokens: count, output_tokens: count }
  },
  responses: {
    status: "completed",
    output: [{ type: "message", content: [{ type: "output_text", text: "hi" }] }],
    usage: { input_tokens: count, output_tokens: count }
  },
  gemini: {
    candidates: [{ content: { parts: [{ text: "hi" }] }, finishReason: "STOP" }],
    usageMetadata: { promptTokenCount: count, candidatesTokenCount: count }
  },
  ollama: { message: { content: "hi" }, done: true, done_reason: "stop", prompt_eval_count: count, eval_count: count }
})

describe("usage counts", () => {
  it("no number of tokens is less than none, absurdly large or a text", () => {
    for (const lie of lies) assert.isNull(countOr(lie))
    assert.strictEqual(countOr(0), 0)
    assert.strictEqual(countOr(12.4), 12)
  })

  it("a report that tells nothing leaves the usage unknown", () => {
    assert.isNull(mergeUsage(null, {}))
    assert.strictEqual(mergeUsage(mergeUsage(null, { in: 3 }), {})?.in, 3)
  })

  for (const wire of ["chat", "messages", "responses", "gemini", "ollama"] as const) {
    it(`${wire}: a count that cannot be true is not taken`, () => {
      for (const lie of lies) assert.isNull(codecs[wire].readAnswer(answers(lie)[wire] as never).usage)
      assert.deepInclude(codecs[wire].readAnswer(answers(9)[wire] as never).usage, { in: 9, out: 9 })
    })
  }
})
