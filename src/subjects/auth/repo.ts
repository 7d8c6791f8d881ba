/** Admin sessions, by the hash of their cookie. */
import * as SqlClient from "@effect/sql/SqlClient"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import { type Session, sessionWays } from "./entity.ts"
import { MaybeText, Text, Whole } from "../../store/engine/Columns.ts"
import type { AlreadyStored, StoreError } from "../../store/Errors.ts"
import * as Table from "../../store/engine/Table.ts"

export class SessionRepo extends Context.Tag("gateway/subjects/auth/SessionRepo")<
  SessionRepo,
  {
    /** Newest first. */
    readonly list: Effect.Effect<ReadonlyArray<Session>, StoreError>
    readonly get: (idHash: string) => Effect.Effect<Session | null, StoreError>
    readonly insert: (session: Session) => Effect.Effect<void, StoreError | AlreadyStored>
    /** Replaces the record; false when the session no longer exists. */
    readonly update: (session: Session) => Effect.Effect<boolean, StoreError | AlreadyStored>
    readonly remove: (idHash: string) => Effect.Effect<boolean, StoreError>
    /** Ends every session, for a change of the password. */
    readonly removeAll: Effect.Effect<void, StoreError>
    readonly removeExpired: (nowMs: number) => Effect.Effect<void, StoreError>
  }
>() {}

const Row = Schema.Struct({
  idHash: Text,
  createdAtMs: Whole,
  lastSeenAtMs: Whole,
  expiresAtMs: Whole,
  via: Schema.Literal(...sessionWays),
  address: Text,
  userAgent: Text,
  userId: MaybeText,
  issuerId: MaybeText
})

export const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const table = Table.make(sql, "sessions", Row)

  const list = Effect.withSpan(table.select("SessionRepo.list", sql`ORDER BY created_at_ms DESC`), "SessionRepo.list")
  const get = Effect.fn("SessionRepo.get")((idHash: string) =>
    table.first("SessionRepo.get", sql`WHERE id_hash = ${idHash}`)
  )
  const insert = Effect.fn("SessionRepo.insert")((session: Session) => table.insert("SessionRepo.insert", session))
  const update = Effect.fn("SessionRepo.update")((session: Session) =>
    table.update("SessionRepo.update", sql`id_hash = ${session.idHash}`, session)
  )
  const remove = Effect.fn("SessionRepo.remove")((idHash: string) =>
    table.remove("SessionRepo.remove", sql`id_hash = ${idHash}`)
  )
  const removeAll = table
    .remove("SessionRepo.removeAll", sql`TRUE`)
    .pipe(Effect.asVoid, Effect.withSpan("SessionRepo.removeAll"))
  const removeExpired = Effect.fn("SessionRepo.removeExpired")((nowMs: number) =>
    Effect.asVoid(table.remove("SessionRepo.removeExpired", sql`expires_at_ms <= ${nowMs}`))
  )
  return SessionRepo.of({ list, get, insert, update, remove, removeAll, removeExpired })
})

export const layer: Layer.Layer<SessionRepo, never, SqlClient.SqlClient> = Layer.effect(SessionRepo, make)
