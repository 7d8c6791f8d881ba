/** Small things that have no place of their own: they are put elsewhere, or named. */
import { assert, describe, it } from "@effect/vitest"
import type { JsonObject } from "../../../src/wire/json/Json.ts"
import { chatBody, translate } from "./support.ts"

const schema = { type: "object", properties: { a: { type: "string" } }, required: ["a"], additionalProperties: false }

describe("what is said beside an answer's schema", () => {
  const asked = (own: JsonObject = {}): JsonObject =>
    chatBody({
      response_format: {
        type: "json_schema",
        json_schema: { name: "n", description: "What it is", schema: { ...schema, ...own } }
      }
    })

  it("stands in the schema where the wire has no place beside it", () => {
    for (const wire of ["messages", "gemini"] as const) {
      const { body, dropped, mapped } = translate("chat", wire, asked(), { maxOutputTokens: 100 })
      assert.include(JSON.stringify(body), '"description":"What it is"', wire)
      assert.deepStrictEqual(dropped, [], wire)
      assert.deepStrictEqual(mapped, ["response_format"], wire)
    }
  })

  it("gives way to what the schema says itself, and stays where it has its place", () => {
    const { body } = translate("chat", "messages", asked({ description: "Its own" }), { maxOutputTokens: 100 })
    assert.include(JSON.stringify(body), '"description":"Its own"')
    assert.notInclude(JSON.stringify(body), "What it is")
    const { body: responses, mapped } = translate("chat", "responses", asked())
    assert.include(JSON.stringify(responses), "What it is")
    assert.deepStrictEqual(mapped, [])
  })
})

describe("members of thinkingConfig that are not known", () => {
  it("are named where the wire has none of them", () => {
    const request = {
      model: "m",
      contents: [{ role: "user", parts: [{ text: "Hi" }] }],
      generationConfig: { thinkingConfig: { thinkingBudget: 1_024, style: "brief" } }
    }
    for (const wire of ["chat", "messages", "responses", "ollama"] as const) {
      const { dropped } = translate("gemini", wire, request, { maxOutputTokens: 9_000, reasoning: true })
      assert.deepStrictEqual(dropped, ["generationConfig.thinkingConfig.style"], wire)
    }
    const own = translate("gemini", "gemini", request, { reasoning: true })
    assert.deepStrictEqual(own.dropped, [])
  })
})
