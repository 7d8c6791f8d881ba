/**
 * Rows by which gateways on one database tell each other of the health of accounts and providers; they are kept for a minute. Each gateway numbers its own and writes one after the other, so
 * that a reader needs to know the last number of each, and a row whose answer was lost can be written again under its number.
 */
import * as SqlClient from "@effect/sql/SqlClient"
import type { SqlError } from "@effect/sql/SqlError"
import * as Effect from "effect/Effect"
import { named } from "../engine/Table.ts"
import type { StoreError } from "../Errors.ts"

/** Time for which they are kept: a gateway that has not read for longer misses some. */
export const keptMs = 60_000

export interface Told {
  readonly node: string
  readonly number: number
  /** By the clock of the gateway that has told it. */
  readonly sentMs: number
  /** By the clock of the database. */
  readonly atMs: number
  /** By the clock of the database, when it was read. */
  readonly nowMs: number
  readonly content: string
}

const nowMs = "CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT)"

const tell = `INSERT INTO cluster_told (node, number, sent_ms, at_ms, content) VALUES (?, ?, ?, ${nowMs}, ?)
  ON CONFLICT (node, number) DO NOTHING`

const heard = `SELECT node, number, sent_ms, at_ms, ${nowMs} AS now_ms, content FROM cluster_told AS t
  WHERE node <> ? AND NOT EXISTS (SELECT 1 FROM unnest(CAST(? AS TEXT[]), CAST(? AS BIGINT[])) AS known (node, number)
    WHERE known.node = t.node AND known.number >= t.number)
  ORDER BY at_ms, node, number`

export const make = Effect.map(SqlClient.SqlClient, (sql) => {
  const run = <A>(operation: string, statement: string, values: ReadonlyArray<unknown>) =>
    Effect.mapError(
      sql.unsafe(statement, values as ReadonlyArray<string>) as unknown as Effect.Effect<ReadonlyArray<A>, SqlError>,
      named(operation)
    )
  return {
    /** The last number of each gateway now. */
    marks: Effect.map(
      run<{ readonly node: string; readonly number: number }>(
        "ToldRows.marks",
        "SELECT node, MAX(number) AS number FROM cluster_told GROUP BY node",
        []
      ),
      (rows) => rows.map(({ node, number }) => [node, number] as const)
    ),
    tell: (node: string, number: number, sentMs: number, content: string): Effect.Effect<void, StoreError> =>
      Effect.asVoid(run("ToldRows.tell", tell, [node, number, sentMs, content])),
    /** Reads the rows of others behind these numbers. */
    heard: (own: string, marks: ReadonlyArray<readonly [node: string, number: number]>) =>
      run<Told>("ToldRows.heard", heard, [own, marks.map(([node]) => node), marks.map(([, number]) => number)]),
    trim: Effect.asVoid(run("ToldRows.trim", `DELETE FROM cluster_told WHERE at_ms < ${nowMs} - ${keptMs}`, []))
  }
})
