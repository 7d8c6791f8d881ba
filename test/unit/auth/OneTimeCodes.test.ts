import { assert, describe, it } from "@effect/vitest"
import { codeLivesMs, issue, mostCodes, none, redeem } from "../../../src/subjects/auth/sessions/OneTimeCodes.ts"

describe("OneTimeCodes", () => {
  it("count once, for a minute", () => {
    const codes = issue(none, "a", 0)
    const first = redeem(codes, "a", codeLivesMs - 1)
    assert.isTrue(first.isGood)
    assert.isFalse(redeem(first.codes, "a", codeLivesMs - 1).isGood)
    assert.isFalse(redeem(codes, "a", codeLivesMs).isGood)
    assert.isFalse(redeem(codes, "b", 0).isGood)
  })

  it("are bounded: a further one ends the oldest, and those that have ended go", () => {
    let codes = none
    for (let n = 0; n <= mostCodes; n++) codes = issue(codes, `code-${n}`, n)
    assert.strictEqual(codes.size, mostCodes)
    assert.isFalse(redeem(codes, "code-0", 10).isGood)
    assert.isTrue(redeem(codes, "code-1", 10).isGood)
    assert.deepStrictEqual([...issue(codes, "late", codeLivesMs * 2).keys()], ["late"])
  })
})
