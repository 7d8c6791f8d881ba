/** Links of earlier answers, where a target has no place for them. */
import { assert, describe, it } from "@effect/vitest"
import * as Either from "effect/Either"
import { codecs, translateRequest } from "../../../../src/wire/Codec.ts"
import type { WireName } from "../../../../src/contract/domain/Wire.ts"
import type { JsonObject } from "../../../../src/wire/json/Json.ts"

const options = { model: "up", stream: false, maxOutputTokens: 64_000, reasoning: null }

const cited = (text: string, ...urls: ReadonlyArray<string>): JsonObject => ({
  type: "text",
  text,
  citations: urls.map((url) => ({
    type: "web_search_result_location",
    url,
    title: "T",
    cited_text: "",
    encrypted_index: "e"
  }))
})

const asked = (...content: ReadonlyArray<JsonObject>): JsonObject => ({
  model: "m",
  max_tokens: 99,
  messages: [
    { role: "user", content: "Hi" },
    { role: "assistant", content },
    { role: "user", content: "And?" }
  ]
})

const sent = (target: WireName, ...content: ReadonlyArray<JsonObject>) =>
  Either.getOrThrow(translateRequest(codecs.messages, codecs[target], asked(...content), options))

describe("links of an earlier answer", () => {
  it("stand behind the text, each once, where the message does not say them", () => {
    for (const target of ["chat", "gemini", "ollama"] as const) {
      const { body, dropped, mapped } = sent(
        target,
        cited("One.", "https://a.test/", "https://a.test/"),
        cited("See https://b.test/.", "https://b.test/", "https://a.test/")
      )
      const text = JSON.stringify(body)
      assert.lengthOf(text.split("https://a.test/"), 2)
      assert.lengthOf(text.split("https://b.test/"), 2)
      assert.include(text, "T: https://a.test/")
      assert.include(mapped, "messages.content.citations")
      assert.deepEqual(dropped, [])
    }
  })

  it("are annotations where the target takes them back", () => {
    const { body, mapped } = sent("responses", cited("One.", "https://a.test/"))
    assert.include(JSON.stringify(body), '"annotations":[{"type":"url_citation","url":"https://a.test/","title":"T"')
    assert.deepEqual(mapped, [])
  })

  it("are told of many texts in time", () => {
    const content = Array.from({ length: 20_000 }, (_, index) => cited("word ".repeat(20), `https://a.test/${index}`))
    const begun = performance.now()
    const { body } = sent("chat", ...content)
    assert.include(JSON.stringify(body), "https://a.test/19999")
    assert.isBelow(performance.now() - begun, 4_000)
  })

  it("of answers are told of many texts in time, too", () => {
    const content = Array.from({ length: 20_000 }, (_, index) => cited("wörd ".repeat(20), `https://a.test/${index}`))
    const answer = { id: "x", type: "message", model: "m", content, stop_reason: "end_turn", usage: {} }
    const begun = performance.now()
    const response = Either.getOrThrow(codecs.messages.decodeResponse(answer))
    for (const wire of ["chat", "responses", "gemini"] as const) {
      const text = JSON.stringify(
        codecs[wire].encodeResponse(response, { nowMs: 1, fallbackId: "f", model: "m", wantsUsage: true })
      )
      assert.include(text, "https://a.test/19999")
    }
    assert.isBelow(performance.now() - begun, 6_000)
  })
})
