import { assert, layer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { UsageReports } from "../../../src/subjects/usage/service.ts"
import * as UsageJournal from "../../../src/store/usage/UsageJournal.ts"
import { mostLookedAt } from "../../../src/subjects/usage/repo.ts"
import { refuseRows } from "../store/fixtures.ts"
import { usageRow } from "../../support/usageRow.ts"
import { layerOf } from "./support.ts"

layer(layerOf())("the usage log", (test) => {
  test.effect("has every answered request at once, and what it has while the table takes no rows", () =>
    Effect.gen(function* () {
      const journal = yield* UsageJournal.UsageJournal
      const { page } = yield* UsageReports
      journal.append(usageRow({ id: "1", requestId: "1" }), usageRow({ id: "2", requestId: "2" }))
      const ids = Effect.map(page(null, null), ({ rows }) => rows.map(({ id }) => id))
      assert.deepStrictEqual(yield* ids, ["2", "1"])
      assert.strictEqual(journal.pending(), 0)
      yield* refuseRows
      journal.append(usageRow({ id: "3", requestId: "3" }))
      assert.deepStrictEqual(yield* ids, ["2", "1"])
      assert.strictEqual(journal.pending(), 1)
    })
  )
})

layer(layerOf())("a long usage log", (test) => {
  test.effect("has a rare row on the first page of its filter, and an end", () =>
    Effect.gen(function* () {
      const journal = yield* UsageJournal.UsageJournal
      const { page } = yield* UsageReports
      const id = (n: number) => String(n).padStart(36, "0")
      const rows = Array.from({ length: mostLookedAt + 10 }, (_, n) =>
        usageRow({ id: id(n), requestId: id(n), provider: n === 3 ? "rare" : "openai" })
      )
      for (const row of rows) journal.append(row)
      const found = yield* page(5, null, { provider: "rare" })
      assert.deepStrictEqual([found.rows.map((row) => row.id), found.nextCursor], [[id(3)], null])
      const none = yield* page(5, null, { provider: "none" })
      assert.deepStrictEqual(none, { rows: [], nextCursor: null, scannedToMs: null })
    })
  )
})
