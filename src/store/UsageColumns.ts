/** The row of the usage log, and the statements that write many rows at once. */
import * as Schema from "effect/Schema"
import type { UsageRow } from "../domain/Usage.ts"
import { WireName } from "../domain/Wire.ts"
import { Flag, MaybeText, MaybeWhole, Text, Whole } from "./Columns.ts"

export const Row = Schema.Struct({
  id: Text,
  timestampMs: Whole,
  requestId: Text,
  apiKeyId: MaybeText,
  requestedModel: Text,
  combo: MaybeText,
  provider: MaybeText,
  connectionId: MaybeText,
  model: MaybeText,
  sourceWire: WireName,
  targetWire: Schema.NullOr(WireName),
  streamed: Flag,
  outcome: Schema.Literal("completed", "failed", "aborted"),
  status: Whole,
  latencyMs: Whole,
  ttftMs: MaybeWhole,
  attempts: Whole,
  tokensIn: Whole,
  tokensOut: Whole,
  tokensCacheRead: Whole,
  tokensCacheWrite: Whole,
  tokensReasoning: Whole,
  costNanoUsd: Whole,
  priced: Flag,
  usageSource: Schema.Literal("upstream", "estimated"),
  error: MaybeText
})
type Row = typeof Row.Type

export const toUsageRow = ({
  tokensCacheRead,
  tokensCacheWrite,
  tokensIn,
  tokensOut,
  tokensReasoning,
  ...row
}: Row): UsageRow => ({
  ...row,
  tokens: {
    in: tokensIn,
    out: tokensOut,
    cacheRead: tokensCacheRead,
    cacheWrite: tokensCacheWrite,
    reasoning: tokensReasoning
  }
})

/** Column → path of its value in the JSON of a `UsageRow`. */
const text = {
  id: "id",
  request_id: "requestId",
  api_key_id: "apiKeyId",
  requested_model: "requestedModel",
  combo: "combo",
  provider: "provider",
  connection_id: "connectionId",
  model: "model",
  source_wire: "sourceWire",
  target_wire: "targetWire",
  outcome: "outcome",
  usage_source: "usageSource",
  error: "error"
}
const integers = {
  timestamp_ms: "timestampMs",
  streamed: "streamed",
  status: "status",
  latency_ms: "latencyMs",
  attempts: "attempts",
  tokens_in: "tokens.in",
  tokens_out: "tokens.out",
  tokens_cache_read: "tokens.cacheRead",
  tokens_cache_write: "tokens.cacheWrite",
  tokens_reasoning: "tokens.reasoning",
  cost_nano_usd: "costNanoUsd",
  priced: "priced"
}
const maybeIntegers = { ttft_ms: "ttftMs" }

/** Longest text in the log. Longer ones were written before names were bounded. */
const maxTextChars = 512

const clipped = (text: string | null): string | null => (text === null ? null : text.slice(0, maxTextChars))

const at = (path: string) => `entry.value ->> '$.${path}'`

/** The columns as they are read: rows written before names were bounded must not fill the memory. */
export const readColumns = [
  ...Object.keys(text).map((column) => `SUBSTR(${column}, 1, ${maxTextChars}) AS ${column}`),
  ...Object.keys(integers),
  ...Object.keys(maybeIntegers)
].join(", ")

// With the casts an invalid number (a fraction, a NaN that became null in JSON) is replaced instead of failing the whole batch.
const expressions: ReadonlyArray<readonly [column: string, expression: string]> = [
  ...Object.entries(text).map(([column, path]) => [column, `SUBSTR(${at(path)}, 1, ${maxTextChars})`] as const),
  ...Object.entries(integers).map(([column, path]) => [column, `CAST(COALESCE(${at(path)}, 0) AS INTEGER)`] as const),
  ...Object.entries(maybeIntegers).map(([column, path]) => [column, `CAST(${at(path)} AS INTEGER)`] as const)
]

// jsonb_each parses a row once; json_each would parse it again for every column (20 µs a row instead of 8).
/** Takes one parameter, a JSON array of `UsageRow`s. Rows that exist already are skipped, so that a repeat does no harm. */
export const insertRows =
  `INSERT OR IGNORE INTO usage_log (${expressions.map(([column]) => column).join(", ")}) ` +
  `SELECT ${expressions.map(([, expression]) => expression).join(", ")} FROM jsonb_each(?) AS entry`

/** Rows of the statement for a full batch. */
export const batchRows = 250

const whole = (value: number): number => (Number.isFinite(value) ? Math.trunc(value) : 0)
const maybeWhole = (value: number | null): number | null => (value === null ? null : whole(value))
const flag = (value: boolean): number => (value ? 1 : 0)

/** Column → its value. The same columns as above, for the path where parsing JSON would double the cost of the insert. */
const values: ReadonlyArray<readonly [column: string, value: (row: UsageRow) => string | number | null]> = [
  ["id", (row) => row.id],
  ["request_id", (row) => row.requestId],
  ["api_key_id", (row) => row.apiKeyId],
  ["requested_model", (row) => clipped(row.requestedModel)],
  ["combo", (row) => clipped(row.combo)],
  ["provider", (row) => row.provider],
  ["connection_id", (row) => row.connectionId],
  ["model", (row) => clipped(row.model)],
  ["source_wire", (row) => row.sourceWire],
  ["target_wire", (row) => row.targetWire],
  ["outcome", (row) => row.outcome],
  ["usage_source", (row) => row.usageSource],
  ["error", (row) => clipped(row.error)],
  ["timestamp_ms", (row) => whole(row.timestampMs)],
  ["streamed", (row) => flag(row.streamed)],
  ["status", (row) => whole(row.status)],
  ["latency_ms", (row) => whole(row.latencyMs)],
  ["ttft_ms", (row) => maybeWhole(row.ttftMs)],
  ["attempts", (row) => whole(row.attempts)],
  ["tokens_in", (row) => whole(row.tokens.in)],
  ["tokens_out", (row) => whole(row.tokens.out)],
  ["tokens_cache_read", (row) => whole(row.tokens.cacheRead)],
  ["tokens_cache_write", (row) => whole(row.tokens.cacheWrite)],
  ["tokens_reasoning", (row) => whole(row.tokens.reasoning)],
  ["cost_nano_usd", (row) => whole(row.costNanoUsd)],
  ["priced", (row) => flag(row.priced)]
]

const oneRow = `(${values.map(() => "?").join(",")})`

/** Takes the parameters of exactly `batchRows` rows. */
export const insertBatch =
  `INSERT OR IGNORE INTO usage_log (${values.map(([column]) => column).join(", ")}) ` +
  `VALUES ${Array.from({ length: batchRows }, () => oneRow).join(",")}`

/** The parameters of `insertBatch`. */
export const batchParameters = (rows: ReadonlyArray<UsageRow>): Array<string | number | null> => {
  const parameters: Array<string | number | null> = []
  for (const row of rows) for (const [, value] of values) parameters.push(value(row))
  return parameters
}
