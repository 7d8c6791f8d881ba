import { assert, describe, it } from "@effect/vitest"
import { unknownFacts } from "../../../src/plane/providers/ModelFacts.ts"
import { maxModels, nextPage, readModelList, readShown } from "../../../src/plane/providers/ModelListing.ts"

const one = (entry: unknown) => {
  const [model] = readModelList({ data: [entry] }) ?? []
  return model ?? assert.fail("nothing was read")
}

describe("ModelListing", () => {
  it("reads a list of the kind with architecture and supported parameters", () => {
    const model = one({
      id: "maker/model",
      name: "Maker: Model",
      context_length: 131_072,
      architecture: { input_modalities: ["text", "image", "smell"], output_modalities: ["text"] },
      top_provider: { context_length: 1, max_completion_tokens: 8192 },
      supported_parameters: ["tools", "temperature", "structured_outputs"]
    })
    assert.deepInclude(model, {
      id: "maker/model",
      name: "Maker: Model",
      contextLength: 131_072,
      maxOutputTokens: 8192,
      inputModalities: ["text", "image"],
      outputModalities: ["text"],
      vision: true,
      toolCalling: true,
      structuredOutput: true,
      reasoning: false
    })
    assert.deepInclude(one({ id: "m", architecture: { modality: "text->text" } }), {
      vision: false,
      inputModalities: ["text"]
    })
  })

  it("reads Google's list", () => {
    const [model] =
      readModelList({
        models: [
          {
            name: "models/gemini-2.5-pro",
            displayName: "Gemini 2.5 Pro",
            inputTokenLimit: 1_048_576,
            outputTokenLimit: 65_536,
            thinking: true
          }
        ]
      }) ?? []
    assert.deepInclude(model, {
      id: "gemini-2.5-pro",
      name: "Gemini 2.5 Pro",
      contextLength: 1_048_576,
      maxOutputTokens: 65_536,
      reasoning: true,
      vision: null
    })
  })

  it("reads Anthropic's list, where max_tokens means the answer", () => {
    const model = one({
      type: "model",
      id: "claude-x",
      display_name: "Claude X",
      max_input_tokens: 200_000,
      max_tokens: 64_000,
      capabilities: { image_input: { supported: true }, thinking: { supported: false }, structured_outputs: null }
    })
    assert.deepInclude(model, {
      contextLength: 200_000,
      maxOutputTokens: 64_000,
      vision: true,
      reasoning: false,
      structuredOutput: null
    })
    assert.isNull(one({ id: "other", max_tokens: 64_000 }).maxOutputTokens)
  })

  it("reads capabilities as flags, as words, and from another gateway of this kind", () => {
    assert.deepInclude(one({ id: "a", capabilities: { function_calling: true, vision: false } }), {
      toolCalling: true,
      vision: false,
      reasoning: null
    })
    assert.deepInclude(one({ id: "b", capabilities: ["completion", "tools", "thinking"] }), {
      toolCalling: true,
      reasoning: true,
      vision: false
    })
    assert.deepInclude(one({ id: "c", capabilities: { tool_calling: false, structured_output: true } }), {
      toolCalling: false,
      structuredOutput: true
    })
    assert.deepInclude(one({ id: "d", features: ["function-calling"] }), { toolCalling: true, reasoning: null })
  })

  it("guesses nothing", () => {
    assert.deepStrictEqual(one({ id: "plain", context_length: "many", capabilities: 3, architecture: "x" }), {
      ...unknownFacts,
      id: "plain"
    })
    assert.deepStrictEqual(one("just-a-name"), { ...unknownFacts, id: "just-a-name" })
    assert.isNull(readModelList({ error: "no" }))
    assert.deepStrictEqual(readModelList([{ object: "nameless" }, 7]), [])
  })

  it("reads no more of a list than its limits, however long it is", () => {
    let read = 0
    const entry = (id: string) => ({
      get id() {
        read += 1
        return id
      }
    })
    const long = Array.from({ length: 300_000 }, (_, index) => entry(`m${index}`))
    assert.strictEqual(readModelList({ data: long })?.length, maxModels)
    assert.isAtMost(read, 4 * maxModels)
    read = 0
    const twice = Array.from({ length: 300_000 }, () => entry("the-same"))
    assert.strictEqual(readModelList({ data: twice })?.length, 1)
    assert.isAtMost(read, 4 * 2 * maxModels)
    assert.deepStrictEqual(
      readModelList(["x".repeat(513), "y".repeat(512)])?.map(({ id }) => id.length),
      [512]
    )
    assert.strictEqual(one({ id: "m", name: "n".repeat(100_000) }).name?.length, 200)
    assert.isNull(one({ id: "m", supported_parameters: Array.from({ length: 500 }, () => "x") }).contextLength)
  })

  it("tells the next page of the wires that have pages", () => {
    assert.deepStrictEqual(nextPage({ models: [], nextPageToken: "t" }), { name: "pageToken", value: "t" })
    assert.deepStrictEqual(nextPage({ data: [], has_more: true, last_id: "m" }), { name: "after_id", value: "m" })
    assert.isNull(nextPage({ data: [], has_more: false, last_id: "m" }))
    assert.isNull(nextPage({ models: [], nextPageToken: "t".repeat(10_000) }))
  })

  it("reads what Ollama shows of a model", () => {
    const info = { "general.architecture": "qwen3", "qwen3.context_length": 40_960 }
    assert.deepInclude(readShown("m", { model_info: info, capabilities: ["completion", "thinking"] }), {
      id: "m",
      contextLength: 40_960,
      reasoning: true,
      vision: false,
      toolCalling: false
    })
    assert.strictEqual(readShown("m", { model_info: info, parameters: "stop x\nnum_ctx 4096" })?.contextLength, 4_096)
    assert.deepStrictEqual(readShown("m", { model_info: 7, parameters: ["num_ctx 1"] }), { ...unknownFacts, id: "m" })
    assert.isNull(readShown("m", "no object"))
  })
})
