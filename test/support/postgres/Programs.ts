/**
 * Databases of Postgres for the programs that tests start: with `TEST_STORE=postgres` (`TEST_STORE=postgres npm run attack`) each data folder has an
 * empty one beside it, on the server of the run. What a test knows about the file of SQLite is skipped by name then.
 */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Redacted from "effect/Redacted"
import * as Scope from "effect/Scope"
import Database from "better-sqlite3"
import { join } from "node:path"
import { connect, usualOptions } from "../../../src/store/engine/postgres/Client.ts"
import { emptySchema } from "./Schemas.ts"
import { postgresUrl } from "./Server.ts"

/** Runs the suites of programs over Postgres. */
export const isOverPostgres = process.env["TEST_STORE"] === "postgres"

/** Said in the name of what is skipped there. */
export const ofSqlite = isOverPostgres ? " (skipped over Postgres: it is about the file of SQLite)" : ""

interface Made {
  readonly url: Promise<string>
  readonly scope: Scope.CloseableScope
}

const made = new Map<string, Made>()

const make = async (scope: Scope.CloseableScope): Promise<string> => {
  const server = await postgresUrl()
  if (server === null) throw new Error("TEST_STORE=postgres needs a server of Postgres: set TEST_POSTGRES_URL")
  const options = await Effect.runPromise(Scope.extend(emptySchema(server), scope))
  return Redacted.value(options.url)
}

/** Variables that put a program with this data folder on its database: none over SQLite. */
export const storeOf = async (dataDir: string): Promise<Readonly<Record<string, string>>> => {
  if (!isOverPostgres) return {}
  let database = made.get(dataDir)
  if (database === undefined) {
    const scope = Effect.runSync(Scope.make())
    database = { url: make(scope), scope }
    made.set(dataDir, database)
  }
  return { GATEWAY_DATABASE_URL: await database.url }
}

/** Runs a statement beside the program: on the file of its data folder, or on its database. */
export const rowsBeside = async (
  dataDir: string,
  statement: string,
  ...values: ReadonlyArray<string | number | null>
): Promise<ReadonlyArray<Readonly<Record<string, unknown>>>> => {
  const { GATEWAY_DATABASE_URL: url } = await storeOf(dataDir)
  if (url !== undefined) {
    const options = { ...usualOptions, maxConnections: 2, url: Redacted.make(url) }
    return Effect.runPromise(
      Effect.scoped(Effect.flatMap(connect(options), (sql) => sql.unsafe<Record<string, unknown>>(statement, values)))
    )
  }
  const database = new Database(join(dataDir, "gateway.sqlite"))
  try {
    const prepared = database.prepare<Array<string | number | null>, Record<string, unknown>>(statement)
    if (prepared.reader) return prepared.all(...values)
    prepared.run(...values)
    return []
  } finally {
    database.close()
  }
}

/** Removes the database of a data folder, if there is one. */
export const dropStoreOf = async (dataDir: string): Promise<void> => {
  const database = made.get(dataDir)
  if (database === undefined) return
  made.delete(dataDir)
  await database.url.catch(() => null)
  await Effect.runPromise(Scope.close(database.scope, Exit.void))
}
