/** An answer as it comes, and the line below it. */
import { assert, describe, it } from "@effect/vitest"
import { begun, next, problemOf, tokensOf } from "../../../../src/cli/commands/use/chat/Answer.ts"
import { summaryLine, tokensPerSecond } from "../../../../src/cli/commands/use/chat/Summary.ts"
import type { ChatEvent } from "../../../../src/cli/gateway/ChatStream.ts"

const chunk = (value: unknown): ChatEvent => ({ _tag: "Chunk", chunk: value })
const delta = (value: object, finish: string | null = null): ChatEvent =>
  chunk({ choices: [{ index: 0, delta: value, finish_reason: finish }] })
const done: ChatEvent = { _tag: "Done" }
const after = (...events: ReadonlyArray<ChatEvent>) => events.reduce(next, begun)

describe("an answer", () => {
  it("is whole with a finish reason and an end", () => {
    const usage = { prompt_tokens: 7, completion_tokens: 3 }
    const answer = after(
      delta({ role: "assistant", content: "" }),
      delta({ reasoning_content: "hm" }),
      delta({ content: "Hel" }),
      delta({ content: "lo" }),
      delta({}, "stop"),
      chunk({ choices: [], usage }),
      done
    )
    assert.deepInclude(answer, { text: "Hello", isThinking: true, finishReason: "stop", usage, isDone: true })
    assert.isNull(problemOf(answer))
    assert.deepStrictEqual(tokensOf(answer), { in: 7, out: 3 })
  })

  it.each([
    ["the end of the connection before a finish reason", [delta({ content: "x" })], "broke off"],
    ["an end without a finish reason", [delta({ content: "x" }), done], "broke off"],
    ["a connection that broke", [delta({ content: "x" }), { _tag: "Broken" }], "broke off"],
    ["an error event", [delta({ content: "x" }), chunk({ error: { message: "it broke" } })], "it broke"],
    ["an error that is a text", [chunk({ error: "gone" })], "gone"],
    ["an error without words", [chunk({ error: { code: 1 } })], "ended with an error"],
    [
      "a refusal",
      [delta({ refusal: "I can" }), delta({ refusal: "not" }, "stop"), done],
      "refused to answer: I cannot"
    ],
    ["a filter", [delta({}, "content_filter"), done], "content filter"]
  ] as ReadonlyArray<readonly [string, ReadonlyArray<ChatEvent>, string]>)("is none after %s", (_, events, words) => {
    assert.include(problemOf(after(...events)) ?? "", words)
  })

  it("does not go on after its end or an error", () => {
    assert.strictEqual(after(delta({ content: "a" }, "stop"), done, delta({ content: "b" })).text, "a")
    const failed = after(chunk({ error: { message: "it broke" } }), delta({ content: "b" }), done)
    assert.deepInclude(failed, { text: "", error: "it broke", isDone: false })
  })

  it("counts what is no text", () => {
    assert.strictEqual(after(delta({ images: [{ image_url: { url: "x" } }] })).others, 1)
  })

  it("takes nothing from what has another form", () => {
    for (const odd of [
      null,
      3,
      "x",
      [],
      { choices: 1 },
      { choices: [null] },
      { choices: [{ delta: 4 }] },
      { usage: 5 }
    ]) {
      assert.deepInclude(after(chunk(odd)), { text: "", error: null, usage: null })
    }
  })
})

describe("the line below an answer", () => {
  const facts = { tokens: { in: 1_200, out: 100 }, streamedMs: 2_000, costUsd: 0.00105, served: "openai/gpt-4o" }

  it("has tokens, their rate, the cost and who answered", () => {
    assert.strictEqual(summaryLine(facts), "1,200 in, 100 out · 50.0 tokens/s · 0.00105 USD · openai/gpt-4o")
  })

  it("leaves out what is not known, and says when the cost is not", () => {
    assert.strictEqual(summaryLine({ tokens: null, streamedMs: 0, costUsd: null, served: null }), "cost unknown")
    assert.isNull(tokensPerSecond({ ...facts, streamedMs: 0 }))
    assert.isNull(tokensPerSecond({ ...facts, tokens: { in: 5, out: 1 } }))
  })
})
