import { assert, describe, it } from "@effect/vitest"
import { noResult } from "../../../../src/wire/canonical/tools/CallResults.ts"
import type { JsonObject } from "../../../../src/wire/json/Json.ts"
import { chatBody, translate } from "../support.ts"
import { geminiBody, model, user } from "../gemini/support.ts"

const call = (name: string, more: JsonObject = {}): JsonObject => ({ functionCall: { name, args: {}, ...more } })
const result = (name: string, text: string, more: JsonObject = {}): JsonObject => ({
  functionResponse: { name, response: { output: text }, ...more }
})
const toChat = (...contents: ReadonlyArray<JsonObject>) => translate("gemini", "chat", geminiBody({ contents }))
const toMessages = (...contents: ReadonlyArray<JsonObject>) => translate("gemini", "messages", geminiBody({ contents }))

const said = (messages: unknown) =>
  (messages as ReadonlyArray<JsonObject>).map(({ content, role, tool_call_id, tool_calls }) =>
    tool_calls === undefined ? [role, tool_call_id ?? null, content] : [role, "calls"]
  )

describe("a history that Google takes", () => {
  it("may hold a call without a result: others are told that there is none", () => {
    const { body, mapped } = toChat(user({ text: "a" }), model(call("look", { id: "c" })), user({ text: "b" }))
    assert.deepEqual(said(body["messages"]), [
      ["user", null, "a"],
      ["assistant", "calls"],
      ["tool", "c", noResult],
      ["user", null, "b"]
    ])
    assert.deepEqual(mapped, ["contents.parts.functionResponse"])
  })

  it("may hold call, result and answer in one content of the model, which are told in their order", () => {
    const both = model(call("look", { id: "c" }), result("look", "sun", { id: "c" }), { text: "Sunny." })
    const { body } = toMessages(user({ text: "a" }), both, user({ text: "b" }))
    assert.deepEqual(body["messages"], [
      { role: "user", content: "a" },
      { role: "assistant", content: [{ type: "tool_use", id: "c", name: "look", input: {} }] },
      { role: "user", content: [{ type: "tool_result", tool_use_id: "c", content: "sun" }] },
      { role: "assistant", content: "Sunny." },
      { role: "user", content: "b" }
    ])
  })

  it("may hold a call whose arguments came in pieces", () => {
    const pieces = model(
      { functionCall: { id: "c", name: "look", willContinue: true }, thoughtSignature: "s" },
      { functionCall: { partialArgs: [{ jsonPath: "$.city", stringValue: "Par" }], willContinue: true } },
      { functionCall: { partialArgs: [{ jsonPath: "$.city", stringValue: "is" }] } },
      { functionCall: {} }
    )
    const { body } = toMessages(user({ text: "a" }), pieces, user(result("look", "sun", { id: "c" })))
    assert.deepEqual((body["messages"] as ReadonlyArray<JsonObject>)[1], {
      role: "assistant",
      content: [{ type: "tool_use", id: "c", name: "look", input: { city: "Paris" } }]
    })
  })

  it("may tell each result twice, with ids and without: it is sent on once", () => {
    for (const id of [{ id: "c" }, {}]) {
      const answered = user(result("look", "sun", id))
      const { body, dropped } = toMessages(user({ text: "a" }), model(call("look", id)), answered, answered)
      const [, , last, ...more] = body["messages"] as ReadonlyArray<JsonObject>
      assert.lengthOf(last?.["content"] as ReadonlyArray<JsonObject>, 1)
      assert.deepEqual([more, dropped], [[], []])
    }
    const other = toMessages(
      user({ text: "a" }),
      model(call("look", { id: "c" })),
      user(result("look", "sun", { id: "c" })),
      user(result("look", "rain", { id: "c" }))
    )
    assert.include(JSON.stringify(other.body["messages"]), "sun")
    assert.notInclude(JSON.stringify(other.body["messages"]), "rain")
    assert.deepEqual(other.dropped, ["contents.parts.functionResponse"])
  })
})

describe("calls and results of any client", () => {
  const calls = [{ id: "c", type: "function", function: { name: "look", arguments: "{}" } }]
  const turn = [
    { role: "assistant", content: null, tool_calls: calls },
    { role: "system", content: "Be exact." },
    { role: "tool", tool_call_id: "c", content: "sun" }
  ]

  it("stand together: what is between them follows", () => {
    const messages = [{ role: "user", content: "a" }, ...turn]
    const { input } = translate("chat", "responses", chatBody({ messages })).body
    const kinds = (input as ReadonlyArray<JsonObject>).map(({ role, type }) => role ?? type)
    assert.deepEqual(kinds, ["user", "function_call", "function_call_output", "system"])
  })

  it("may use an id again in a later turn", () => {
    const messages = [{ role: "user", content: "a" }, ...turn, { role: "user", content: "b" }, ...turn]
    const { body } = translate("chat", "messages", chatBody({ messages }))
    const results = (body["messages"] as ReadonlyArray<JsonObject>).flatMap(({ content }) =>
      Array.isArray(content) ? content.filter((block: JsonObject) => block["type"] === "tool_result") : []
    )
    assert.lengthOf(results, 2)
  })
})
