/** A fetched leaderboard is believed as a whole or not at all. */
import { assert, describe, it } from "@effect/vitest"
import * as Either from "effect/Either"
import { mostOverrides } from "../../../../src/plane/routing/auto/Leaderboard.ts"
import { overridesOf, readRows } from "../../../../src/plane/routing/auto/LeaderboardRows.ts"

const read = (value: unknown) => readRows(JSON.stringify(value))

describe("leaderboard rows", () => {
  it("say something of the tasks they name, and nothing of the others", () => {
    const rows = Either.getOrThrow(read([{ model: " gpt-* ", coding: 0.9, default: 0, elo: 1300 }, { model: "x" }]))
    assert.deepStrictEqual(overridesOf(rows), [
      { pattern: "gpt-*", task: "coding", fitness: 0.9 },
      { pattern: "gpt-*", task: "default", fitness: 0 }
    ])
  })

  const good = { model: "good", coding: 0.5 }
  for (const [what, value] of [
    ["no list", { rows: [good] }],
    ["a value above 1", [good, { model: "bad", coding: 1.01 }]],
    ["a value below 0", [good, { model: "bad", review: -0.01 }]],
    ["a value that is no number", [good, { model: "bad", review: "0.5" }]],
    ["a value that is null", [good, { model: "bad", review: null }]],
    ["a row without a model", [good, { coding: 0.5 }]],
    ["a blank model", [good, { model: " ", coding: 0.5 }]],
    ["too many rows", Array.from({ length: mostOverrides + 1 }, () => good)],
    ["too many values", Array.from({ length: mostOverrides }, () => ({ ...good, review: 0.5 }))]
  ] as const) {
    it(`refuses all of them for ${what}`, () => assert.isTrue(Either.isLeft(read(value))))
  }

  it("tells why in one short line", () => {
    assert.deepStrictEqual(readRows("<html>"), Either.left("it is not JSON"))
    const why = Either.flip(read([{ model: "a\nb", coding: `\n${"x".repeat(1_000)}` }])).pipe(Either.getOrThrow)
    assert.match(why, /^[\x20-\x7e]{1,200}$/)
    assert.include(why, "0.coding")
  })
})
