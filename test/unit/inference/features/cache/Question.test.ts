import { assert, describe, it } from "@effect/vitest"
import type { WireName } from "../../../../../src/contract/domain/Wire.ts"
import { questionOf } from "../../../../../src/plane/features/cache/Question.ts"
import type { JsonObject } from "../../../../../src/wire/json/Json.ts"

const asked = (wire: WireName, body: JsonObject) => questionOf(wire, body, 100)

const user = (content: unknown) => ({ role: "user", content }) as JsonObject
const gemini = (...parts: ReadonlyArray<JsonObject>): JsonObject => ({
  contents: [{ role: "user", parts: [...parts] }]
})

describe("the question of a request", () => {
  it("is the text of the last turn of every wire, and the rest is all else", () => {
    const turns = [user("Hi"), { role: "assistant", content: "Hello" }, user("How?")]
    assert.deepStrictEqual(asked("chat", { model: "m", messages: turns }), {
      text: "How?",
      rest: { model: "m", messages: [...turns.slice(0, 2), { role: "user" }] }
    })
    assert.strictEqual(asked("messages", { messages: [user([{ type: "text", text: "How?" }])] })?.text, "How?")
    assert.strictEqual(asked("responses", { input: "How?" })?.text, "How?")
    assert.strictEqual(asked("responses", { input: [user([{ type: "input_text", text: "How?" }])] })?.text, "How?")
    assert.strictEqual(asked("gemini", gemini({ text: "How?" }))?.text, "How?")
    assert.strictEqual(asked("ollama", { messages: [user("How?")] })?.text, "How?")
  })

  it("is none with tools, pictures, other media, results, or nothing said", () => {
    const chat = (...messages: ReadonlyArray<JsonObject>): JsonObject => ({ messages: [...messages] })
    const cases: ReadonlyArray<readonly [WireName, JsonObject]> = [
      ["chat", { ...chat(user("How?")), tools: [{ type: "function", function: { name: "f" } }] }],
      ["chat", { ...chat(user("How?")), functions: [{ name: "f" }] }],
      ["gemini", { ...gemini({ text: "How?" }), tools: [{ google_search: {} }] }],
      [
        "chat",
        chat(
          user([
            { type: "text", text: "How?" },
            { type: "image_url", image_url: { url: "x" } }
          ])
        )
      ],
      ["chat", chat(user([{ type: "image_url", image_url: { url: "x" } }]), user("How?"))],
      [
        "messages",
        chat(
          user([
            { type: "document", source: {} },
            { type: "text", text: "How?" }
          ])
        )
      ],
      ["gemini", gemini({ text: "How?" }, { inlineData: { mimeType: "image/png", data: "" } })],
      ["ollama", chat({ ...user("How?"), images: ["x"] })],
      ["chat", chat(user("How?"), { role: "tool", tool_call_id: "1", content: "4" }, user("And?"))],
      ["responses", { input: [user("How?"), { type: "function_call_output", call_id: "1", output: "4" }] }],
      ["responses", { input: [{ type: "item_reference", id: "1" }, user("How?")] }],
      ["chat", chat(user("How?"), { role: "assistant", content: "So" })],
      ["chat", chat(user("   "))],
      ["chat", chat(user("x".repeat(101)))],
      ["chat", chat()],
      ["chat", {}]
    ]
    for (const [wire, body] of cases) assert.isNull(asked(wire, body), JSON.stringify(body))
  })

  it("has the same rest for the same question in other words only", () => {
    const rest = (body: JsonObject) => JSON.stringify(asked("chat", body)?.rest)
    const body = { model: "m", temperature: 0, messages: [user("Be kind"), user("How?")] }
    assert.strictEqual(rest(body), rest({ ...body, messages: [user("Be kind"), user("In which way?")] }))
    assert.notStrictEqual(rest(body), rest({ ...body, messages: [user("Be rude"), user("How?")] }))
    assert.notStrictEqual(rest(body), rest({ ...body, temperature: 1 }))
    assert.notStrictEqual(rest(body), rest({ ...body, messages: [user("Be kind"), { ...user("How?"), name: "Ann" }] }))
  })
})
