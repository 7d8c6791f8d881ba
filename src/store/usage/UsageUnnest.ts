/**
 * Inserts of usage rows over Postgres: rows of any number of facts in one statement, a list for each column, so that the text of the statement is the same
 * for all of them. Facts that rows share are sent once, and each row has the place of its own among them.
 */
import type { UsageRow } from "../../contract/domain/Usage.ts"
import type { Column } from "../engine/Columns.ts"
import { addParameters, isNumber, own, sharedNames } from "./UsageColumns.ts"

const listOf = (column: string): string => `CAST(? AS ${isNumber(column) ? "BIGINT" : "TEXT"}[])`

const selected = own.map((name) => (name === "request_id" ? "COALESCE(own.request_id, own.id)" : `own.${name}`))

/** Takes a list for each column that rows share, then the places of the rows' facts from 1 on, then a list for each of their own columns. Rows that exist already are skipped. */
export const unnested =
  `WITH facts AS (SELECT * FROM unnest(${sharedNames.map(listOf).join(", ")}) WITH ORDINALITY AS shared(${sharedNames.join(", ")}, place)) ` +
  `INSERT INTO usage_log (${[...own, ...sharedNames].join(", ")}) ` +
  `SELECT ${[...selected, ...sharedNames.map((name) => `facts.${name}`)].join(", ")} ` +
  `FROM unnest(CAST(? AS BIGINT[]), ${own.map(listOf).join(", ")}) AS own(place, ${own.join(", ")}) JOIN facts ON facts.place = own.place ` +
  `ON CONFLICT (id) DO NOTHING`

/** Rows of one statement: it is held in memory as a whole. */
export const mostUnnested = 2_000

const special = /["\\]/g

/** A list as Postgres reads it. The driver would look at each value three times. */
const literalOf = (values: ReadonlyArray<Column>): string => {
  const parts = values.map((value) => {
    if (value === null) return "NULL"
    return typeof value === "string" ? `"${value.replace(special, "\\$&")}"` : String(value)
  })
  return `{${parts.join(",")}}`
}

const columnsOf = (count: number, rows: number, valuesOf: (row: number) => ReadonlyArray<Column>): Array<string> => {
  const columns = Array.from({ length: count }, (): Array<Column> => [])
  for (let row = 0; row < rows; row += 1) {
    const values = valuesOf(row)
    for (let at = 0; at < count; at += 1) columns[at]?.push(values[at] ?? null)
  }
  return columns.map(literalOf)
}

/** Rows, and the place of each one's facts among all, from 0 on. */
export interface Unnested {
  readonly facts: ReadonlyArray<ReadonlyArray<Column>>
  readonly rows: ReadonlyArray<UsageRow>
  readonly places: ReadonlyArray<number>
}

/** The parameters of the statement. */
export const listsOf = ({ facts, places, rows }: Unnested): ReadonlyArray<string> => {
  const values: Array<Column> = []
  const valuesOf = (row: UsageRow | undefined): ReadonlyArray<Column> => {
    values.length = 0
    if (row !== undefined) addParameters(values, row)
    return values
  }
  return [
    ...columnsOf(sharedNames.length, facts.length, (at) => facts[at] ?? []),
    `{${places.map((place) => place + 1).join(",")}}`,
    ...columnsOf(own.length, rows.length, (at) => valuesOf(rows[at]))
  ]
}
