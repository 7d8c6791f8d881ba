/** Calls of MCP tools. Bounded by number: the oldest are removed. */
import * as SqlClient from "@effect/sql/SqlClient"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import { MaybeText, Text } from "../../store/engine/Columns.ts"
import type { StoreError } from "../../store/Errors.ts"
import * as Table from "../../store/engine/Table.ts"

export interface McpCall {
  readonly id: string
  readonly atMs: number
  readonly tool: string
  readonly apiKeyId: string | null
  /** SHA-256 of what was given, in hex. */
  readonly inputHash: string
  /** Summary of the call's end, in a few words; nothing of the answer. */
  readonly outputSummary: string
  readonly durationMs: number
  readonly success: boolean
}

export interface McpSums {
  readonly calls: number
  readonly succeeded: number
  readonly avgDurationMs: number | null
  readonly lastAtMs: number | null
  readonly lastTool: string | null
  /** The most used first. */
  readonly byTool: ReadonlyArray<{ readonly tool: string; readonly calls: number }>
}

export class McpAuditRepo extends Context.Tag("gateway/subjects/mcp/McpAuditRepo")<
  McpAuditRepo,
  {
    readonly add: (call: McpCall) => Effect.Effect<void, StoreError>
    /** Newest first; null: of all tools. */
    readonly list: (
      tool: string | null,
      limit: number,
      offset: number
    ) => Effect.Effect<ReadonlyArray<McpCall>, StoreError>
    readonly sums: (sinceMs: number) => Effect.Effect<McpSums, StoreError>
  }
>() {}

export const maxCalls = 50_000
const mostTools = 10
/** Rows are counted once in so many calls. */
const trimEvery = 500

const Rows = Schema.Array(
  Schema.Struct({
    id: Text,
    atMs: Schema.Number,
    tool: Text,
    apiKeyId: MaybeText,
    inputHash: Text,
    outputSummary: Text,
    durationMs: Schema.Number,
    success: Schema.Number
  })
)
const Sums = Schema.Array(
  Schema.Struct({
    calls: Schema.Number,
    succeeded: Schema.NullOr(Schema.Number),
    avgDurationMs: Schema.NullOr(Schema.Number)
  })
)
const ByTool = Schema.Array(Schema.Struct({ tool: Text, calls: Schema.Number }))

export const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  let sinceTrim = 0

  const add = Effect.fn("McpAuditRepo.add")(
    function* (call: McpCall) {
      yield* sql`INSERT INTO mcp_tool_audit ${sql.insert({ ...call, atMs: Math.trunc(call.atMs), durationMs: Math.trunc(call.durationMs), success: call.success ? 1 : 0 })}`
      sinceTrim += 1
      if (sinceTrim < trimEvery) return
      sinceTrim = 0
      yield* sql`DELETE FROM mcp_tool_audit WHERE id NOT IN
      (SELECT id FROM mcp_tool_audit ORDER BY at_ms DESC, id DESC LIMIT ${maxCalls})`
    },
    Effect.mapError(Table.named("McpAuditRepo.add"))
  )

  const list = Effect.fn("McpAuditRepo.list")((tool: string | null, limit: number, offset: number) =>
    sql`SELECT * FROM mcp_tool_audit ${tool === null ? sql`` : sql`WHERE tool = ${tool}`}
      ORDER BY at_ms DESC, id DESC LIMIT ${limit} OFFSET ${offset}`.pipe(
      Effect.flatMap(Schema.decodeUnknown(Rows)),
      Effect.map((rows) => rows.map((row): McpCall => Object.assign({}, row, { success: row.success === 1 }))),
      Effect.mapError(Table.named("McpAuditRepo.list"))
    )
  )

  const sums = Effect.fn("McpAuditRepo.sums")(
    function* (sinceMs: number) {
      const [sum] = yield* Effect.flatMap(
        sql`SELECT COUNT(*) AS calls, SUM(success) AS succeeded, AVG(duration_ms) AS avg_duration_ms
        FROM mcp_tool_audit WHERE at_ms >= ${sinceMs}`,
        Schema.decodeUnknown(Sums)
      )
      const byTool = yield* Effect.flatMap(
        sql`SELECT tool, COUNT(*) AS calls FROM mcp_tool_audit WHERE at_ms >= ${sinceMs}
        GROUP BY tool ORDER BY calls DESC, tool LIMIT ${mostTools}`,
        Schema.decodeUnknown(ByTool)
      )
      const [last] = yield* list(null, 1, 0)
      return {
        calls: sum?.calls ?? 0,
        succeeded: sum?.succeeded ?? 0,
        avgDurationMs: sum?.avgDurationMs ?? null,
        lastAtMs: last?.atMs ?? null,
        lastTool: last?.tool ?? null,
        byTool
      } satisfies McpSums
    },
    Effect.mapError(Table.named("McpAuditRepo.sums"))
  )

  return McpAuditRepo.of({ add, list, sums })
})

export const layer: Layer.Layer<McpAuditRepo, never, SqlClient.SqlClient> = Layer.effect(McpAuditRepo, make)
