/** Brings usage rows into their table, many in one transaction. */
import type * as SqlClient from "@effect/sql/SqlClient"
import type { Connection } from "@effect/sql/SqlConnection"
import type { SqlError } from "@effect/sql/SqlError"
import * as Effect from "effect/Effect"
import type { UsageRow } from "../../domain/Usage.ts"
import type { UsageFacts } from "../../domain/UsageFacts.ts"
import type { Column } from "../engine/Columns.ts"
import type { StoreError } from "../Errors.ts"
import { untilFree } from "../engine/WriteQueue.ts"
import { withLateSync } from "../engine/LateSync.ts"
import { named } from "../engine/Table.ts"
import { noHook, type Statement, type UsageHookShape } from "./UsageHook.ts"
import { addParameters, inserts, sharedParameters } from "./UsageColumns.ts"
import { entriesOf, insertEntry } from "./LedgerColumns.ts"
import { type FactsLine, factsLine } from "./UsageLines.ts"

/** Texts made once of the facts that rows share. */
export interface SharedFacts {
  readonly line: FactsLine
  readonly parameters: ReadonlyArray<Column>
}

export const sharedFacts = (facts: UsageFacts): SharedFacts => ({
  line: factsLine(facts),
  parameters: sharedParameters(facts)
})

export interface RowWithFacts {
  readonly row: UsageRow
  readonly facts: SharedFacts
}

/** Rows of the same facts together, each group by as few statements as there are. */
const statementsOf = (rows: ReadonlyArray<RowWithFacts>): ReadonlyArray<Statement> => {
  const groups = new Map<SharedFacts, Array<UsageRow>>()
  for (const { facts, row } of rows) {
    const group = groups.get(facts)
    if (group === undefined) groups.set(facts, [row])
    else group.push(row)
  }
  const all: Array<Statement> = []
  for (const [facts, group] of groups) {
    let done = 0
    for (const { rows: size, statement } of inserts) {
      for (; group.length - done >= size; done += size) {
        const parameters = [...facts.parameters]
        for (const row of group.slice(done, done + size)) addParameters(parameters, row)
        all.push({ statement, parameters })
      }
    }
  }
  return all
}

/** Ids of rows that are in the table, of some. */
export const idsIn = (
  sql: SqlClient.SqlClient,
  ids: ReadonlyArray<string>
): Effect.Effect<ReadonlySet<string>, SqlError> =>
  Effect.map(
    sql<{ readonly id: string }>`
        SELECT id FROM usage_log WHERE id IN (SELECT value FROM json_each(${JSON.stringify(ids)}))`,
    (rows): ReadonlySet<string> => new Set(rows.map(({ id }) => id))
  )

const noStatements: ReadonlyArray<Statement> = []

const entryStatements = (rows: ReadonlyArray<RowWithFacts>): ReadonlyArray<Statement> =>
  rows.some(({ row }) => row.calls !== null)
    ? rows.flatMap(({ row }) => entriesOf(row).map((parameters) => ({ statement: insertEntry, parameters })))
    : noStatements

const inTransaction = (rows: ReadonlyArray<RowWithFacts>, hook: UsageHookShape) => (connection: Connection) => {
  const run = (statement: string, parameters: ReadonlyArray<Column> = []) =>
    connection.executeRaw(statement, parameters)
  const all = Effect.forEach(
    [...hook.statementsFor(rows), ...statementsOf(rows), ...entryStatements(rows)],
    ({ parameters, statement }) => run(statement, parameters),
    { discard: true }
  )
  return run("BEGIN IMMEDIATE").pipe(
    Effect.zipRight(Effect.tapErrorCause(Effect.zipRight(all, run("COMMIT")), () => Effect.ignore(run("ROLLBACK"))))
  )
}

/**
 * All rows or none; those that are in the table already are skipped. With `waitForDisk` they would survive a power cut when this is
 * done, else after `LateSync.syncLog`. Blocks the event loop for about a millisecond per 250 rows.
 */
export const insert = (
  sql: SqlClient.SqlClient,
  rows: ReadonlyArray<RowWithFacts>,
  waitForDisk: boolean,
  hook: UsageHookShape = noHook
): Effect.Effect<void, StoreError> => {
  const inserting: Effect.Effect<unknown, SqlError> = waitForDisk
    ? untilFree(Effect.scoped(Effect.flatMap(sql.reserve, inTransaction(rows, hook))))
    : withLateSync(sql, inTransaction(rows, hook))
  return inserting.pipe(
    Effect.zipRight(Effect.sync(hook.committed)),
    Effect.uninterruptible,
    Effect.mapError(named("UsageJournal.flush"))
  )
}
