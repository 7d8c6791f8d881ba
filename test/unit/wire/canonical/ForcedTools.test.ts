import { assert, describe, it } from "@effect/vitest"
import * as Either from "effect/Either"
import { WireName } from "../../../../src/contract/domain/Wire.ts"
import { codecs, translateRequest } from "../../../../src/wire/Codec.ts"
import type { JsonObject } from "../../../../src/wire/json/Json.ts"
import { bodies } from "../fields/examples.ts"

const search = { type: "web_search_20250305", name: "web_search" }
const own = { name: "f", input_schema: { type: "object" } }
const hosted = { type: "web_search" }
const named = { type: "function", name: "f", parameters: { type: "object" } }
const chatNamed = { type: "function", function: { name: "f", parameters: { type: "object" } } }
const declared = { functionDeclarations: [{ name: "f" }] }
const any = { functionCallingConfig: { mode: "ANY" } }
const anyOf = (...names: ReadonlyArray<string>) => ({
  functionCallingConfig: { mode: "ANY", allowedFunctionNames: names }
})
const allowed = (mode: string, ...tools: ReadonlyArray<JsonObject>) => ({ type: "allowed_tools", mode, tools })

type Case = readonly [
  wire: WireName,
  name: string,
  tools: ReadonlyArray<JsonObject>,
  choice: JsonObject | string | null
]

const choiceOf = (wire: WireName, choice: Case[3]): JsonObject =>
  choice === null ? {} : { [wire === "gemini" ? "toolConfig" : "tool_choice"]: choice }

const forced: ReadonlyArray<Case> = [
  ["messages", "by its name", [search], { type: "tool", name: "web_search" }],
  ["messages", "by its name beside others", [search, own], { type: "tool", name: "web_search" }],
  ["messages", "because there is no other", [search], { type: "any" }],
  ["responses", "by its type", [hosted, named], { type: "web_search" }],
  ["responses", "because there is no other", [hosted], "required"],
  ["responses", "because no other is allowed", [hosted, named], allowed("required", hosted)],
  ["chat", "because there is no other", [{ type: "browser_search" }], "required"],
  [
    "chat",
    "by its type as a name",
    [{ type: "browser_search" }, chatNamed],
    { type: "function", function: { name: "browser_search" } }
  ],
  ["gemini", "because there is no other", [{ googleSearch: {} }], any]
]

const free: ReadonlyArray<Case> = [
  ["messages", "only offered", [search], null],
  ["messages", "left to the model", [search], { type: "auto" }],
  ["messages", "forbidden", [search], { type: "none" }],
  ["messages", "one of those that may be called", [search, own], { type: "any" }],
  ["messages", "not the one that is forced", [search, own], { type: "tool", name: "f" }],
  ["responses", "only offered", [hosted], "auto"],
  ["responses", "one of those that may be called", [hosted, named], "required"],
  ["responses", "one of those that are allowed", [hosted, named], allowed("required", hosted, named)],
  ["responses", "allowed and left to the model", [hosted, named], allowed("auto", hosted)],
  ["chat", "one of those that may be called", [{ type: "browser_search" }, chatNamed], "required"],
  ["gemini", "beside the function that is forced", [{ googleSearch: {} }, declared], anyOf("f")]
]

const translated = ([wire, , tools, choice]: Case, target: WireName) => {
  const body = bodies[wire]({ tools, ...choiceOf(wire, choice) })
  return translateRequest(codecs[wire], codecs[target], body, {
    model: "up",
    stream: false,
    maxOutputTokens: 64_000,
    reasoning: null
  })
}

const others = (wire: WireName) => WireName.literals.filter((target) => target !== wire)

describe("a tool that the provider runs", () => {
  for (const each of forced) {
    it(`${each[0]}: forced ${each[1]} is refused on every other wire, and names the field`, () => {
      for (const target of others(each[0])) {
        const result = translated(each, target)
        assert.isTrue(Either.isLeft(result), target)
        if (Either.isRight(result)) continue
        assert.strictEqual(result.left.param, each[0] === "gemini" ? "toolConfig" : "tool_choice")
        assert.match(result.left.message, /(?:web_search|browser_search|googleSearch)' is the provider's own/)
      }
      assert.isTrue(Either.isRight(translated(each, each[0])), "its own wire")
    })
  }

  for (const each of free) {
    it(`${each[0]}: ${each[1]} is left out and named`, () => {
      for (const target of others(each[0])) {
        const { dropped } = Either.getOrThrow(translated(each, target))
        assert.isTrue(
          dropped.some((name) => name.startsWith("tools.") || name === "tool_choice"),
          `${target} ${dropped.join()}`
        )
      }
    })
  }
})
