import { assert, describe, it } from "@effect/vitest"
import * as Either from "effect/Either"
import { readPrices } from "../../../src/usage/PriceRows.ts"

const read = (value: unknown) => Either.getOrThrow(readPrices(JSON.stringify(value)))

describe("readPrices", () => {
  it("reads this gateway's own form, and leaves out what is no price", () => {
    const found = read({
      openai: { "gpt-x": { input: 1, output: 2, cached: 0.5 }, bad: { input: -1, output: 2 }, worse: "free" },
      huge: { m: { input: 1e300, output: 1 } },
      nothing: 3
    })
    assert.deepStrictEqual(found.table, { openai: { "gpt-x": { input: 1, output: 2, cached: 0.5 } } })
    assert.strictEqual(found.leftOut, 4)
  })

  it("reads LiteLLM's list, whose prices are per token", () => {
    const found = read({
      sample_spec: { input_cost_per_token: 0 },
      "gpt-4o": {
        litellm_provider: "openai",
        input_cost_per_token: 2.5e-6,
        output_cost_per_token: 1e-5,
        cache_read_input_token_cost: 1.25e-6,
        max_tokens: 16_384
      },
      "groq/llama-3.1-8b-instant": {
        litellm_provider: "groq",
        input_cost_per_token: 5e-8,
        output_cost_per_token: 8e-8
      },
      "text-embedding": { litellm_provider: "openai", input_cost_per_token: "1" }
    })
    assert.deepStrictEqual(found.table, {
      openai: { "gpt-4o": { input: 2.5, output: 10, cached: 1.25 } },
      groq: { "llama-3.1-8b-instant": { input: 0.05, output: 0.08 } }
    })
  })

  it("says what is wrong with a text that has no prices", () => {
    for (const [text, reason] of [
      ["<html>", "no JSON"],
      ["[1]", "no table"],
      ["null", "no table"],
      ["{}", "no valid price"]
    ] as const) {
      const found = readPrices(text)
      assert.isTrue(Either.isLeft(found) && found.left.includes(reason), text)
    }
  })

  it("takes names that are members of every object for names like others", () => {
    const found = readPrices('{"__proto__":{"m":{"input":1,"output":1}},"openai":{"__proto__":{"input":1,"output":1}}}')
    assert.isTrue(Either.isRight(found))
    assert.strictEqual(({} as Record<string, unknown>)["m"], undefined)
  })
})
