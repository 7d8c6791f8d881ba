/** Members of foreign files that are of another kind than their program takes. */
import { assert, describe, it } from "@effect/vitest"
import { litellmShape, omniRouteShape, shapeProblems } from "../../../../src/subjects/declared/imports/Shapes.ts"
import type { Json } from "../../../../src/subjects/declared/Values.ts"

describe("a configuration of LiteLLM is refused where", () => {
  const cases: ReadonlyArray<readonly [string, Json, string]> = [
    ["it is a text", "model_list", "The file must be an object"],
    ["model_list is an object", { model_list: { a: 1 } }, "model_list: must be a list"],
    ["model_list is a text", { model_list: "a" }, "model_list: must be a list"],
    ["an entry is a text", { model_list: ["gpt-4o"] }, "model_list.0: must be an object"],
    ["a name is a number", { model_list: [{ model_name: 4 }] }, "model_list.0.model_name: must be a text"],
    [
      "parameters are a list",
      { model_list: [{ litellm_params: [] }] },
      "model_list.0.litellm_params: must be an object"
    ],
    [
      "a model is a list",
      { model_list: [{ litellm_params: { model: [] } }] },
      "model_list.0.litellm_params.model: must be a text"
    ],
    [
      "a weight is a word",
      { model_list: [{ litellm_params: { weight: "much" } }] },
      "model_list.0.litellm_params.weight: must be a number"
    ],
    ["router_settings is a list", { router_settings: [] }, "router_settings: must be an object"],
    ["fallbacks is an object", { router_settings: { fallbacks: {} } }, "router_settings.fallbacks: must be a list"],
    [
      "a fallback is a text",
      { litellm_settings: { fallbacks: [{ a: "b" }] } },
      "litellm_settings.fallbacks.0.a: must be a list"
    ],
    [
      "an alias is a list",
      { router_settings: { model_group_alias: { a: [] } } },
      "router_settings.model_group_alias.a: must be an object"
    ]
  ]
  for (const [what, given, problem] of cases) {
    it(`${what}`, () => assert.deepStrictEqual(shapeProblems(given, litellmShape), [problem]))
  }
})

describe("what is right or not known", () => {
  it("is no problem", () => {
    const given: Json = {
      model_list: [{ model_name: "a", litellm_params: { model: "openai/a", rpm: "10", other: [1] }, model_info: {} }],
      router_settings: { fallbacks: [{ a: ["b"] }], model_group_alias: { x: "a", y: { model: "a" } } },
      other: 3
    }
    assert.deepStrictEqual(shapeProblems(given, litellmShape), [])
    assert.deepStrictEqual(shapeProblems({ model_list: null }, litellmShape), [])
  })

  it("is bounded in what is told", () => {
    const given: Json = { model_list: Array.from({ length: 1_000 }, () => 1) }
    assert.lengthOf(shapeProblems(given, litellmShape), 20)
  })

  it("is told of OmniRoute's records too", () => {
    const shape = omniRouteShape(["combos"], ["pricing"])
    assert.deepStrictEqual(shapeProblems({ combos: {}, pricing: [] }, shape), [
      "combos: must be a list",
      "pricing: must be an object"
    ])
  })
})
