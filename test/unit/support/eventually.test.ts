import { assert, describe, it } from "@effect/vitest"
import { eventually, eventuallyFound } from "../../support/eventually.ts"

describe("eventually", () => {
  it("returns the first value that is wanted", async () => {
    let calls = 0
    const count = await eventually(
      "three calls",
      () => (calls += 1),
      (value) => value === 3
    )
    assert.strictEqual(count, 3)
  })

  it("fails after its limit, with what it waited for and the last value", async () => {
    const waiting = eventually(
      "a miracle",
      () => ({ state: "ordinary" }),
      () => false,
      { withinMs: 20 }
    )
    const error = await waiting.then(
      () => null,
      (reason: Error) => reason.message
    )
    assert.strictEqual(error, "Waited 20 ms for a miracle; last: { state: 'ordinary' }")
  })

  it("waits for a value to be there", async () => {
    const values = [undefined, undefined, "row"]
    assert.strictEqual(await eventuallyFound("a row", () => values.shift()), "row")
  })
})
