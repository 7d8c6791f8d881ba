import { assert, describe, it } from "@effect/vitest"
import * as Either from "effect/Either"
import { compileLinear, maxPatternSteps, stepsOf } from "../../../src/kernel/text/LinearPattern.ts"

const refusal = (source: string, mostSteps?: number): string =>
  Either.match(compileLinear(source, mostSteps), { onLeft: (message) => message, onRight: () => "taken" })

describe("patterns of people", () => {
  it.each([
    ["\\p{L}{1000}", /costs 1002 steps .* 256 are the limit/],
    ["(?:\\p{L}\\p{N}?){300}", /costs \d+ steps/],
    ["[\\p{L}\\p{N}]{1,300}x", /costs \d+ steps/],
    ["(?:a{30}b{30}){10}", /costs \d+ steps/],
    ["a(?=b)", /not a pattern that is matched in linear time/],
    ["(a)\\1", /not a pattern that is matched in linear time/],
    ["(", /not a pattern/]
  ])("%s is refused with the reason", (source, expected) => assert.match(refusal(source), expected))

  it.each(["\\d{3}-\\d{2}-\\d{4}", "\\bACME-\\d{6,10}\\b", "\\p{L}{200}", "(?i)jane|john|mary", "(a+)+$"])(
    "%s is taken",
    (source) => assert.strictEqual(refusal(source), "taken")
  )

  it("may have another limit where less is looked at", () => {
    assert.strictEqual(refusal("\\p{L}{500}", 512), "taken")
    assert.match(refusal("\\p{L}{511}", 512), /and 512 are the limit/)
  })

  it("cost their steps for each character, and one for an empty text", () => {
    const compiled = Either.getOrThrow(compileLinear("\\d{9}"))
    assert.isAtMost(compiled.steps, maxPatternSteps)
    assert.strictEqual(stepsOf(compiled, "x".repeat(9)), 10 * compiled.steps)
    assert.strictEqual(stepsOf(compiled, ""), compiled.steps)
  })
})
