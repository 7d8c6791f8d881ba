/** How answers are judged. */
import { assert, describe, it } from "@effect/vitest"
import * as Either from "effect/Either"
import type { EvalStrategy } from "../../../src/subjects/evals/entity.ts"
import { graderOf, maxPatternChars } from "../../../src/subjects/evals/Graders.ts"

const judge = (strategy: EvalStrategy, value: unknown, answer: string): boolean => {
  const grader = graderOf({ strategy, value })
  if (Either.isLeft(grader)) return assert.fail(grader.left)
  return grader.right(answer) === null
}

const passes: ReadonlyArray<readonly [EvalStrategy, unknown, string]> = [
  ["exact", "Paris", "  Paris\n"],
  ["contains", "paris", "It is PARIS."],
  ["regex", "^\\d+$", "42"],
  ["regex", "(?i)hello", "Well, HELLO"],
  ["regex", "a.b", "axb"],
  ["json", { a: 1, b: [true, null] }, '{"b": [true, null], "a": 1}'],
  ["json", { a: 1 }, '```json\n{"a":1}\n```'],
  ["json", '{"a":1}', '{"a":1}'],
  ["json", "text", '"text"'],
  ["json", 0, "0"],
  ["json", null, "null"],
  ["json", [], " [] "]
]

const fails: ReadonlyArray<readonly [EvalStrategy, unknown, string]> = [
  ["exact", "Paris", "paris"],
  ["exact", "Paris", "Paris."],
  ["contains", "Paris", "Lyon"],
  ["contains", "Paris", ""],
  ["regex", "^\\d+$", "42 apples"],
  ["json", { a: 1 }, '{"a":1,"b":2}'],
  ["json", { a: 1, b: 2 }, '{"a":1}'],
  ["json", { a: 1 }, '{"a":"1"}'],
  ["json", [1, 2], "[2,1]"],
  ["json", { a: 1 }, "[1]"],
  ["json", [1], '{"0":1}'],
  ["json", { a: 1 }, 'The object is {"a":1}'],
  ["json", {}, '{"__proto__":1}'],
  ["json", { a: 1 }, "```"],
  ["json", null, ""]
]

describe("an answer", () => {
  for (const [strategy, value, answer] of passes) {
    it(`${strategy} ${JSON.stringify(value)}: ${JSON.stringify(answer)} passes`, () => {
      assert.isTrue(judge(strategy, value, answer))
    })
  }
  for (const [strategy, value, answer] of fails) {
    it(`${strategy} ${JSON.stringify(value)}: ${JSON.stringify(answer)} does not pass`, () => {
      assert.isFalse(judge(strategy, value, answer))
    })
  }

  it("is judged in linear time by patterns that others need ages for", () => {
    assert.isFalse(judge("regex", "^(a+)+$", `${"a".repeat(100_000)}!`))
    assert.isFalse(judge("regex", "(x+x+)+y", "x".repeat(100_000)))
  })

  it("is nowhere in the reason", () => {
    for (const [strategy, value] of [...passes, ...fails]) {
      const grader = graderOf({ strategy, value })
      if (Either.isLeft(grader)) return assert.fail(grader.left)
      assert.notInclude(grader.right("secret-of-the-user"), "secret-of-the-user")
    }
  })
})

describe("an expected value is refused", () => {
  const refused: ReadonlyArray<readonly [string, EvalStrategy, unknown, RegExp]> = [
    ["that is no text", "exact", 5, /must be a text/],
    ["that is empty", "contains", "  ", /empty/],
    ["that is missing", "json", undefined, /missing/],
    ["that is too long", "exact", "x".repeat(4_001), /at most 4000/],
    ["with a pattern that is too long", "regex", "x".repeat(maxPatternChars + 1), /at most 1000/],
    ["with a broken pattern", "regex", "(", /linear time/],
    ["with a back-reference", "regex", "(a)\\1", /linear time/],
    ["with a look-ahead", "regex", "(?=a)", /linear time/],
    ["with a huge repetition", "regex", "(a{1000}){1000}", /linear time/]
  ]
  for (const [title, strategy, value, says] of refused) {
    it(`${title}`, () => {
      const grader = graderOf({ strategy, value })
      assert.match(Either.isLeft(grader) ? grader.left : "it is accepted", says)
    })
  }
})
