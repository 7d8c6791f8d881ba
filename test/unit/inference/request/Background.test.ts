import { assert, describe, it } from "@effect/vitest"
import { isBackground } from "../../../../src/plane/request/Background.ts"
import { codecs } from "../../../../src/wire/Codec.ts"
import type { JsonObject } from "../../../../src/wire/json/Json.ts"
import type { WireName } from "../../../../src/contract/domain/Wire.ts"

const judged = (wire: WireName, body: JsonObject, headers = {}, hasTools = false): boolean =>
  isBackground(headers, hasTools, () => codecs[wire].decodeRequest({ model: "m", ...body }))

const user = (content: string) => ({ role: "user", content })
const title = "Generate a concise,  sentence-case\ntitle (3-7 words) for this session."

describe("what is asked in the background", () => {
  it("is told on every wire by how its instructions begin", () => {
    const messages = [user("Fix the tests")]
    assert.isTrue(judged("messages", { system: title, max_tokens: 9, messages }))
    assert.isTrue(judged("chat", { messages: [{ role: "system", content: title }, ...messages] }))
    assert.isTrue(judged("responses", { instructions: title, input: "Fix the tests" }))
    assert.isTrue(judged("ollama", { messages: [{ role: "system", content: title }, ...messages] }))
    const contents = [{ role: "user", parts: [{ text: "Fix the tests" }] }]
    assert.isTrue(judged("gemini", { systemInstruction: { parts: [{ text: title }] }, contents }))
  })

  it("is told by the user's last turn, and by Claude Code's question for quota", () => {
    const long = "Your task is to create a detailed summary of the conversation so far, paying close attention to …"
    assert.isTrue(judged("chat", { messages: [user("Hi"), { role: "assistant", content: "Hello" }, user(long)] }))
    assert.isFalse(judged("chat", { messages: [user(long), { role: "assistant", content: "…" }, user("Go on")] }))
    assert.isTrue(judged("messages", { max_tokens: 1, messages: [user("quota")] }))
    assert.isFalse(judged("messages", { max_tokens: 100, messages: [user("quota")] }))
  })

  it("is no request with tools, nor one that has the words elsewhere, nor an ordinary one", () => {
    const messages = [{ role: "system", content: title }, user("Fix the tests")]
    assert.isFalse(judged("chat", { messages }, {}, true))
    assert.isFalse(judged("chat", { messages: [user(`Why does it say: ${title}`)] }))
    assert.isFalse(judged("chat", { messages: [user("Write a title for my article about summaries")] }))
    assert.isFalse(judged("chat", { messages: "nothing that can be read" }))
  })

  it("is what its client says, before all else", () => {
    const messages = [user("Fix the tests")]
    assert.isTrue(judged("chat", { messages }, { "x-gateway-background": " TRUE" }, true))
    const marked = [{ role: "system", content: title }, ...messages]
    assert.isFalse(judged("chat", { messages: marked }, { "x-gateway-background": "false" }))
    assert.isTrue(judged("chat", { messages: marked }, { "x-gateway-background": "perhaps" }))
  })
})
