import { assert, describe, it } from "@effect/vitest"
import { makeModelFallbacks } from "../../../src/subjects/flags/ModelFallbacks.ts"

describe("modelFallbacks", () => {
  const of = makeModelFallbacks({
    "claude-*": "wide",
    "claude-haiku-*": "narrow",
    "claude-haiku-4-5": "exact",
    "*-mini": "end",
    "gpt-*-nano-*": "middle"
  })

  it("take the exact id first, then the pattern that says most", () => {
    assert.strictEqual(of("claude-haiku-4-5"), "exact")
    assert.strictEqual(of("claude-haiku-4-5-20251001"), "narrow")
    assert.strictEqual(of("claude-opus-4-1"), "wide")
    assert.strictEqual(of("o4-mini"), "end")
    assert.strictEqual(of("gpt-5-nano-2025"), "middle")
    assert.strictEqual(of("claude-"), "wide")
  })

  it("say nothing of any other id", () => {
    for (const id of ["", "claude", "Claude-haiku-4-5", "o4-mini-high", "gpt-nano-2025", "gpt-5-nano", "x"]) {
      assert.isNull(of(id), id)
    }
    assert.isNull(makeModelFallbacks({})("claude-haiku-4-5"))
    assert.isNull(makeModelFallbacks({ "*": "all" })("a".repeat(513)))
    assert.strictEqual(makeModelFallbacks({ "*": "all" })("anything"), "all")
  })

  it("do not count a text twice", () => {
    const overlapping = makeModelFallbacks({ "ab*ba": "m", "aa*a*aa": "n" })
    assert.isNull(overlapping("aba"))
    assert.strictEqual(overlapping("abba"), "m")
    assert.isNull(overlapping("aaaa"))
    assert.strictEqual(overlapping("aaaaa"), "n")
  })
})
