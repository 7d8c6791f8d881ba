import { assert, describe, it } from "@effect/vitest"
import * as FastCheck from "effect/FastCheck"
import { limits, partsWithin } from "../../../../src/wire/media/embeddings/Splitting.ts"
import type { Json, JsonObject } from "../../../../src/wire/json/Json.ts"
import { wholeRequest } from "../../../../src/wire/media/WholeRequest.ts"

const partsOf = (within: { readonly inputs: number; readonly tokens: number | null }, extras: JsonObject) =>
  partsWithin(within)(wholeRequest(extras, "m"))?.map(({ extras: part = {} }) => part) ?? null

describe("a request for embeddings", () => {
  it("that a provider takes whole is not split", () => {
    const few = Array.from({ length: 96 }, (_, index) => `text ${index}`)
    assert.isNull(partsOf(limits.cohere, { input: few }))
    assert.isNull(partsOf(limits.cohere, { input: "one" }))
    // The token ids of one text.
    assert.isNull(partsOf({ inputs: 2, tokens: 4 }, { input: [1, 2, 3, 4, 5, 6] }))
  })

  it("has at most as many inputs per part as the provider takes, in their order, each once", () => {
    const input = Array.from({ length: 250 }, (_, index) => `text ${index}`)
    const parts = partsOf(limits.gemini, { input, dimensions: 3, requests: input.map((text) => ({ text })) })
    assert.deepStrictEqual(
      parts?.map((part) => (part["input"] as ReadonlyArray<Json>).length),
      [100, 100, 50]
    )
    assert.deepStrictEqual(
      parts?.flatMap((part) => part["input"] as ReadonlyArray<Json>),
      input
    )
    assert.deepStrictEqual(
      parts?.[1]?.["requests"],
      input.slice(100, 200).map((text) => ({ text }))
    )
    assert.strictEqual(parts?.[2]?.["dimensions"], 3)
  })

  it("stays below the provider's limit of tokens, whatever the texts", () => {
    const inputs = FastCheck.array(
      FastCheck.oneof(FastCheck.string({ maxLength: 60 }), FastCheck.array(FastCheck.nat(), { minLength: 1 })),
      {
        minLength: 1,
        maxLength: 40
      }
    )
    const size = (input: Json): number =>
      typeof input === "string" ? Math.ceil(Buffer.byteLength(input) / 2) : (input as ReadonlyArray<Json>).length
    FastCheck.assert(
      FastCheck.property(
        inputs,
        FastCheck.integer({ min: 1, max: 7 }),
        FastCheck.integer({ min: 1, max: 40 }),
        (input, most, tokens) => {
          const parts = partsOf({ inputs: most, tokens }, { input }) ?? [{ input }]
          const lists = parts.map((part) => part["input"] as ReadonlyArray<Json>)
          assert.deepStrictEqual(lists.flat(), input)
          for (const list of lists) {
            assert.isAtLeast(list.length, 1)
            assert.isAtMost(list.length, most)
            if (list.length > 1)
              assert.isAtMost(
                list.map(size).reduce((sum, each) => sum + each, 0),
                tokens
              )
          }
        }
      )
    )
  })
})
