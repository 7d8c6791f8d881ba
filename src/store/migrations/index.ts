/** The migrations. Forward only; the numbers rise from 1 and the last one is the schema version. */
import type * as SqlClient from "@effect/sql/SqlClient"
import type * as Effect from "effect/Effect"
import { migrations as all } from "./all.generated.ts"

export type Migrations = Readonly<Record<string, Effect.Effect<void, unknown, SqlClient.SqlClient>>>

export const migrations: Migrations = all

/** The schema version a database has after all of these ran. */
export const versionOf = (those: Migrations): number =>
  Math.max(0, ...Object.keys(those).map((name) => Number.parseInt(name, 10)))
