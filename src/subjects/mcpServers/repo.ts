/** Registered MCP servers. Their headers and programs are encrypted. */
import * as SqlClient from "@effect/sql/SqlClient"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import type { McpServer } from "./entity.ts"
import { Flag, Json, MaybeText, Text, Whole } from "../../store/engine/Columns.ts"
import type { AlreadyStored, StoreError } from "../../store/Errors.ts"
import { SecretHeaders, sealedColumn, SecretText, type Stored } from "../../store/secrets/SealedColumns.ts"
import { Secrets } from "../../store/secrets/Secrets.ts"
import * as Table from "../../store/engine/Table.ts"

export type StoredMcpServer = Stored<McpServer>

export class McpServerRepo extends Context.Tag("gateway/subjects/mcpServers/McpServerRepo")<
  McpServerRepo,
  {
    /** Oldest first. */
    readonly list: Effect.Effect<ReadonlyArray<StoredMcpServer>, StoreError>
    readonly get: (id: string) => Effect.Effect<StoredMcpServer | null, StoreError>
    /** A name already in use is an `AlreadyStored`. */
    readonly insert: (server: McpServer) => Effect.Effect<void, StoreError | AlreadyStored>
    /** Replaces the record; locked secrets stay as they are unless new ones are given. False when there is no such id. */
    readonly update: (server: McpServer) => Effect.Effect<boolean, StoreError | AlreadyStored>
    readonly remove: (id: string) => Effect.Effect<boolean, StoreError>
  }
>() {}

const Row = Schema.Struct({
  id: Text,
  name: Text,
  url: MaybeText,
  headers: MaybeText,
  program: MaybeText,
  timeoutMs: Whole,
  isEnabled: Flag,
  allowedTools: Schema.NullOr(Json(Schema.Array(Text))),
  allowedKeys: Schema.NullOr(Json(Schema.Array(Text))),
  createdAtMs: Whole,
  updatedAtMs: Whole
})
type Row = typeof Row.Type

const Program = Schema.parseJson(
  Schema.Struct({
    command: Text,
    args: Schema.Array(SecretText),
    env: Schema.Record({ key: Schema.String, value: SecretText })
  })
)

export const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const secrets = yield* Secrets
  const table = Table.make(sql, "mcp_servers", Row)
  const headers = sealedColumn(secrets, "mcp_servers", "headers", SecretHeaders)
  const program = sealedColumn(secrets, "mcp_servers", "program", Program)

  const toStored = (row: Row): StoredMcpServer => {
    const [ofHeaders, ofProgram] = [headers.open(row.id, row.headers), program.open(row.id, row.program)]
    return {
      ...row,
      headers: ofHeaders.value,
      program: ofProgram.value,
      locked: ofHeaders.locked || ofProgram.locked
    }
  }
  const toRow = (server: McpServer, before: Row | null): Row => ({
    ...server,
    headers: headers.reseal(server.id, server.headers, before?.headers ?? null),
    program: program.reseal(server.id, server.program, before?.program ?? null)
  })
  const rowOf = (operation: string, id: string) => table.first(operation, sql`WHERE id = ${id}`)

  const list = Effect.withSpan(
    Effect.map(table.select("McpServerRepo.list", sql`ORDER BY created_at_ms, id`), (rows) => rows.map(toStored)),
    "McpServerRepo.list"
  )
  const get = Effect.fn("McpServerRepo.get")((id: string) =>
    Effect.map(rowOf("McpServerRepo.get", id), (row) => (row === null ? null : toStored(row)))
  )
  const insert = Effect.fn("McpServerRepo.insert")((server: McpServer) =>
    table.insert("McpServerRepo.insert", toRow(server, null))
  )
  const update = Effect.fn("McpServerRepo.update")(function* (server: McpServer) {
    const before = yield* rowOf("McpServerRepo.update", server.id)
    if (before === null) return false
    return yield* table.update("McpServerRepo.update", sql`id = ${server.id}`, toRow(server, before))
  })
  const remove = Effect.fn("McpServerRepo.remove")((id: string) =>
    table.remove("McpServerRepo.remove", sql`id = ${id}`)
  )
  return McpServerRepo.of({ list, get, insert, update, remove })
})

export const layer: Layer.Layer<McpServerRepo, never, SqlClient.SqlClient | Secrets> = Layer.effect(McpServerRepo, make)
