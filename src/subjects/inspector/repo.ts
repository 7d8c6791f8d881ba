/** Recorded sessions of the traffic inspector. Their records are encrypted; what they hold is the inspector's business, here it is text. */
import * as SqlClient from "@effect/sql/SqlClient"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import { Flag, MaybeText, MaybeWhole, Text, Whole } from "../../store/engine/Columns.ts"
import type { StoreError } from "../../store/Errors.ts"
import { sealedColumn } from "../../store/secrets/SealedColumns.ts"
import { Secrets } from "../../store/secrets/Secrets.ts"
import * as Table from "../../store/engine/Table.ts"

export interface StoredSession {
  readonly id: string
  readonly name: string | null
  readonly state: "recording" | "saved" | "interrupted"
  readonly profile: string
  readonly startedAtMs: number
  readonly endedAtMs: number | null
  readonly requestCount: number
  /** Number of bytes of all its records, before they are encrypted. */
  readonly bytes: number
  readonly truncated: boolean
}

export interface StoredRecord {
  readonly recordId: string
  /** Position among the others. */
  readonly seq: number
  readonly content: string
}

export class InspectorSessionRepo extends Context.Tag("gateway/subjects/inspector/InspectorSessionRepo")<
  InspectorSessionRepo,
  {
    /** False: another one is recording. */
    readonly insert: (session: StoredSession) => Effect.Effect<boolean, StoreError>
    /** False when there is none with its id. */
    readonly update: (session: StoredSession) => Effect.Effect<boolean, StoreError>
    /** Adds records or replaces those with the same id, and writes the session with them, all or nothing. */
    readonly save: (
      session: StoredSession,
      records: ReadonlyArray<StoredRecord>,
      nowMs: number
    ) => Effect.Effect<void, StoreError>
    /** Newest first. */
    readonly list: Effect.Effect<ReadonlyArray<StoredSession>, StoreError>
    readonly get: (id: string) => Effect.Effect<StoredSession | null, StoreError>
    /** Removes it with its records; false when there is none. */
    readonly remove: (id: string) => Effect.Effect<boolean, StoreError>
    /**
     * Lists the records in their order, beginning behind a position. Those that cannot be decrypted are left out, and
     * counted in `last`.
     */
    readonly records: (
      sessionId: string,
      after: number,
      limit: number
    ) => Effect.Effect<{ readonly records: ReadonlyArray<StoredRecord>; readonly last: number | null }, StoreError>
    /** Ends what a crash left recording, at the time of its last record. */
    readonly interrupt: Effect.Effect<void, StoreError>
  }
>() {}

const SessionRow = Schema.Struct({
  id: Text,
  name: MaybeText,
  state: Schema.Literal("recording", "saved", "interrupted"),
  profile: Text,
  startedAtMs: Whole,
  endedAtMs: MaybeWhole,
  requestCount: Whole,
  bytes: Whole,
  truncated: Flag
})

const RecordRow = Schema.Struct({
  id: Text,
  sessionId: Text,
  recordId: Text,
  seq: Whole,
  bytes: Whole,
  savedAtMs: Whole,
  content: MaybeText
})

export const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const secrets = yield* Secrets
  const sessions = Table.make(sql, "inspector_sessions", SessionRow)
  const rows = Table.make(sql, "inspector_records", RecordRow)
  const sealed = sealedColumn(secrets, "inspector_records", "content", Schema.String)

  const update = Effect.fn("InspectorSessionRepo.update")((session: StoredSession) =>
    sessions
      .update("InspectorSessionRepo.update", sql`id = ${session.id}`, session)
      .pipe(Effect.catchTag("AlreadyStored", () => Effect.succeed(false)))
  )

  const save = Effect.fn("InspectorSessionRepo.save")(
    (session: StoredSession, records: ReadonlyArray<StoredRecord>, nowMs: number) =>
      Effect.gen(function* () {
        if (!(yield* update(session))) return
        for (const { content, recordId, seq } of records) {
          const id = `${session.id}/${recordId}`
          const row = {
            id,
            sessionId: session.id,
            recordId,
            seq,
            bytes: Buffer.byteLength(content),
            savedAtMs: Math.trunc(nowMs),
            content: sealed.seal(id, content)
          }
          yield* sql`INSERT INTO inspector_records ${sql.insert(row)} ON CONFLICT (id) DO UPDATE SET
            bytes = excluded.bytes, saved_at_ms = excluded.saved_at_ms, content = excluded.content`
        }
      }).pipe(sql.withTransaction, Effect.mapError(Table.named("InspectorSessionRepo.save")))
  )

  const records = Effect.fn("InspectorSessionRepo.records")((sessionId: string, after: number, limit: number) =>
    Effect.map(
      rows.select(
        "InspectorSessionRepo.records",
        sql`WHERE session_id = ${sessionId} AND seq > ${after} ORDER BY seq LIMIT ${limit}`
      ),
      (found) => ({
        records: found.flatMap(({ content, id, recordId, seq }) => {
          const { value } = sealed.open(id, content)
          return value === null ? [] : [{ recordId, seq, content: value }]
        }),
        last: found.at(-1)?.seq ?? null
      })
    )
  )

  return InspectorSessionRepo.of({
    insert: Effect.fn("InspectorSessionRepo.insert")((session: StoredSession) =>
      sessions.insert("InspectorSessionRepo.insert", session).pipe(
        Effect.as(true),
        Effect.catchTag("AlreadyStored", () => Effect.succeed(false))
      )
    ),
    update,
    save,
    list: sessions.select("InspectorSessionRepo.list", sql`ORDER BY started_at_ms DESC, id DESC LIMIT 1000`),
    get: Effect.fn("InspectorSessionRepo.get")((id: string) =>
      sessions.first("InspectorSessionRepo.get", sql`WHERE id = ${id}`)
    ),
    remove: Effect.fn("InspectorSessionRepo.remove")((id: string) =>
      Effect.zipRight(
        Effect.mapError(
          sql`DELETE FROM inspector_records WHERE session_id = ${id}`,
          Table.named("InspectorSessionRepo.remove")
        ),
        sessions.remove("InspectorSessionRepo.remove", sql`id = ${id}`)
      )
    ),
    records,
    interrupt: sql`UPDATE inspector_sessions SET state = 'interrupted', ended_at_ms = coalesce(
        (SELECT max(saved_at_ms) FROM inspector_records WHERE session_id = inspector_sessions.id), started_at_ms)
      WHERE state = 'recording'`.pipe(Effect.asVoid, Effect.mapError(Table.named("InspectorSessionRepo.interrupt")))
  })
})

export const layer: Layer.Layer<InspectorSessionRepo, never, SqlClient.SqlClient | Secrets> = Layer.effect(
  InspectorSessionRepo,
  make
)
