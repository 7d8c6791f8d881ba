/**
 * The statements every repository needs, over one table and one row schema. The client converts camelCase names to snake_case columns
 * and back.
 */
import type * as SqlClient from "@effect/sql/SqlClient"
import type { SqlError } from "@effect/sql/SqlError"
import type { Fragment } from "@effect/sql/Statement"
import * as Arr from "effect/Array"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import { snakeToCamel } from "effect/String"
import type { Column } from "./Columns.ts"
import { byEngine } from "./Engine.ts"
import { codeOf, AlreadyStored, reasonOf, StoreError } from "../Errors.ts"

export interface Table<A> {
  /** Rows of `SELECT * FROM <table> <rest>`. */
  readonly select: (operation: string, rest: Fragment) => Effect.Effect<ReadonlyArray<A>, StoreError>
  /** All rows, in no certain order. SQLite reads them in parts: many rows at once cost the garbage collector more than reading them. */
  readonly all: (operation: string) => Effect.Effect<ReadonlyArray<A>, StoreError>
  /** The first of them, or null. */
  readonly first: (operation: string, rest: Fragment) => Effect.Effect<A | null, StoreError>
  readonly insert: (operation: string, row: A) => Effect.Effect<void, StoreError | AlreadyStored>
  /** Replaces the row that matches; false when none does. */
  readonly update: (operation: string, where: Fragment, row: A) => Effect.Effect<boolean, StoreError | AlreadyStored>
  /** False when no row matches. */
  readonly remove: (operation: string, where: Fragment) => Effect.Effect<boolean, StoreError>
}

/** Maps a failed statement to a `StoreError` with the name of the operation. */
export const named =
  (operation: string) =>
  (cause: unknown): StoreError =>
    new StoreError({ operation, cause })

/** SQLSTATE of Postgres for a value that another row has. */
const uniqueViolation = "23505"

/** "Key (provider, model_id)=(openai, gpt) already exists." → "provider, modelId". */
const namesIn = (detail: string): string =>
  (/^Key \(([^)]*)\)/.exec(detail)?.[1] ?? "").split(", ").map(snakeToCamel).join(", ")

const detailOf = ({ cause }: SqlError): string =>
  Predicate.hasProperty(cause, "detail") && typeof cause.detail === "string" ? cause.detail : ""

/** "UNIQUE constraint failed: provider_models.provider, provider_models.model_id" → "provider, modelId". */
const conflictIn = (error: SqlError): AlreadyStored | null => {
  const code = codeOf(error)
  if (code === uniqueViolation) return new AlreadyStored({ what: namesIn(detailOf(error)) })
  if (code !== "SQLITE_CONSTRAINT_UNIQUE" && code !== "SQLITE_CONSTRAINT_PRIMARYKEY") return null
  const [, columns = ""] = reasonOf(error).split(": ", 2)
  return new AlreadyStored({ what: columns.replaceAll(/\w+\.(\w+)/g, (_, column: string) => snakeToCamel(column)) })
}

const rowsOfPart = 500

const written =
  (operation: string) =>
  (error: SqlError): StoreError | AlreadyStored =>
    conflictIn(error) ?? new StoreError({ operation, cause: error })

export const make = <A, I extends Readonly<Record<string, Column>>>(
  sql: SqlClient.SqlClient,
  name: string,
  row: Schema.Schema<A, I>,
  /** SQL of the selected columns; all by default. */
  columns = "*"
): Table<A> => {
  const rows = Schema.Array(row)
  // Schema makes and keeps a schema's parser when it is first asked for: not here, because a start reads few of its thirty tables.
  const decode = (found: unknown) => Schema.decodeUnknown(rows)(found)
  const encode = (value: A) => Schema.encode(row)(value)

  const select: Table<A>["select"] = (operation, rest) =>
    sql`SELECT ${sql.literal(columns)} FROM ${sql(name)} ${rest}`.pipe(
      Effect.flatMap(decode),
      Effect.mapError(named(operation))
    )

  const atOnce: Table<A>["all"] = (operation) => select(operation, sql``)

  const inParts: Table<A>["all"] = (operation) =>
    Effect.gen(function* () {
      const found: Array<A> = []
      let after = 0
      for (;;) {
        const part = yield* sql<{
          readonly rowNumber: number
        }>`SELECT rowid AS row_number, ${sql.literal(columns)} FROM ${sql(name)} WHERE rowid > ${after} ORDER BY rowid LIMIT ${rowsOfPart}`
        for (const row of yield* decode(part)) found.push(row)
        const last = part.at(-1)
        if (part.length < rowsOfPart || last === undefined) return found
        after = last.rowNumber
      }
    }).pipe(Effect.mapError(named(operation)))

  const all = byEngine(sql, { sqlite: inParts, postgres: atOnce })

  const first: Table<A>["first"] = (operation, rest) =>
    Effect.map(select(operation, rest), (rows) => Option.getOrNull(Arr.head(rows)))

  const insert: Table<A>["insert"] = (operation, value) =>
    encode(value).pipe(
      Effect.mapError(named(operation)),
      Effect.flatMap((columns) =>
        Effect.mapError(sql`INSERT INTO ${sql(name)} ${sql.insert(columns)}`, written(operation))
      )
    )

  const update: Table<A>["update"] = (operation, where, value) =>
    encode(value).pipe(
      Effect.mapError(named(operation)),
      Effect.flatMap((columns) =>
        Effect.mapError(
          sql`UPDATE ${sql(name)} SET ${sql.update(columns)} WHERE ${where} RETURNING 1`,
          written(operation)
        )
      ),
      Effect.map((hits) => hits.length > 0)
    )

  const remove: Table<A>["remove"] = (operation, where) =>
    Effect.mapBoth(sql`DELETE FROM ${sql(name)} WHERE ${where} RETURNING 1`, {
      onFailure: named(operation),
      onSuccess: (hits) => hits.length > 0
    })

  return { select, all, first, insert, update, remove }
}
