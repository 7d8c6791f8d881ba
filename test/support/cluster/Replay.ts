/** Histories of shared rows: the calls of a cluster in memory, to be done again over a database whose clock is that of the history. */
import type * as SqlClient from "@effect/sql/SqlClient"
import * as Effect from "effect/Effect"
import type { LedgerRows } from "../../../src/plane/ledger/rows/Rows.ts"
import type { Cluster } from "../ledger/Cluster.ts"
import { sharedRows } from "./SharedRows.ts"

export interface Recorded {
  readonly atMs: number
  readonly name: keyof LedgerRows
  readonly values: ReadonlyArray<unknown>
  readonly outcome: unknown
}

/** Shared rows whose calls are noted in their order, with what came of them. */
export const recorded = (history: Array<Recorded>) => (cluster: Cluster) => {
  const side = sharedRows(cluster)
  const { rows } = side
  const note =
    (name: keyof LedgerRows, call: (...values: ReadonlyArray<unknown>) => unknown) =>
    (...values: ReadonlyArray<unknown>): unknown => {
      const before = structuredClone(values)
      const outcome = call.apply(rows, values as Array<unknown>)
      history.push({ atMs: rows.nowMs(), name, values: before, outcome: structuredClone(outcome) })
      return outcome
    }
  for (const name of ["join", "turn", "revive", "wanted", "sweep", "standing"] as const) {
    Object.assign(rows, { [name]: note(name, rows[name] as (...values: ReadonlyArray<unknown>) => unknown) })
  }
  return side
}

/** Functions of the schema stand before those of the server. */
export const ownClock = (sql: SqlClient.SqlClient) =>
  Effect.forEach(
    [
      "CREATE TABLE clock (at_ms BIGINT NOT NULL)",
      "INSERT INTO clock VALUES (0)",
      `CREATE FUNCTION clock_timestamp() RETURNS TIMESTAMPTZ LANGUAGE sql STABLE
        AS $$ SELECT to_timestamp(at_ms / 1000.0) FROM clock $$`
    ],
    (text) => sql.unsafe(text),
    { discard: true }
  )

const called = (rows: LedgerRows, { name, values }: Recorded): Effect.Effect<unknown> =>
  Effect.async((resume) => {
    const call = rows[name] as (...all: ReadonlyArray<unknown>) => void
    call(...values, (outcome: unknown) => resume(Effect.succeed(outcome)))
  })

/** Orders what has none. */
const comparable = ({ name }: Recorded, outcome: unknown): unknown => {
  if (name !== "revive" && name !== "wanted") return outcome
  const sorted = (list: ReadonlyArray<unknown>) => list.map((each) => JSON.stringify(each)).toSorted()
  if (Array.isArray(outcome)) return sorted(outcome)
  const { leases } = outcome as { readonly leases: ReadonlyArray<number> | null }
  return leases === null ? null : sorted(leases)
}

/** Does a history again; returns the first call whose outcome is another one, with it. */
export const replayed = (
  sql: SqlClient.SqlClient,
  rows: LedgerRows,
  history: ReadonlyArray<Recorded>
): Effect.Effect<{ readonly call: Recorded; readonly outcome: unknown; readonly at: number } | null> =>
  Effect.gen(function* () {
    for (const [at, call] of history.entries()) {
      yield* Effect.orDie(sql`UPDATE clock SET at_ms = ${call.atMs}`)
      const outcome = yield* called(rows, call)
      const same = JSON.stringify(comparable(call, outcome)) === JSON.stringify(comparable(call, call.outcome))
      if (!same) return { call, outcome, at }
    }
    return null
  })
