/** Databases for tests over Postgres: each is a schema of its own on the server of the run. */
import * as SqlClient from "@effect/sql/SqlClient"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import { connect, type PostgresOptions } from "../../../src/store/engine/postgres/Client.ts"
import { open } from "../../../src/store/postgres/Database.ts"

let made = 0

/** Options of a client whose tables are in a schema. */
export const optionsIn = (url: string, schema: string): PostgresOptions => {
  const address = new URL(url)
  address.searchParams.set("options", `-c search_path=${schema}`)
  return { url: Redacted.make(address.href), maxConnections: 4, connectTimeoutMs: 20_000 }
}

/** The options of an empty schema, which goes when the scope closes. */
export const emptySchema = (url: string) =>
  Effect.gen(function* () {
    const schema = `test_${process.pid}_${(made += 1)}_${(yield* Effect.clockWith((clock) => clock.currentTimeNanos)).toString(36)}`
    const run = (text: string) =>
      Effect.scoped(Effect.flatMap(connect(optionsIn(url, "public")), (sql) => sql.unsafe(text))).pipe(Effect.orDie)
    yield* Effect.acquireRelease(run(`CREATE SCHEMA ${schema}`), () => run(`DROP SCHEMA ${schema} CASCADE`))
    return optionsIn(url, schema)
  })

/** An empty database with the whole schema. */
export const layerEmpty = (url: string): Layer.Layer<SqlClient.SqlClient> =>
  Layer.scoped(SqlClient.SqlClient, Effect.orDie(Effect.flatMap(emptySchema(url), (options) => open(options))))
