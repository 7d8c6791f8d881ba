/** Registered MCP servers. Their headers and programs are encrypted. */
import * as SqlClient from "@effect/sql/SqlClient"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import type { McpServer } from "./entity.ts"
import { Flag, Json, MaybeText, Text, Whole } from "../../store/engine/Columns.ts"
import { SecretHeaders, sealedColumn, SecretText, type Stored } from "../../store/secrets/SealedColumns.ts"
import { Secrets } from "../../store/secrets/Secrets.ts"
import * as Records from "../../store/engine/Records.ts"

export type StoredMcpServer = Stored<McpServer>

export class McpServerRepo extends Context.Tag("gateway/subjects/mcpServers/McpServerRepo")<
  McpServerRepo,
  Records.Records<StoredMcpServer, McpServer>
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
  const headers = sealedColumn(secrets, "mcp_servers", "headers", SecretHeaders)
  const program = sealedColumn(secrets, "mcp_servers", "program", Program)
  const columns = { headers, program }
  const options = { name: "McpServerRepo", table: "mcp_servers", row: Row }
  return McpServerRepo.of(Records.mapped(sql, options, Records.sealed(Row, columns)))
})

export const layer: Layer.Layer<McpServerRepo, never, SqlClient.SqlClient | Secrets> = Layer.effect(McpServerRepo, make)
