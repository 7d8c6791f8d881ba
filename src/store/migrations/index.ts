/** The migrations. Forward only; the numbers rise from 1 and the last one is the schema version. */
import type * as SqlClient from "@effect/sql/SqlClient"
import type * as Effect from "effect/Effect"
import { migrations as all } from "./all.generated.ts"

export type Migrations = Readonly<Record<string, Effect.Effect<void, unknown, SqlClient.SqlClient>>>

export const migrations: Migrations = all

/**
 * Numbers of migrations that a gateway of the version before cannot live with, as one does that runs beside the first one of a new version: they remove or
 * rename what it writes. Where gateways share a database they wait until no older one runs. Split such a change in two where that can be done: first add,
 * and remove in the version after.
 */
export const breaking: ReadonlySet<number> = new Set<number>([])

/** The schema version a database has after all of these ran. */
export const versionOf = (those: Migrations): number =>
  Math.max(0, ...Object.keys(those).map((name) => Number.parseInt(name, 10)))
