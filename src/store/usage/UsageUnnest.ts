/**
 * Inserts of usage rows over Postgres: rows of the same facts in one statement, a list for each column, so that the text of the statement is the same
 * for any number of rows.
 */
import type { UsageRow } from "../../contract/domain/Usage.ts"
import type { Column } from "../engine/Columns.ts"
import { addParameters, isNumber, own, sharedNames } from "./UsageColumns.ts"

const typeOf = (column: string): string => (isNumber(column) ? "BIGINT" : "TEXT")

const places = sharedNames.map((name) => `CAST(? AS ${typeOf(name)}) AS ${name}`).join(", ")

const selected = own.map((name) => (name === "request_id" ? "COALESCE(own.request_id, own.id)" : `own.${name}`))

/** Takes the shared parameters, and then a list for each column of the rows. Rows that exist already are skipped. */
export const unnested =
  `WITH facts AS (SELECT ${places}) INSERT INTO usage_log (${[...own, ...sharedNames].join(", ")}) ` +
  `SELECT ${[...selected, ...sharedNames.map((name) => `facts.${name}`)].join(", ")} FROM facts CROSS JOIN ` +
  `unnest(${own.map((name) => `CAST(? AS ${typeOf(name)}[])`).join(", ")}) AS own(${own.join(", ")}) ON CONFLICT (id) DO NOTHING`

/** Rows of one statement: it is held in memory as a whole. */
export const mostUnnested = 2_000

/** The lists of the columns. */
export const listsOf = (rows: ReadonlyArray<UsageRow>): ReadonlyArray<ReadonlyArray<Column>> => {
  const lists = own.map((): Array<Column> => [])
  for (const row of rows) {
    const values: Array<Column> = []
    addParameters(values, row)
    values.forEach((value, n) => lists[n]?.push(value))
  }
  return lists
}
