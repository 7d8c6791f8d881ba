import { SqlClient } from "@effect/sql"
import { assert, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Sql from "../../../src/store/Sql.ts"
import * as UsageRepo from "../../../src/subjects/usage/repo.ts"

const count = UsageRepo.mostLookedAt + 10

/** Rows that were written one after the other; only the first one is of the provider `rare`. */
const filled = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < ${count - 1})
    INSERT INTO usage_log (id, timestamp_ms, request_id, requested_model, provider, source_wire, streamed, outcome, status, latency_ms,
      attempts, tokens_in, tokens_out, tokens_cache_read, tokens_cache_write, tokens_reasoning, cost_nano_usd, priced, usage_source)
    SELECT printf('%08x-0000-7000-8000-000000000000', i), i * 65536, 'r', 'auto', CASE WHEN i = 0 THEN 'rare' ELSE 'openai' END, 'chat', 0,
      'completed', 200, 1, 1, 1, 1, 0, 0, 0, 0, 1, 'upstream' FROM n`
})

const withRows = Layer.provideMerge(Layer.effectDiscard(filled), Sql.layerMemory)

it.layer(Layer.provideMerge(UsageRepo.layer, withRows))("a long log", (it) => {
  it.effect("is looked at in parts: a page of a rare row is empty and goes on until the row is found", () =>
    Effect.gen(function* () {
      const { page } = yield* UsageRepo.UsageRepo
      const filter = { provider: "rare" }
      const first = yield* page({ limit: 5, cursor: null, filter })
      assert.lengthOf(first.rows, 0)
      assert.isNotNull(first.nextCursor)
      const second = yield* page({ limit: 5, cursor: first.nextCursor, filter })
      assert.deepStrictEqual([second.rows.length, second.nextCursor], [1, null])
    })
  )

  it.effect("is followed in parts, too, and every row is looked at once", () =>
    Effect.gen(function* () {
      const { written } = yield* UsageRepo.UsageRepo
      const filter = { provider: "openai" }
      const ids = new Set<string>()
      let after = "w0"
      for (;;) {
        const { nextCursor, rows } = yield* written({ limit: 1000, after, filter })
        for (const { id } of rows) ids.add(id)
        if (nextCursor === null || nextCursor === after) break
        after = nextCursor
      }
      assert.strictEqual(ids.size, count - 1)
    })
  )

  it.effect("is read in the order of its index, without sorting all of it", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const plan = yield* sql<{ readonly detail: string }>`EXPLAIN QUERY PLAN
        SELECT ${sql.literal(UsageRepo.selected)} FROM usage_log WHERE 1 = 1 ${UsageRepo.newestFirst(sql)} LIMIT 50`
      assert.isFalse(
        plan.some(({ detail }) => detail.includes("TEMP B-TREE")),
        JSON.stringify(plan)
      )
    })
  )
})
