import { assert, layer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { UsageReports } from "../../../src/management/UsageReports.ts"
import * as UsageJournal from "../../../src/store/UsageJournal.ts"
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
