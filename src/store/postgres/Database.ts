/** The layer over a database of Postgres: connected, of a version that is known, and with this gateway's schema. */
import * as SqlClient from "@effect/sql/SqlClient"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { Scope } from "effect/Scope"
import { DatabaseUnreachable, reasonOf, type StoreFailure, StoreError } from "../Errors.ts"
import { type Migrations, migrations } from "../migrations/index.ts"
import { connect, type PostgresOptions } from "../engine/postgres/Client.ts"
import { refuseUnusable } from "../engine/postgres/Checks.ts"
import { addressIn } from "../engine/postgres/Failures.ts"
import { migrate } from "./Migrations.ts"

/** Opens the database for the life of the scope; the failure of one that cannot be used is a sentence (`describeStoreFailure`). */
export const open = (
  options: PostgresOptions,
  all: Migrations = migrations
): Effect.Effect<SqlClient.SqlClient, StoreFailure, Scope> =>
  Effect.gen(function* () {
    const address = addressIn(options.url)
    const sql = yield* connect(options)
    yield* refuseUnusable(sql, address)
    yield* migrate(sql, all, address)
    return sql
  }).pipe(
    Effect.catchTag("SqlError", (error) =>
      Effect.fail(
        error.cause instanceof DatabaseUnreachable
          ? error.cause
          : new StoreError({ operation: `Opening ${addressIn(options.url)}`, cause: new Error(reasonOf(error)) })
      )
    )
  )

export const layerOf = (options: PostgresOptions): Layer.Layer<SqlClient.SqlClient, StoreFailure> =>
  Layer.scoped(SqlClient.SqlClient, open(options))
