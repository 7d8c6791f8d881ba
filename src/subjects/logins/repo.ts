/** Logins at the command line that wait for a person, by the hash of the secret that their command line asks with. */
import * as SqlClient from "@effect/sql/SqlClient"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import { MaybeText, MaybeWhole, Text, Whole } from "../../store/engine/Columns.ts"
import * as Table from "../../store/engine/Table.ts"
import type { AlreadyStored, StoreError } from "../../store/Errors.ts"
import { type LoginRequest, type LoginState, loginStates, loginWays } from "./entity.ts"

export class LoginRepo extends Context.Tag("gateway/subjects/logins/LoginRepo")<
  LoginRepo,
  {
    readonly get: (idHash: string) => Effect.Effect<LoginRequest | null, StoreError>
    readonly byCode: (codeHash: string) => Effect.Effect<LoginRequest | null, StoreError>
    readonly insert: (request: LoginRequest) => Effect.Effect<void, StoreError | AlreadyStored>
    /** Replaces the row where it has this state still; false: another process was first. */
    readonly change: (before: LoginState, request: LoginRequest) => Effect.Effect<boolean, StoreError>
    /** Removes the row where it has this state still; false: another process was first. */
    readonly take: (idHash: string, state: LoginState) => Effect.Effect<boolean, StoreError>
    readonly remove: (idHash: string) => Effect.Effect<void, StoreError>
    readonly removeExpired: (nowMs: number) => Effect.Effect<void, StoreError>
    /** Rows that wait, in all and of an address. */
    readonly waiting: (address: string) => Effect.Effect<{ readonly all: number; readonly own: number }, StoreError>
  }
>() {}

const Row = Schema.Struct({
  idHash: Text,
  codeHash: Text,
  way: Schema.Literal(...loginWays),
  state: Schema.Literal(...loginStates),
  machine: Text,
  address: Text,
  port: MaybeWhole,
  challenge: MaybeText,
  clientState: MaybeText,
  grantHash: MaybeText,
  shownTo: MaybeText,
  userId: MaybeText,
  issuerId: MaybeText,
  intervalMs: Whole,
  polledAtMs: MaybeWhole,
  createdAtMs: Whole,
  expiresAtMs: Whole
})

export const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const table = Table.make(sql, "login_requests", Row)
  const get = Effect.fn("LoginRepo.get")((idHash: string) =>
    table.first("LoginRepo.get", sql`WHERE id_hash = ${idHash}`)
  )
  const byCode = Effect.fn("LoginRepo.byCode")((codeHash: string) =>
    table.first("LoginRepo.byCode", sql`WHERE code_hash = ${codeHash}`)
  )
  const insert = Effect.fn("LoginRepo.insert")((request: LoginRequest) => table.insert("LoginRepo.insert", request))
  const change = Effect.fn("LoginRepo.change")((before: LoginState, request: LoginRequest) =>
    Effect.catchTag(
      table.update("LoginRepo.change", sql`id_hash = ${request.idHash} AND state = ${before}`, request),
      "AlreadyStored",
      Effect.die
    )
  )
  const take = Effect.fn("LoginRepo.take")((idHash: string, state: LoginState) =>
    table.remove("LoginRepo.take", sql`id_hash = ${idHash} AND state = ${state}`)
  )
  const remove = Effect.fn("LoginRepo.remove")((idHash: string) =>
    Effect.asVoid(table.remove("LoginRepo.remove", sql`id_hash = ${idHash}`))
  )
  const removeExpired = Effect.fn("LoginRepo.removeExpired")((nowMs: number) =>
    Effect.asVoid(table.remove("LoginRepo.removeExpired", sql`expires_at_ms <= ${nowMs}`))
  )
  const waiting = Effect.fn("LoginRepo.waiting")((address: string) =>
    sql<{ readonly address: string }>`SELECT address FROM login_requests`.pipe(
      Effect.mapError(Table.named("LoginRepo.waiting")),
      Effect.map((rows) => ({ all: rows.length, own: rows.filter((row) => row.address === address).length }))
    )
  )
  return LoginRepo.of({ get, byCode, insert, change, take, remove, removeExpired, waiting })
})

export const layer: Layer.Layer<LoginRepo, never, SqlClient.SqlClient> = Layer.effect(LoginRepo, make)
