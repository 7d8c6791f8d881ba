/** The settings file: each line is read or refused with its number. */
import { assert, describe, it } from "@effect/vitest"
import * as fc from "effect/FastCheck"
import { line, read } from "../../../src/platform/EnvText.ts"

const valueOf = (text: string, name = "A") => {
  const { problems, values } = read(text)
  assert.deepStrictEqual(problems, [], text)
  return values.get(name)
}

describe("a line of the settings file", () => {
  it.each([
    ["A=1", "1"],
    ["\uFEFFA=1", "1"],
    ["\uFEFF# first\r\nA=1\r\n", "1"],
    ["A=1\rB=2", "1"],
    ["export A=1", "1"],
    ["  export   A = 1  ", "1"],
    ["A: 1", "1"],
    ["A: '1 # 2' # three", "1 # 2"],
    ['A="1"', "1"],
    ['A=`it\'s "1"`', 'it\'s "1"'],
    [String.raw`A="one\ntwo"`, "one\ntwo"],
    [String.raw`A='one\ntwo'`, String.raw`one\ntwo`],
    ["A='one\ntwo'\nB=3", "one\ntwo"],
    ["A=one # two", "one"],
    ["A=one#two", "one#two"],
    ["A=#one", ""],
    ["A=it's", "it's"],
    ["A=a=b=c", "a=b=c"],
    ["A=http://one:2", "http://one:2"],
    ["A=1\nA=", "1"],
    ["A=1\nA=2", "2"],
    ["A='-----BEGIN KEY-----\nMIIB==\nABC=\n-----END KEY-----'", "-----BEGIN KEY-----\nMIIB==\nABC=\n-----END KEY-----"]
  ])("%j is read", (text, expected) => {
    assert.strictEqual(valueOf(text), expected)
  })

  it.each([
    ["one\nA=1", 1],
    ["A=1\nREQUIRE_API_KEY true", 2],
    ["A=1\n\nREQUIRE_API_KEY:true", 3],
    ["A='1", 1],
    ['A="1\nB=2', 1],
    ["A=1\r\nB='2\r\nC=3", 2],
    ["A='torn\nREQUIRE_API_KEY=true\nB='", 1],
    ["A='1' 2", 1],
    ["A=\u201c1\u201d", 1],
    ["=1", 1],
    ["1A=1", 1],
    ["A='one\ntwo'\nwhat\n", 3],
    ["A=1\nB=\0", 2]
  ])("%j is refused with its line", (text, number) => {
    assert.deepStrictEqual(read(text).problems.map((problem) => problem.line)[0], number)
  })

  it("repeats no value in a problem", () => {
    for (const text of ["A='secret-value", "A='x' secret-value", "secret-value", "A=\u201csecret-value"]) {
      const { problems } = read(text)
      assert.strictEqual(problems.length, 1)
      assert.notInclude(problems[0]?.problem, "secret-value")
    }
  })

  it("comes back as it was written, or is not written", () => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom("a", "'", '"', "`", "\\", "n", "\n", "\r", "#", " ", "=", "B", "C") }),
        (value) => {
          const written = line("A", value)
          if (written !== null) assert.strictEqual(read(written).values.get("A"), value)
        }
      )
    )
  })
})
