import { assert, describe, it } from "@effect/vitest"
import * as Either from "effect/Either"
import { readPrices } from "../../../src/observe/usage/PriceRows.ts"

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

  it("takes tiers, sound and service tiers of the list that LiteLLM publishes", () => {
    const text = JSON.stringify({
      "gpt-5.4": {
        litellm_provider: "openai",
        input_cost_per_token: 2.5e-6,
        output_cost_per_token: 1.5e-5,
        input_cost_per_token_above_272k_tokens: 5e-6,
        output_cost_per_token_above_272k_tokens: 2.25e-5,
        input_cost_per_token_priority: 5e-6,
        output_cost_per_token_priority: 3e-5,
        input_cost_per_token_flex: 1.25e-6,
        input_cost_per_token_above_272k_tokens_flex: 2.5e-6,
        output_cost_per_token_batches: 7.5e-6,
        input_cost_per_audio_token: 4e-5
      }
    })
    const read = readPrices(text)
    assert.deepStrictEqual(Either.getOrThrow(read).table, {
      openai: {
        "gpt-5.4": {
          input: 2.5,
          output: 15,
          inputAudio: 40,
          tiers: [{ above: 272_000, input: 5, output: 22.5 }],
          serviceTiers: {
            priority: { input: 5, output: 30 },
            flex: { input: 1.25, tiers: [{ above: 272_000, input: 2.5 }] },
            batch: { output: 7.5 }
          }
        }
      }
    })
  })
})
