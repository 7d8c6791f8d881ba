/** A long page of the log is read in parts, and is the same page. */
import { assert, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type { UsageRow } from "../../../src/contract/domain/Usage.ts"
import { pageInParts, type UsageRepo } from "../../../src/subjects/usage/repo.ts"
import { usageRow } from "../../support/usageRow.ts"

/** A log of so many rows, of which a look sees `looked` at most; the newest first. */
const logOf = (count: number, looked = Number.POSITIVE_INFINITY) => {
  const rows = Array.from({ length: count }, (_, n): UsageRow => ({ ...usageRow(), id: String(count - n) }))
  const asked: Array<number> = []
  const page: (typeof UsageRepo.Service)["page"] = ({ cursor, limit }) => {
    asked.push(limit)
    const from = cursor === null ? 0 : rows.findIndex(({ id }) => id === cursor) + 1
    const seen = rows.slice(from, from + Math.min(limit, looked))
    return Effect.succeed({
      rows: seen,
      nextCursor: from + seen.length < rows.length ? (seen.at(-1)?.id ?? null) : null
    })
  }
  return { page, asked, rows }
}

it.effect("is what one look would give, with a turn of others between the parts", () =>
  Effect.gen(function* () {
    for (const [count, limit] of [
      [0, 50],
      [50, 50],
      [99, 1_000],
      [100, 1_000],
      [101, 1_000],
      [2_000, 1_000],
      [2_000, 950],
      [1_000, 1_000]
    ] as const) {
      const { asked, page, rows } = logOf(count)
      let turns = 0
      const query = { limit, cursor: null, filter: {} }
      const turn = Effect.sync(() => void (turns += 1))
      const found = yield* pageInParts({ page }, turn, query)
      assert.deepStrictEqual(found.rows, rows.slice(0, limit))
      assert.strictEqual(found.nextCursor, count > limit ? (found.rows.at(-1)?.id ?? null) : null)
      assert.isTrue(asked.every((each) => each <= 100))
      assert.strictEqual(turns, asked.length - 1)
    }
  })
)

it.effect("ends where a look is bounded, so that its caller goes on from there", () =>
  Effect.gen(function* () {
    const { asked, page, rows } = logOf(500, 30)
    const found = yield* pageInParts({ page }, Effect.void, { limit: 200, cursor: null, filter: {} })
    assert.deepStrictEqual([found.rows, found.nextCursor, asked], [rows.slice(0, 30), rows[29]?.id, [100]])
  })
)
