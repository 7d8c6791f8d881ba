import { assert, describe, it } from "@effect/vitest"
import { unknownFacts } from "../../../src/plane/providers/ModelFacts.ts"
import { factsOfName } from "../../../src/plane/providers/ModelFamilies.ts"

const windows: ReadonlyArray<readonly [name: string, context: number | null, output: number | null]> = [
  ["gpt-4o-mini", 128_000, 16_384],
  ["openai/gpt-4.1-nano", 1_047_576, 32_768],
  ["gpt-5-mini-2025-08-07", 400_000, 128_000],
  ["o3-mini", 200_000, 100_000],
  ["claude-3-5-sonnet-20241022", 200_000, 8_192],
  ["us.anthropic.claude-3-7-sonnet-20250219-v1:0", 200_000, 64_000],
  ["claude-opus-4-20250514", 200_000, 32_000],
  ["claude-opus-4-1-20250805", 200_000, 32_000],
  ["claude-sonnet-4-5-20250929", 200_000, 64_000],
  ["anthropic/claude-opus-4.5", 200_000, 64_000],
  ["gemini-2.5-flash", 1_048_576, 65_536],
  ["grok-3-mini", 131_072, null],
  // How much of an open model is served is its host's choice.
  ["meta-llama/llama-3.3-70b-instruct", null, null],
  ["qwen3:8b", null, null]
]

const abilities: ReadonlyArray<readonly [name: string, vision: boolean | null, reasoning: boolean | null]> = [
  ["gpt-4o", true, false],
  ["gpt-3.5-turbo", false, false],
  ["o1-mini", false, true],
  ["gpt-5-chat-latest", true, false],
  ["gpt-oss-120b", false, true],
  ["claude-3-haiku-20240307", true, false],
  ["claude-sonnet-4-6", true, true],
  ["gemini-2.0-flash", true, false],
  ["gemini-3-pro-preview", true, true],
  ["gemma3:27b", true, false],
  ["gemma-3-1b-it", false, false],
  ["llama3.2-vision:11b", true, false],
  ["llama3.2:3b", false, false],
  ["llama-4-scout", true, false],
  ["deepseek-r1-distill-llama-70b", false, true],
  ["qwen2.5-vl-72b-instruct", true, null],
  ["grok-4-fast-non-reasoning", true, false],
  ["some-unheard-of-model", null, null],
  ["m", null, null]
]

describe("ModelFamilies", () => {
  it.each(windows)("knows the window of %s", (name, contextLength, maxOutputTokens) => {
    assert.deepInclude(factsOfName(name), { contextLength, maxOutputTokens })
  })

  it.each(abilities)("knows what %s can do", (name, vision, reasoning) => {
    assert.deepInclude(factsOfName(name), { vision, reasoning })
  })

  it("offers the no-thinking alias for Claude models that think and can be told not to", () => {
    const offered = (name: string) => factsOfName(name).noThinkingAlias
    for (const name of ["claude-3-7-sonnet-latest", "claude-sonnet-4-5", "claude-opus-4-8", "claude-sonnet-5"]) {
      assert.isTrue(offered(name), name)
    }
    for (const name of ["claude-3-5-haiku-latest", "claude-fable-5", "gpt-5", "gemini-2.5-pro"]) {
      assert.isNotTrue(offered(name), name)
    }
  })

  it("takes no model of another kind for one that converses", () => {
    assert.deepInclude(factsOfName("text-embedding-3-small"), { outputModalities: ["embedding"], toolCalling: false })
    assert.deepInclude(factsOfName("nomic-embed-text:latest"), { outputModalities: ["embedding"] })
    assert.deepInclude(factsOfName("gemini-2.5-flash-image"), { outputModalities: ["image"], contextLength: null })
    assert.deepInclude(factsOfName("gpt-4o-mini-tts"), { outputModalities: ["audio"], vision: false })
    assert.deepStrictEqual(factsOfName("gpt-4o-realtime-preview"), unknownFacts)
    assert.deepStrictEqual(factsOfName("x".repeat(100_000)), unknownFacts)
  })
})
