import { assert, describe, it } from "@effect/vitest"
import * as FC from "effect/FastCheck"
import type { JsonObject } from "../../../../src/wire/json/Json.ts"
import { anatomyOf } from "../../../../src/observe/inspector/reading/Anatomy.ts"
import { modelTraffic } from "../../../support/ModelTraffic.ts"

const sumOf = (numbers: ReadonlyArray<number>): number => numbers.reduce((sum, each) => sum + each, 0)

describe("the anatomy of a prompt", () => {
  it("has the sections in the order of the cache: tools, system, messages, parameters", () => {
    const { sections } = anatomyOf(
      {
        model: "claude-sonnet-4-5",
        messages: [{ role: "user", content: "Hi" }],
        system: [{ type: "text", text: "Be brief." }],
        max_tokens: 10,
        tools: [{ name: "weather" }, { name: "time" }]
      },
      0
    )
    assert.deepStrictEqual(
      sections.slice(0, 6).map(({ kind, name, path }) => [kind, path, name]),
      [
        ["tools", "tools[0]", "weather"],
        ["tools", "tools[1]", "time"],
        ["system", "system[0]", "text"],
        ["message", "messages[0]", "user"],
        ["parameters", "model", null],
        ["parameters", "max_tokens", null]
      ]
    )
  })

  it("takes system messages among the others for what they are", () => {
    const { sections } = anatomyOf(
      {
        messages: [
          { role: "user", content: "x" },
          { role: "system", content: "y" }
        ]
      },
      0
    )
    assert.deepStrictEqual(
      sections.slice(0, 2).map(({ kind, path }) => [kind, path]),
      [
        ["system", "messages[1]"],
        ["message", "messages[0]"]
      ]
    )
  })

  it("adds up to the bytes of the body, in every format", () => {
    for (const { apiKind, request } of modelTraffic) {
      for (const indent of [undefined, 2]) {
        const text = JSON.stringify(request, null, indent)
        const bytes = Buffer.byteLength(text)
        const { sections, totalTokens } = anatomyOf(JSON.parse(text), bytes)
        assert.strictEqual(sumOf(sections.map((each) => each.bytes)), bytes, apiKind)
        assert.strictEqual(sumOf(sections.map(({ tokens }) => tokens)), totalTokens, apiKind)
        assert.strictEqual(
          sections.some(({ name }) => name === "formatting"),
          indent !== undefined,
          apiKind
        )
      }
    }
  })

  it("adds up for any body", () => {
    const member = FC.constantFrom(
      "tools",
      "system",
      "messages",
      "contents",
      "input",
      "temperature",
      "größe",
      "instructions"
    )
    FC.assert(
      FC.property(FC.dictionary(member, FC.jsonValue()), (value) => {
        const text = JSON.stringify(value)
        const bytes = Buffer.byteLength(text)
        const { sections } = anatomyOf(JSON.parse(text) as JsonObject, bytes)
        assert.strictEqual(sumOf(sections.map((each) => each.bytes)), bytes)
        for (const each of sections) assert.isAbove(each.bytes, 0)
      }),
      { seed: 20_261_124, numRuns: 500 }
    )
  })

  it("counts inline pictures as pictures, not as text", () => {
    const picture = Buffer.alloc(300_000, 7).toString("base64")
    const content = [{ type: "image", source: { type: "base64", media_type: "image/png", data: picture } }]
    const { totalTokens } = anatomyOf({ messages: [{ role: "user", content }] }, 0)
    assert.isBelow(totalTokens, 10_000)
  })
})
