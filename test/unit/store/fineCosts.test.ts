/** Costs finer than a nano-USD are read as they were booked: of rows, entries of the ledger, and sums, before and after rows are in the sums. */
import * as SqlClient from "@effect/sql/SqlClient"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FastCheck from "effect/FastCheck"
import * as Layer from "effect/Layer"
import * as TestClock from "effect/TestClock"
import * as TestContext from "effect/TestContext"
import type { LedgerCall } from "../../../src/contract/domain/Ledger.ts"
import { nanoUsdParts, type UsageRow } from "../../../src/contract/domain/Usage.ts"
import { PerFacts } from "../../../src/contract/domain/UsageFacts.ts"
import * as Sql from "../../../src/store/Sql.ts"
import { nanoColumn, partsColumn } from "../../../src/store/usage/MoneyColumns.ts"
import * as LedgerRepo from "../../../src/subjects/usage/LedgerRepo.ts"
import * as SpendRepo from "../../../src/subjects/usage/SpendRepo.ts"
import * as UsageRepo from "../../../src/subjects/usage/repo.ts"
import * as UsageSumsRepo from "../../../src/subjects/usage/UsageSumsRepo.ts"
import { insert, sharedFacts } from "../../../src/store/usage/UsageInsert.ts"
import { usageRow } from "../../support/usageRow.ts"

const nowMs = Date.UTC(2026, 8, 20, 12, 34, 56)
const hourMs = 3_600_000

const rowAt = (n: number, more: Partial<UsageRow>): UsageRow => {
  const timestampMs = nowMs - n * 1_000_000
  const time = timestampMs.toString(16).padStart(12, "0")
  const id = `${time.slice(0, 8)}-${time.slice(8)}-7000-8000-${n.toString(16).padStart(12, "0")}`
  return usageRow({ id, requestId: id, timestampMs, ...more })
}

const put = (rows: ReadonlyArray<UsageRow>) =>
  Effect.flatMap(SqlClient.SqlClient, (sql) => {
    const facts = new PerFacts(sharedFacts)
    return insert(
      sql,
      rows.map((row) => ({ row, facts: facts.of(row) })),
      false
    )
  })

const call = (attempt: number, settledNanoUsd: number): LedgerCall => ({
  attempt,
  provider: "openai",
  connectionId: "connection-1",
  model: "gpt-4.1",
  state: "settled",
  reservedNanoUsd: 10,
  settledNanoUsd,
  price: null,
  createdAtMs: nowMs,
  settledAtMs: nowMs
})

const store = Layer.mergeAll(LedgerRepo.layer, SpendRepo.layer, UsageRepo.layer, UsageSumsRepo.layer).pipe(
  Layer.provideMerge(Sql.layerMemory)
)

/** In whole 64ths of a nano-USD, up to 100 USD. */
const amount = FastCheck.oneof(FastCheck.nat(), FastCheck.nat({ max: 6_400_000_000_000 })).map((n) => n / nanoUsdParts)

const total = (all: ReadonlyArray<number>): number => all.reduce((sum, each) => sum + each, 0)

describe("costs finer than a nano-USD", () => {
  it("are read as they were booked, and so are their sums", () =>
    FastCheck.assert(
      FastCheck.asyncProperty(FastCheck.array(amount, { minLength: 1, maxLength: 40 }), (costs) =>
        Effect.gen(function* () {
          yield* TestClock.setTime(nowMs)
          const rows = costs.map((costNanoUsd, n) =>
            n % 3 === 0
              ? rowAt(n, { costNanoUsd, attempts: 2, calls: [call(1, costNanoUsd), call(2, 0)] })
              : rowAt(n, { costNanoUsd })
          )
          yield* put(rows)
          const usage = yield* UsageRepo.UsageRepo
          const page = yield* usage.page({ limit: 100, cursor: null })
          assert.deepStrictEqual(
            page.rows.map(({ costNanoUsd }) => costNanoUsd),
            costs
          )
          const ledger = yield* LedgerRepo.LedgerRepo
          const { entries } = yield* ledger.page({ limit: 1_000, cursor: null })
          assert.strictEqual(total(entries.map(({ settledNanoUsd }) => settledNanoUsd)), total(costs))

          const spent = Effect.gen(function* () {
            const { sum } = yield* SpendRepo.SpendRepo
            const all = yield* sum({ apiKeyId: "key-1", sinceMs: nowMs - 100 * hourMs, untilMs: nowMs + hourMs })
            return all.costNanoUsd
          })
          assert.strictEqual(yield* spent, total(costs), "before they are in the sums")
          const sums = yield* UsageSumsRepo.UsageSumsRepo
          while (yield* sums.sumNext);
          assert.strictEqual(yield* spent, total(costs), "after")
          const upTo = yield* sums.newest
          while ((yield* sums.deleteSome({ _tag: "Before", beforeMs: nowMs - hourMs }, upTo, nowMs)) > 0);
          assert.strictEqual(yield* spent, total(costs), "when rows were deleted")
        }).pipe(Effect.provide(store), Effect.provide(TestContext.TestContext), Effect.runPromise)
      ),
      { numRuns: 15 }
    ))

  it("have two columns that hold integers, whatever is booked", () => {
    const columns = (nanoUsd: number) => [nanoColumn(nanoUsd), partsColumn(nanoUsd)]
    assert.deepStrictEqual(columns(18.75), [18, 48])
    assert.deepStrictEqual(columns(-1.5), [-2, 32])
    for (const odd of [Number.NaN, Infinity, -Infinity, 1e300, 0.1, Number.MAX_SAFE_INTEGER]) {
      for (const column of columns(odd)) assert.isTrue(Number.isSafeInteger(column), String(odd))
    }
  })
})
