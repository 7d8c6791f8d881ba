import { assert, describe, it } from "@effect/vitest"
import { familiesOf } from "../../../src/agents/tools/config/Families.ts"
import { codex } from "../../../src/agents/tools/config/tools/Codex.ts"
import { placesOf, type ToolModel } from "../../../src/agents/tools/config/ToolSetup.ts"

const model = (id: string): ToolModel => ({
  id,
  contextLength: null,
  maxOutputTokens: null,
  vision: null,
  reasoning: null,
  price: null
})

describe("families of models", () => {
  it("are the lines of their makers, whoever serves them", () => {
    const ids = [
      "openai/gpt-5",
      "openrouter/openai/gpt-oss-120b",
      "openai/o3",
      "anthropic/claude-sonnet-4-5",
      "bedrock/us.anthropic.claude-opus-4",
      "groq/deepseek-r1-distill-llama-70b",
      "acme/house-model",
      "../evil/x",
      "my-combo",
      "auto"
    ]
    assert.deepStrictEqual(
      familiesOf(ids.map(model)).map(([name, models]) => [name, models.map(({ id }) => id)]),
      [
        ["gpt", ["openai/gpt-5", "openai/o3"]],
        ["gpt-oss", ["openrouter/openai/gpt-oss-120b"]],
        ["claude", ["anthropic/claude-sonnet-4-5", "bedrock/us.anthropic.claude-opus-4"]],
        ["llama", ["groq/deepseek-r1-distill-llama-70b"]],
        ["acme", ["acme/house-model"]]
      ]
    )
  })

  it("have a file each that Codex lays over its own", () => {
    const models = [model("openai/gpt-5"), model("openai/gpt-5-codex"), model("google/gemini-3-pro")]
    const gateway = { origin: "http://g", apiKey: "gw_k", models, model: model("auto"), small: model("auto") }
    const { files } = codex.plan(
      placesOf("/people/ada", new Map(), () => false),
      gateway
    )
    assert.deepStrictEqual(
      files.map(({ edits, path }) => [path, edits.find(({ path: [name] }) => name === "model")?.value]),
      [
        ["/people/ada/.codex/config.toml", "auto"],
        ["/people/ada/.codex/gpt.config.toml", "openai/gpt-5-codex"],
        ["/people/ada/.codex/gemini.config.toml", "google/gemini-3-pro"]
      ]
    )
  })
})
