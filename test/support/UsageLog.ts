/** Rows of the usage log, and what brings them there. */
import * as SqlClient from "@effect/sql/SqlClient"
import * as Effect from "effect/Effect"
import type { UsageRow } from "../../src/contract/domain/Usage.ts"
import { PerFacts } from "../../src/contract/domain/UsageFacts.ts"
import { UsageSumsRepo } from "../../src/subjects/usage/UsageSumsRepo.ts"
import { insert, sharedFacts } from "../../src/store/usage/UsageInsert.ts"
import { usageRow } from "./usageRow.ts"

/** The id of a request that arrived at a time (epoch milliseconds). */
export const idAt = (ms: number, n: number): string => {
  const time = ms.toString(16).padStart(12, "0")
  return `${time.slice(0, 8)}-${time.slice(8)}-7000-8000-${n.toString(16).padStart(12, "0")}`
}

export const rowAt = (ms: number, n: number, more: Partial<UsageRow> = {}): UsageRow =>
  usageRow({ id: idAt(ms, n), requestId: idAt(ms, n), timestampMs: ms, ...more })

export const put = (rows: ReadonlyArray<UsageRow>) =>
  Effect.flatMap(SqlClient.SqlClient, (sql) => {
    const facts = new PerFacts(sharedFacts)
    return insert(
      sql,
      rows.map((row) => ({ row, facts: facts.of(row) })),
      false
    )
  })

/** Brings all rows into the sums. */
export const sumAll = Effect.gen(function* () {
  const sums = yield* UsageSumsRepo
  while (yield* sums.sumNext);
})
