/** What a target is asked that goes on with another one's answer. */
import { assert, describe, it } from "@effect/vitest"
import { continuationOf, instruction, takesPrefill } from "../../../../../src/plane/features/recovery/Question.ts"
import { estimateTokens } from "../../../../../src/observe/usage/Cost.ts"
import type { Conversation, Message } from "../../../../../src/wire/canonical/Conversation.ts"

const user: Message = { role: "user", parts: [{ type: "text", text: "Tell me" }] }

const conversation = (messages: ReadonlyArray<Message>, maxOutputTokens: number | null = null): Conversation => ({
  wire: "chat",
  model: "m",
  stream: true,
  wantsUsage: true,
  messages,
  tools: [],
  toolChoice: null,
  parallelToolCalls: null,
  maxOutputTokens,
  candidates: 1,
  sampling: {},
  outputFormat: null,
  reasoning: { mode: "effort", effort: "high" },
  user: null,
  metadata: null,
  extras: {}
})

const said = (messages: ReadonlyArray<Message>): ReadonlyArray<readonly [string, string]> =>
  messages.map(({ parts, role }) => [role, parts.map((part) => (part.type === "text" ? part.text : "?")).join("|")])

describe("the question of a continuation", () => {
  it("ends with the answer's own words where they count as its begin", () => {
    const asked = continuationOf(conversation([user]), "Once upon", true)
    assert.deepStrictEqual(said(asked.messages), [
      ["user", "Tell me"],
      ["assistant", "Once upon"]
    ])
    assert.isNull(asked.reasoning)
  })

  it("asks for the rest in words elsewhere", () => {
    assert.deepStrictEqual(said(continuationOf(conversation([user]), "Once upon", false).messages).slice(1), [
      ["assistant", "Once upon"],
      ["user", instruction]
    ])
  })

  it("goes on with what the client itself had begun", () => {
    const begun: Message = { role: "assistant", parts: [{ type: "text", text: "Once" }] }
    assert.deepStrictEqual(said(continuationOf(conversation([user, begun]), " upon", true).messages), [
      ["user", "Tell me"],
      ["assistant", "Once upon"]
    ])
  })

  it("is the same question when no text was sent", () => {
    assert.deepStrictEqual(said(continuationOf(conversation([user]), "", false).messages), [["user", "Tell me"]])
  })

  it("leaves as much room as is left, and always some", () => {
    const sent = "x".repeat(40)
    assert.strictEqual(continuationOf(conversation([user], 100), sent, true).maxOutputTokens, 100 - estimateTokens(40))
    assert.strictEqual(continuationOf(conversation([user], 5), "x".repeat(400), true).maxOutputTokens, 1)
    assert.isNull(continuationOf(conversation([user]), "x", true).maxOutputTokens)
  })

  it("knows who takes a prefill", () => {
    assert.isTrue(takesPrefill("messages", "claude-sonnet-4-5"))
    assert.isTrue(takesPrefill("messages", "glm-4.6"))
    assert.isTrue(takesPrefill("gemini", "gemini-2.5-pro"))
    assert.isFalse(takesPrefill("messages", "claude-opus-4-6"))
    assert.isFalse(takesPrefill("chat", "gpt-4o"))
  })
})
