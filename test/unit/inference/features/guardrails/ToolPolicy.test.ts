import { assert, describe, it } from "@effect/vitest"
import type { WireName } from "../../../../../src/contract/domain/Wire.ts"
import { offerOf, ruleOf } from "../../../../../src/plane/features/guardrails/ToolPolicy.ts"
import type { JsonObject } from "../../../../../src/wire/json/Json.ts"

const deny = ruleOf({ mode: "deny", tools: ["delete_*", "web_search", "googleSearch"], action: "strip" })
const allow = ruleOf({ mode: "allow", tools: ["read_*"], action: "strip" })

const fn = (name: string): JsonObject => ({ type: "function", function: { name } })

const requests: Readonly<Record<WireName, { readonly body: JsonObject; readonly left: JsonObject }>> = {
  chat: {
    body: {
      model: "m",
      tools: [fn("read_file"), fn("delete_all"), { type: "custom", custom: { name: "delete_x" } }],
      tool_choice: "auto"
    },
    left: { model: "m", tools: [fn("read_file")] }
  },
  messages: {
    body: {
      tools: [{ name: "read_file" }, { type: "web_search_20250305", name: "web_search" }],
      tool_choice: { type: "any" }
    },
    left: { tools: [{ name: "read_file" }] }
  },
  responses: {
    body: {
      tools: [
        { type: "function", name: "read_file" },
        { type: "web_search" },
        { type: "namespace", name: "n", tools: [{ type: "function", name: "delete_all" }] }
      ]
    },
    left: { tools: [{ type: "function", name: "read_file" }] }
  },
  gemini: {
    body: {
      tools: [{ functionDeclarations: [{ name: "read_file" }, { name: "delete_all" }], googleSearch: {} }],
      toolConfig: { functionCallingConfig: { mode: "ANY", allowedFunctionNames: ["delete_all"] } }
    },
    left: { tools: [{ functionDeclarations: [{ name: "read_file" }] }] }
  },
  ollama: { body: { tools: [fn("read_file"), fn("delete_all")] }, left: { tools: [fn("read_file")] } }
}

describe("a policy for tools", () => {
  it("takes what may not be used out of a request of any wire, and the choice of a tool with it", () => {
    for (const [wire, { body, left }] of Object.entries(requests)) {
      const offer = offerOf(wire as WireName, body, deny)
      assert.deepStrictEqual(offer.body, left, wire)
      assert.deepStrictEqual([...offer.offered], ["read_file"], wire)
      assert.isAbove(offer.refused.length, 0, wire)
    }
  })

  it("leaves a request as it is whose tools may be used", () => {
    for (const [wire, { left }] of Object.entries(requests)) {
      assert.strictEqual(offerOf(wire as WireName, left, allow).body, left, wire)
      assert.strictEqual(offerOf(wire as WireName, left, null).body, left, wire)
    }
  })

  it("leaves no empty list of tools", () => {
    assert.deepStrictEqual(
      offerOf("chat", { model: "m", tools: [fn("delete_all")], functions: [{ name: "delete_b" }] }, deny).body,
      {
        model: "m"
      }
    )
  })

  it("has no rule where it is off, and matches long names in linear time", () => {
    assert.isNull(ruleOf({ mode: "off", tools: ["x"], action: "block" }))
    const hostile = ruleOf({ mode: "allow", tools: ["*a*a*a*a*a*a*a*a*a*a*a*a*b"], action: "block" })
    assert.isFalse(hostile?.("a".repeat(100_000)) ?? true)
  })

  it("takes what is no tool as it is", () => {
    for (const tools of [null, "x", {}, [null, 1, "x", []]]) {
      const body: JsonObject = { tools }
      assert.strictEqual(offerOf("chat", body, deny).body, body)
      assert.strictEqual(offerOf("gemini", body, deny).body, body)
    }
  })
})
