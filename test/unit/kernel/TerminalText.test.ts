import { assert, describe, it } from "@effect/vitest"
import { harmless, harmlessJson, harmlessLines } from "../../../src/kernel/text/TerminalText.ts"

const steering = [
  "\u001b[31m",
  "\u0007",
  "\u009b2J",
  "\u007f",
  "\u061c",
  "\u200f",
  "\u202e",
  "\u2066",
  "\u2028",
  "\ufeff",
  "\u{e0041}"
]

describe("text for a terminal", () => {
  it("holds nothing that steers it or turns the direction of writing", () => {
    for (const text of steering) {
      const first = text.slice(0, text.codePointAt(0)! > 0xffff ? 2 : 1)
      for (const safe of [harmless(text), harmlessLines(text), harmlessJson({ text })]) assert.notInclude(safe, first)
      assert.deepStrictEqual(JSON.parse(harmlessJson({ text })), { text }, "JSON reads back as the same value")
    }
  })

  it("leaves lines, tabs, letters and pictures alone", () => {
    const text = "ключ 日本語 👩‍👩‍👧\n\tnext"
    assert.strictEqual(harmlessLines(text), text)
    assert.strictEqual(harmless("a\nb"), "a?b")
    assert.strictEqual(harmlessJson({ a: 1 }, 2), '{\n  "a": 1\n}')
  })
})
