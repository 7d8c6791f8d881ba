import { assert, describe, it } from "@effect/vitest"
import { globOf, maxPatternChars, problemOf } from "../../../src/agents/bridge/Globs.ts"

const cases: ReadonlyArray<readonly [pattern: string, text: string, matches: boolean]> = [
  ["api.anthropic.com", "API.anthropic.com", true],
  ["api.anthropic.com", "xapi.anthropic.com", false],
  ["*.okta.com", "a.b.okta.com", true],
  ["*.okta.com", "okta.com", false],
  ["*.okta.com", "a.okta.com.evil.org", false],
  ["*", "", true],
  ["*.bank.*", "my.bank.de", true],
  ["*.bank.*", "my.bank", false],
  ["a*a", "a", false],
  ["a*a", "aa", true],
  ["ab*ba", "aba", false],
  ["a*b*c", "aXbYc", true],
  ["a*b*c", "acb", false],
  ["*ab*ab*", "xabx", false],
  ["*ab*ab*", "abab", true],
  ["**", "anything", true],
  ["a.c", "abc", false],
  ["claude-opus-4-5*", "claude-opus-4-5-20251101", true]
]

describe("globs", () => {
  for (const [pattern, text, matches] of cases) {
    it(`'${pattern}' ${matches ? "matches" : "does not match"} '${text}'`, () => {
      assert.strictEqual(globOf(pattern).matches(text), matches)
    })
  }

  it("agrees with a slow definition over all short texts", () => {
    const matches = (pattern: string, text: string): boolean => {
      if (pattern === "") return text === ""
      if (pattern[0] !== "*") return text[0] === pattern[0] && text !== "" && matches(pattern.slice(1), text.slice(1))
      return matches(pattern.slice(1), text) || (text !== "" && matches(pattern, text.slice(1)))
    }
    const textsOf = (letters: string, length: number): ReadonlyArray<string> =>
      length === 0
        ? [""]
        : textsOf(letters, length - 1).flatMap((text) => [text].concat([...letters].map((letter) => text + letter)))
    const texts = [...new Set(textsOf("ab", 6))]
    for (const pattern of new Set(textsOf("ab*", 5))) {
      const glob = globOf(pattern)
      for (const text of texts) assert.strictEqual(glob.matches(text), matches(pattern, text), `${pattern} ${text}`)
    }
  })

  it("needs no more steps for many stars", () => {
    const glob = globOf("*a*a*a*a*a*a*a*b")
    assert.isFalse(glob.matches(`${"a".repeat(200_000)}c`))
  })

  it("refuses what is no pattern, and says why", () => {
    assert.isNull(problemOf("*.example.org"))
    assert.isNull(problemOf("*".repeat(8)))
    assert.match(problemOf("*".repeat(9)) ?? "", /at most 8/)
    assert.match(problemOf("") ?? "", /empty/)
    assert.match(problemOf("a b") ?? "", /ASCII/)
    assert.match(problemOf("a\u0000") ?? "", /ASCII/)
    assert.match(problemOf("a".repeat(maxPatternChars + 1)) ?? "", /at most 253/)
  })
})
