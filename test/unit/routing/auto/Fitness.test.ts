import { assert, describe, it } from "@effect/vitest"
import { fitsPattern, makeFitness, staticFitness } from "../../../../src/plane/routing/auto/Fitness.ts"
import { mergeOverrides } from "../../../../src/plane/routing/auto/Leaderboard.ts"
import { isFree, isPro, modelTierOf } from "../../../../src/plane/routing/auto/ModelTier.ts"
import { levelOf, recommendedTier, specificityOf } from "../../../../src/plane/routing/auto/Specificity.ts"
import { unknownFacts } from "../../../../src/plane/providers/ModelFacts.ts"
import { candidate } from "./support.ts"

const coding = (model: string, facts = {}) => staticFitness.fitness(model, { ...unknownFacts, ...facts }, "coding")

describe("Fitness", () => {
  it("matches wildcards", () => {
    const cases: ReadonlyArray<readonly [string, string, boolean]> = [
      ["o1*", "o1-preview", true],
      ["o1*", "proto1", false],
      ["*claude*sonnet*", "us.anthropic.claude-3-5-sonnet-v2", true],
      ["a*a", "a", false],
      ["a*a", "aa", true],
      ["*ab*b", "ab", false],
      ["*", "", true],
      ["gpt", "gpt", true],
      ["gpt", "gpt-4", false]
    ]
    for (const [pattern, name, fits] of cases)
      assert.strictEqual(fitsPattern(pattern, name), fits, `${pattern} ${name}`)
  })

  it("knows named models, the longer pattern first", () => {
    assert.strictEqual(coding("gpt-5-codex"), 0.98)
    assert.strictEqual(coding("anthropic/claude-3-5-sonnet"), 0.95)
    assert.strictEqual(coding("gpt-4o-2024-11-20"), 0.9)
    assert.strictEqual(coding("gpt-4o-mini"), 0.8)
    assert.strictEqual(coding("deepseek/deepseek-v3.2-exp"), 0.86)
    assert.strictEqual(coding("deepseek-v3"), 0.85)
    assert.strictEqual(coding("gemini-2.5-pro"), 0.92)
    assert.strictEqual(coding("meta-llama/llama-3.3-70b:free"), 0.72)
    assert.strictEqual(staticFitness.fitness("claude-opus-4", unknownFacts, "review"), 0.95)
    // Not listed for this task: the row of its class.
    assert.strictEqual(staticFitness.fitness("grok-4", unknownFacts, "review"), 0.84)
  })

  it("falls back to what the model can do, then to its name", () => {
    const wide = { contextLength: 200_000 }
    assert.strictEqual(coding("x", { reasoning: true, toolCalling: true, ...wide }), 0.92)
    assert.strictEqual(coding("x", { reasoning: true }), 0.85)
    assert.strictEqual(coding("x", { toolCalling: true, ...wide }), 0.85)
    assert.strictEqual(coding("x", { toolCalling: true }), 0.78)
    assert.strictEqual(coding("x", { toolCalling: false }), 0.65)
    assert.strictEqual(coding("x"), 0.5)
    assert.strictEqual(coding("star-coder"), 0.65)
    assert.strictEqual(coding("code-fast"), 0.65)
    assert.strictEqual(staticFitness.fitness("x-thinking", unknownFacts, "planning"), 0.6)
  })

  it("lets overrides win: those for one task first, also for the free offer of a model", () => {
    const table = makeFitness(
      mergeOverrides(
        [{ pattern: "gpt-4o*", task: "coding", fitness: 0.11 }],
        [
          { pattern: "GPT-4o*", task: "coding", fitness: 0.99 },
          { pattern: "gpt-4o*", task: null, fitness: 0.4 },
          { pattern: "broken*", task: null, fitness: 1.5 },
          { pattern: "x", task: "review", fitness: 0.7 }
        ]
      )
    )
    assert.strictEqual(table.fitness("openai/gpt-4o", unknownFacts, "coding"), 0.11)
    assert.strictEqual(table.fitness("openai/gpt-4o", unknownFacts, "review"), 0.4)
    assert.strictEqual(table.fitness("broken-1", unknownFacts, "review"), 0.5)
    assert.strictEqual(table.fitness("x-free", unknownFacts, "review"), 0.7)
    assert.strictEqual(table.fitness("x", unknownFacts, "coding"), 0.5)
  })
})

describe("ModelTier", () => {
  it("goes by account, price, provider, name", () => {
    const price = (inputUsd: number, outputUsd = inputUsd) => ({ price: { inputUsd, outputUsd } })
    assert.strictEqual(modelTierOf(candidate("a", price(0))), "free")
    assert.strictEqual(modelTierOf(candidate("a", price(0, 1))), "cheap")
    assert.strictEqual(modelTierOf(candidate("a", price(1))), "cheap")
    assert.strictEqual(modelTierOf(candidate("a", price(1.01))), "premium")
    assert.strictEqual(modelTierOf(candidate("a", { ...price(9), tier: "free" })), "free")
    assert.strictEqual(modelTierOf(candidate("a", { spec: { category: "free" } })), "free")
    // The class alone marks nothing as free.
    assert.strictEqual(modelTierOf(candidate("a", { spec: { class: "local" } })), null)
    assert.strictEqual(modelTierOf(candidate("a", { model: "v/m:free" })), "free")
    assert.strictEqual(modelTierOf(candidate("a", { model: "claude-haiku-4-5" })), "cheap")
    assert.strictEqual(modelTierOf(candidate("a", { tier: "ultra" })), "premium")
    assert.strictEqual(modelTierOf(candidate("a")), null)
  })

  it("takes only the known for free or premium", () => {
    assert.strictEqual(isFree(candidate("a")), false)
    assert.strictEqual(isPro(candidate("a")), false)
    assert.strictEqual(isPro(candidate("a", { tier: "pro", price: { inputUsd: 0.5, outputUsd: 1 } })), true)
    assert.strictEqual(isPro(candidate("a", { tier: "pro", price: { inputUsd: 0, outputUsd: 0 } })), false)
  })
})

describe("Specificity", () => {
  it("adds up bounded points", () => {
    const none = { taskType: "default", code: 0, math: 0, reasoning: 0, domain: 0 } as const
    assert.strictEqual(specificityOf({ signals: none, promptTokens: 10, toolCount: 0 }), 0)
    assert.strictEqual(specificityOf({ signals: none, promptTokens: 4_000, toolCount: 1 }), 6)
    const much = { taskType: "coding", code: 99, math: 99, reasoning: 99, domain: 99 } as const
    assert.strictEqual(specificityOf({ signals: much, promptTokens: 1e6, toolCount: 99 }), 100)
  })

  it("has levels with a tier each", () => {
    assert.deepStrictEqual([5, 20, 40, 65, 66].map(levelOf), ["trivial", "simple", "moderate", "complex", "expert"])
    assert.deepStrictEqual(
      [5, 20, 40, 65, 66].map((points) => recommendedTier(points, false)),
      ["free", "free", "cheap", "cheap", "premium"]
    )
    assert.strictEqual(recommendedTier(0, true), "cheap")
  })
})
