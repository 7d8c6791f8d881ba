/** Uploaded files. Their bodies are on disk; see `subjects/files/FileBodies`. */
import * as SqlClient from "@effect/sql/SqlClient"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import { MaybeWhole, Text, Whole } from "../../store/engine/Columns.ts"
import type { StoreError } from "../../store/Errors.ts"
import * as Table from "../../store/engine/Table.ts"

export const FileRow = Schema.Struct({
  id: Text,
  /** Id of an API key; empty for callers without one. */
  owner: Text,
  filename: Text,
  purpose: Text,
  bytes: Whole,
  /** SHA-256 of the body, in hexadecimal. */
  sha256: Text,
  createdAtMs: Whole,
  /** Null: it is kept until it is deleted. */
  expiresAtMs: MaybeWhole
})
export type FileRow = typeof FileRow.Type

export interface FilePage {
  readonly owner: string
  readonly purpose: string | null
  /** The page begins behind this id. */
  readonly after: string | null
  readonly order: "asc" | "desc"
  readonly limit: number
  /** Files that have expired by then are left out. */
  readonly nowMs: number
}

export class FileRepo extends Context.Tag("gateway/subjects/files/FileRepo")<
  FileRepo,
  {
    /** False when the files of the owner would then have more than `quotaBytes`; nothing is written then. */
    readonly insert: (row: FileRow, quotaBytes: number) => Effect.Effect<boolean, StoreError>
    readonly find: (owner: string, id: string, nowMs: number) => Effect.Effect<FileRow | null, StoreError>
    readonly page: (page: FilePage) => Effect.Effect<ReadonlyArray<FileRow>, StoreError>
    /** Bytes of all files of the owner that have not expired. */
    readonly used: (owner: string, nowMs: number) => Effect.Effect<number, StoreError>
    readonly remove: (owner: string, id: string) => Effect.Effect<boolean, StoreError>
    /** Removes the rows that have expired. */
    readonly removeExpired: (nowMs: number) => Effect.Effect<void, StoreError>
    readonly ids: Effect.Effect<ReadonlyArray<string>, StoreError>
    readonly removeAll: (ids: ReadonlyArray<string>) => Effect.Effect<void, StoreError>
  }
>() {}

const Used = Schema.Tuple(Schema.Struct({ bytes: Schema.Number }))
const Ids = Schema.Array(Schema.Struct({ id: Schema.String }))

export const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const table = Table.make(sql, "files", FileRow)
  const alive = (nowMs: number) => sql`(expires_at_ms IS NULL OR expires_at_ms > ${nowMs})`

  const insert = Effect.fn("FileRepo.insert")(({ bytes, ...row }: FileRow, quotaBytes: number) =>
    sql`
      INSERT INTO files (id, owner, filename, purpose, bytes, sha256, created_at_ms, expires_at_ms)
      SELECT ${row.id}, ${row.owner}, ${row.filename}, ${row.purpose}, ${bytes}, ${row.sha256}, ${row.createdAtMs}, ${row.expiresAtMs}
      WHERE (SELECT coalesce(sum(bytes), 0) FROM files WHERE owner = ${row.owner} AND ${alive(row.createdAtMs)}) + ${bytes} <= ${quotaBytes}
      RETURNING 1`.pipe(
      Effect.mapBoth({ onFailure: Table.named("FileRepo.insert"), onSuccess: (rows) => rows.length > 0 })
    )
  )
  const used = Effect.fn("FileRepo.used")((owner: string, nowMs: number) =>
    sql`SELECT coalesce(sum(bytes), 0) AS bytes FROM files WHERE owner = ${owner} AND ${alive(nowMs)}`.pipe(
      Effect.flatMap(Schema.decodeUnknown(Used)),
      Effect.mapBoth({ onFailure: Table.named("FileRepo.used"), onSuccess: ([{ bytes }]) => bytes })
    )
  )
  const page = Effect.fn("FileRepo.page")(({ after, limit, nowMs, order, owner, purpose }: FilePage) => {
    const ofPurpose = purpose === null ? sql`` : sql`AND purpose = ${purpose}`
    const behind = after === null ? sql`` : order === "asc" ? sql`AND id > ${after}` : sql`AND id < ${after}`
    const direction = sql.literal(order === "asc" ? "ASC" : "DESC")
    return table.select(
      "FileRepo.page",
      sql`WHERE owner = ${owner} AND ${alive(nowMs)} ${ofPurpose} ${behind} ORDER BY id ${direction} LIMIT ${limit}`
    )
  })
  return FileRepo.of({
    insert,
    used,
    page,
    find: (owner, id, nowMs) =>
      table.first("FileRepo.find", sql`WHERE id = ${id} AND owner = ${owner} AND ${alive(nowMs)}`),
    remove: (owner, id) => table.remove("FileRepo.remove", sql`id = ${id} AND owner = ${owner}`),
    removeExpired: (nowMs) =>
      Effect.asVoid(
        table.remove("FileRepo.removeExpired", sql`expires_at_ms IS NOT NULL AND expires_at_ms <= ${nowMs}`)
      ),
    ids: sql`SELECT id FROM files`.pipe(
      Effect.flatMap(Schema.decodeUnknown(Ids)),
      Effect.mapBoth({ onFailure: Table.named("FileRepo.ids"), onSuccess: (rows) => rows.map(({ id }) => id) })
    ),
    removeAll: Effect.fn("FileRepo.removeAll")((ids: ReadonlyArray<string>) =>
      Effect.forEach(ids, (id) => sql`DELETE FROM files WHERE id = ${id}`, { discard: true }).pipe(
        sql.withTransaction,
        Effect.mapError(Table.named("FileRepo.removeAll"))
      )
    )
  })
})

export const layer: Layer.Layer<FileRepo, never, SqlClient.SqlClient> = Layer.effect(FileRepo, make)
