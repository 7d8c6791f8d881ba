/** Keys of kept answers: the same for the same request, and for no other, over 100,000 requests. */
import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import { cacheKey, type KeyParts, withoutForm } from "../../../src/cache/CacheKey.ts"
import type { JsonObject } from "../../../src/wire/json/Json.ts"

const word = fc.constantFrom("", "a", "b", "ab", ",", '"', "\\", "\n", "k1", "null")
const body: fc.Arbitrary<JsonObject> = fc.record(
  {
    model: word,
    temperature: fc.constantFrom(0, 0.5),
    messages: fc.array(fc.record({ role: word, content: word }), { maxLength: 2 }),
    tools: fc.array(word, { maxLength: 2 }),
    seed: fc.nat(2)
  },
  { requiredKeys: ["messages"] }
)
const parts: fc.Arbitrary<KeyParts> = fc.record({
  owner: word,
  wire: fc.constantFrom("chat", "messages", "responses"),
  model: word,
  targets: word,
  settings: fc.array(word, { maxLength: 2 }),
  body
})

describe("keys of kept answers", () => {
  it("tell requests apart, and nothing else", () => {
    const requests = new Map<string, string>()
    fc.assert(
      fc.property(parts, (each) => {
        const key = cacheKey(each)
        const said = JSON.stringify([each.owner, each.wire, each.model, each.targets, each.settings, each.body])
        assert.match(key, /^[\da-f]{64}$/)
        assert.strictEqual(requests.get(key) ?? said, said)
        requests.set(key, said)
      }),
      { numRuns: 100_000, seed: 23 }
    )
    assert.strictEqual(new Set(requests.values()).size, requests.size)
  })

  it("do not look at how an answer is sent", () => {
    const asked = { model: "m", messages: [], stream: true, stream_options: { include_usage: true } }
    assert.deepStrictEqual(withoutForm(asked), { model: "m", messages: [] })
  })
})
