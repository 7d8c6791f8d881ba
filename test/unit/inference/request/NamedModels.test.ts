import { assert, describe, it } from "@effect/vitest"
import { mayRepeatModel, withOneModel } from "../../../../src/plane/request/NamedModels.ts"

const dropped = (body: Record<string, unknown>) =>
  withOneModel(JSON.parse(JSON.stringify({ model: "m", ...body }))).dropped

describe("withOneModel", () => {
  it("leaves the model of the body out where the path names it", () => {
    assert.deepStrictEqual(withOneModel({ model: "x", contents: [] }, true), {
      body: { contents: [] },
      dropped: ["model"]
    })
  })

  it.each<[Record<string, unknown>, ReadonlyArray<string>]>([
    [{ models: ["a", "b"], route: "fallback" }, ["models", "route"]],
    [{ fallbacks: ["a"], context_window_fallbacks: [] }, ["fallbacks", "context_window_fallbacks"]],
    [{ Model: "a", MODEL: "b", " model": "c" }, ["Model", "MODEL", " model"]],
    [{ plugins: [{ id: "auto-router", allowed_models: ["a"] }] }, ["plugins"]],
    [{ plugins: [{ id: "web" }] }, []],
    [{ extra_body: { a: [{ fallbackModel: "x" }] } }, ["extra_body"]],
    [{ tools: [{ type: "image_generation", model: "a" }, { type: "function" }] }, ["tools.model"]],
    [{ tools: [{ type: "function", function: { parameters: { properties: { model: {} } } } }] }, []],
    [
      { messages: [{ role: "user", content: "model", models: 1 }], modalities: ["text"], provider: { order: ["a"] } },
      []
    ]
  ])("%j leaves out %j", (body, expected) => assert.deepStrictEqual(dropped(body), expected))

  it("keeps the model and all else", () =>
    assert.deepStrictEqual(withOneModel({ model: "m", models: ["x"], temperature: 1 }).body, {
      model: "m",
      temperature: 1
    }))
})

describe("mayRepeatModel", () => {
  it.each([
    ['{"model":"a"}', false],
    ['{"model":"a","model":"b"}', true],
    ['{"mod\\u0065l":"a","model":"b"}', true],
    ["{}", false]
  ])("%s: %s", (text, expected) => assert.strictEqual(mayRepeatModel(Buffer.from(text)), expected))
})
