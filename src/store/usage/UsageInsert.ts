/** Brings usage rows into their table, many in one transaction. */
import type * as SqlClient from "@effect/sql/SqlClient"
import type { Connection } from "@effect/sql/SqlConnection"
import type { SqlError } from "@effect/sql/SqlError"
import * as Effect from "effect/Effect"
import type { UsageRow } from "../../contract/domain/Usage.ts"
import type { UsageFacts } from "../../contract/domain/UsageFacts.ts"
import type { Column } from "../engine/Columns.ts"
import type { StoreError } from "../Errors.ts"
import { untilFree } from "../engine/WriteQueue.ts"
import { withLateSync } from "../engine/LateSync.ts"
import { named } from "../engine/Table.ts"
import { noHook, type Statement, type UsageHookShape } from "./UsageHook.ts"
import { addNode, addParameters, inserts, sharedParameters } from "./UsageColumns.ts"
import { entriesOf, insertEntry } from "./LedgerColumns.ts"
import { type FactsLine, factsLine } from "./UsageLines.ts"
import { engineOf, isPostgres, listed } from "../engine/Engine.ts"
import { listsOf, mostUnnested, unnested } from "./UsageUnnest.ts"

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

type Groups = ReadonlyMap<SharedFacts, ReadonlyArray<UsageRow>>

const groupsOf = (rows: ReadonlyArray<RowWithFacts>): Groups => {
  const groups = new Map<SharedFacts, Array<UsageRow>>()
  for (const { facts, row } of rows) {
    const group = groups.get(facts)
    if (group === undefined) groups.set(facts, [row])
    else group.push(row)
  }
  return groups
}

/** Each group by as few statements as there are. */
const statementsOf = (groups: Groups, node: string | null): ReadonlyArray<Statement> => {
  const all: Array<Statement> = []
  for (const [facts, group] of groups) {
    let done = 0
    for (const { rows: size, statement } of inserts) {
      for (; group.length - done >= size; done += size) {
        const parameters = [...facts.parameters]
        addNode(parameters, node)
        for (const row of group.slice(done, done + size)) addParameters(parameters, row)
        all.push({ statement, parameters })
      }
    }
  }
  return all
}

/** All rows by one statement for each part of them. */
const unnestedOf = (rows: ReadonlyArray<RowWithFacts>, node: string | null): ReadonlyArray<Statement> =>
  Array.from({ length: Math.ceil(rows.length / mostUnnested) }, (_, part) => {
    const places = new Map<SharedFacts, number>()
    const each: Array<number> = []
    const own: Array<UsageRow> = []
    for (const { facts, row } of rows.slice(part * mostUnnested, (part + 1) * mostUnnested)) {
      const place = places.get(facts) ?? places.size
      if (place === places.size) places.set(facts, place)
      each.push(place)
      own.push(row)
    }
    const shared = Array.from(places.keys(), ({ parameters }) => {
      const all = [...parameters]
      addNode(all, node)
      return all
    })
    return { statement: unnested, parameters: listsOf({ facts: shared, rows: own, places: each }) }
  })

/** Ids of rows that are in the table, of some. */
export const idsIn = (
  sql: SqlClient.SqlClient,
  ids: ReadonlyArray<string>
): Effect.Effect<ReadonlySet<string>, SqlError> =>
  Effect.map(
    sql<{ readonly id: string }>`
        SELECT id FROM usage_log WHERE id IN (${listed(sql, ids)})`,
    (rows): ReadonlySet<string> => new Set(rows.map(({ id }) => id))
  )

/** Parts of an insert besides the rows. */
export interface Beside {
  readonly hook: UsageHookShape
  /** Name of the gateway that writes, of several on one database. */
  readonly node: string | null
}

const nothingBeside: Beside = { hook: noHook, node: null }

const noStatements: ReadonlyArray<Statement> = []

const entryStatements = (rows: ReadonlyArray<RowWithFacts>): ReadonlyArray<Statement> =>
  rows.some(({ row }) => row.calls !== null)
    ? rows.flatMap(({ row }) => entriesOf(row).map((parameters) => ({ statement: insertEntry, parameters })))
    : noStatements

/** Over Postgres nothing is read that is then written: rows that another node writes as well are skipped. */
const inTransaction =
  (sql: SqlClient.SqlClient, rows: ReadonlyArray<RowWithFacts>, { hook, node }: Beside) =>
  (connection: Connection) => {
    const isUnnested = isPostgres(sql)
    const inserting = isUnnested ? unnestedOf(rows, node) : statementsOf(groupsOf(rows), node)
    const run = (statement: string, parameters: Statement["parameters"] = []) =>
      connection.executeRaw(statement, parameters)
    const all = Effect.forEach(
      [...hook.statementsFor(rows), ...inserting, ...entryStatements(rows)],
      ({ parameters, statement }) => run(statement, parameters),
      { discard: true }
    )
    return run(isUnnested ? "BEGIN" : "BEGIN IMMEDIATE").pipe(
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
  beside: Beside = nothingBeside
): Effect.Effect<void, StoreError> => {
  const inserting: Effect.Effect<unknown, SqlError> =
    waitForDisk && engineOf(sql) === undefined
      ? untilFree(Effect.scoped(Effect.flatMap(sql.reserve, inTransaction(sql, rows, beside))))
      : withLateSync(sql, inTransaction(sql, rows, beside))
  return inserting.pipe(
    Effect.zipRight(Effect.sync(beside.hook.committed)),
    Effect.uninterruptible,
    Effect.mapError(named("UsageJournal.flush"))
  )
}
