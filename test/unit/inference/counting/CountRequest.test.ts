import { assert, describe, it } from "@effect/vitest"
import { capacity, makeCountMemory } from "../../../../src/plane/counting/CountMemory.ts"
import {
  asConversation,
  countBody,
  countHeaders,
  countingWire,
  countPath,
  readCount,
  renderCount
} from "../../../../src/plane/counting/CountRequest.ts"

describe("count requests", () => {
  it("the client's wire is asked where it can count, else the first that can", () => {
    assert.strictEqual(countingWire("gemini", ["messages", "gemini"]), "gemini")
    assert.strictEqual(countingWire("messages", ["chat", "responses"]), "responses")
    assert.strictEqual(countingWire("messages", ["gemini"]), "gemini")
    assert.isNull(countingWire("messages", ["chat", "ollama"]))
  })

  it("stands below the path of the conversation, before the query", () => {
    assert.strictEqual(countPath("messages", "/v1/messages"), "/v1/messages/count_tokens")
    assert.strictEqual(countPath("messages", "/p/v1/messages?beta=true"), "/p/v1/messages/count_tokens?beta=true")
    assert.strictEqual(countPath("responses", "/v1/responses"), "/v1/responses/input_tokens")
    assert.strictEqual(
      countPath("gemini", "/v1beta/models/a%3AgenerateContent:generateContent?x=1"),
      "/v1beta/models/a%3AgenerateContent:countTokens?x=1"
    )
    assert.isNull(countPath("messages", "/v1/invoke"))
    assert.isNull(countPath("gemini", "/v1/models/a:predict"))
  })

  it("takes out what is about the answer, and leaves what is not known", () => {
    const messages = [{ role: "user", content: "Hi" }]
    const body = { model: "x", messages, max_tokens: 1, stream: true, temperature: 1, thinking: {}, brand_new: 1 }
    assert.deepStrictEqual(countBody("messages", body, "claude"), {
      messages,
      thinking: {},
      brand_new: 1,
      model: "claude"
    })
    assert.deepStrictEqual(countBody("responses", { model: "x", input: "Hi", store: false, tools: [] }, "gpt"), {
      input: "Hi",
      tools: [],
      model: "gpt"
    })
  })

  it("a Gemini request goes whole into its envelope, bare contents stay bare", () => {
    const contents = [{ role: "user", parts: [{ text: "Hi" }] }]
    assert.deepStrictEqual(countBody("gemini", { model: "x", stream: false, contents }, "g"), { contents })
    assert.deepStrictEqual(countBody("gemini", { model: "x", contents, tools: [] }, "g"), {
      generateContentRequest: { model: "models/g", contents, tools: [] }
    })
  })

  it("a count is read as a conversation of its wire", () => {
    assert.deepStrictEqual(asConversation("messages", { model: "x" }), { model: "x", max_tokens: 1 })
    assert.deepStrictEqual(asConversation("messages", { max_tokens: 5 }), { max_tokens: 5 })
    assert.deepStrictEqual(
      asConversation("gemini", { model: "up/m", generateContentRequest: { model: "models/other", contents: [] } }),
      { model: "up/m", contents: [] }
    )
    assert.deepStrictEqual(asConversation("responses", { input: "Hi" }), { input: "Hi" })
  })

  it("only whole numbers of the right name are counts", () => {
    assert.strictEqual(readCount("messages", { input_tokens: 7 }), 7)
    assert.strictEqual(readCount("gemini", { totalTokens: 0 }), 0)
    assert.isNull(readCount("messages", { totalTokens: 7 }))
    assert.isNull(readCount("messages", { input_tokens: "7" }))
    assert.isNull(readCount("messages", { input_tokens: -1 }))
    assert.isNull(readCount("messages", { input_tokens: 1.5 }))
  })

  it("is told in the client's words", () => {
    assert.deepStrictEqual(renderCount("messages", 7), { input_tokens: 7 })
    assert.deepStrictEqual(renderCount("gemini", 7), { totalTokens: 7 })
    assert.deepStrictEqual(renderCount("responses", 7), { object: "response.input_tokens", input_tokens: 7 })
  })

  it("the client's version travels with its own body only, and its key never", () => {
    const endpoint = ["x-api-key", "k", "anthropic-version", "2023-06-01"]
    const client = { "anthropic-version": "2026-10-21", "anthropic-beta": "b", authorization: "Bearer secret" }
    const format = ["content-type", "application/json", "accept", "application/json"]
    assert.deepStrictEqual(countHeaders(endpoint, client, "messages", null), [
      "x-api-key",
      "k",
      "anthropic-version",
      "2026-10-21",
      "anthropic-beta",
      "b",
      ...format
    ])
    assert.deepStrictEqual(countHeaders(endpoint, client, null, null), [...endpoint, ...format])
  })
})

describe("what cannot count is remembered", () => {
  it("a missing route for ten minutes, trouble for half a minute, a bad request not at all", () => {
    const memory = makeCountMemory()
    memory.failed("route", 404, 1_000)
    memory.failed("trouble", 503, 1_000)
    memory.failed("silent", null, 1_000)
    memory.failed("request", 400, 1_000)
    const muteAt = (nowMs: number) =>
      ["route", "trouble", "silent", "request", "other"].filter((key) => memory.isMute(key, nowMs))
    assert.deepStrictEqual(muteAt(30_999), ["route", "trouble", "silent"])
    assert.deepStrictEqual(muteAt(31_000), ["route"])
    assert.deepStrictEqual(muteAt(601_000), [])
  })

  it("in a bounded number", () => {
    const memory = makeCountMemory()
    for (let i = 0; i <= capacity; i += 1) memory.failed(`k${i}`, 404, 0)
    assert.isFalse(memory.isMute("k0", 1))
    assert.isTrue(memory.isMute("k1", 1))
    assert.isTrue(memory.isMute(`k${capacity}`, 1))
  })
})
