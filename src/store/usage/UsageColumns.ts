/** The row of the usage log as it is read, and the statements that write many rows at once. */
import * as Schema from "effect/Schema"
import { ModelPrice } from "../../subjects/pricing/entity.ts"
import { CostFacts } from "../../contract/domain/CostFacts.ts"
import { knownCallers, type UsageRow } from "../../contract/domain/Usage.ts"
import type { UsageFacts } from "../../contract/domain/UsageFacts.ts"
import { WireName } from "../../contract/domain/Wire.ts"
import { type Column, Flag, MaybeText, MaybeWhole, Text, valid, Whole } from "../engine/Columns.ts"
import { moneyOf, nanoColumn, partsColumn } from "./MoneyColumns.ts"

const ToldCounts = Schema.Struct({
  in: Schema.Number,
  out: Schema.Number,
  cacheRead: Schema.Number,
  cacheWrite: Schema.Number,
  reasoning: Schema.Number
})

export const CostNotesText = Schema.Struct({
  unpricedParts: Schema.Array(Schema.String),
  computedNanoUsd: Schema.NullOr(Schema.Number),
  facts: Schema.NullOr(CostFacts)
})

export const Row = Schema.Struct({
  id: Text,
  timestampMs: Whole,
  requestId: Text,
  apiKeyId: MaybeText,
  principal: Schema.NullOr(Schema.Literal(...knownCallers)),
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
  toldTokens: Schema.NullOr(Schema.parseJson(ToldCounts)),
  costNanoUsd: Schema.Number,
  costNotes: Schema.NullOr(Schema.parseJson(CostNotesText)),
  priced: Flag,
  price: Schema.NullOr(Schema.parseJson(ModelPrice)),
  usageSource: Schema.Literal("upstream", "estimated"),
  error: MaybeText,
  batchId: MaybeText,
  answeredFrom: Schema.NullOr(Schema.Literal("cache", "coalesced")),
  egress: MaybeText,
  tags: MaybeText,
  node: MaybeText,
  sessionId: MaybeText,
  reservedNanoUsd: Whole
})
type Row = typeof Row.Type

export const toUsageRow = ({
  tokensCacheRead,
  tokensCacheWrite,
  tokensIn,
  tokensOut,
  tokensReasoning,
  toldTokens,
  node,
  ...row
}: Row): UsageRow => ({
  ...row,
  ...(node === null ? {} : { node }),
  calls: null,
  told: toldTokens,
  tokens: {
    in: tokensIn,
    out: tokensOut,
    cacheRead: tokensCacheRead,
    cacheWrite: tokensCacheWrite,
    reasoning: tokensReasoning
  }
})

/** Longest text in the log. Longer ones were written before names were bounded. */
const maxTextChars = 512

const clipped = (text: string | null): string | null => (text === null ? null : text.slice(0, maxTextChars))
const flag = (value: boolean): number => (value ? 1 : 0)

/** Columns of the facts that rows share. */
const shared: ReadonlyArray<readonly [column: string, value: (facts: UsageFacts) => Column]> = [
  ["api_key_id", (facts) => clipped(facts.apiKeyId)],
  ["principal", (facts) => facts.principal],
  ["requested_model", (facts) => clipped(facts.requestedModel)],
  ["combo", (facts) => clipped(facts.combo)],
  ["provider", (facts) => clipped(facts.provider)],
  ["connection_id", (facts) => clipped(facts.connectionId)],
  ["model", (facts) => clipped(facts.model)],
  ["source_wire", (facts) => facts.sourceWire],
  ["target_wire", (facts) => facts.targetWire],
  ["streamed", (facts) => flag(facts.streamed)],
  ["outcome", (facts) => facts.outcome],
  ["status", (facts) => valid(facts.status)],
  ["attempts", (facts) => valid(facts.attempts)],
  ["priced", (facts) => flag(facts.priced)],
  ["price", (facts) => (facts.price === null ? null : JSON.stringify(facts.price))],
  ["usage_source", (facts) => facts.usageSource],
  ["error", (facts) => clipped(facts.error)],
  ["batch_id", (facts) => facts.batchId],
  ["answered_from", (facts) => facts.answeredFrom],
  ["egress", (facts) => clipped(facts.egress)],
  ["tags", (facts) => clipped(facts.tags)]
]

/** Columns of each row, in the order of `addParameters`. */
export const own = [
  "id",
  "request_id",
  "timestamp_ms",
  "latency_ms",
  "ttft_ms",
  "tokens_in",
  "tokens_out",
  "tokens_cache_read",
  "tokens_cache_write",
  "tokens_reasoning",
  "told_tokens",
  "cost_nano_usd",
  "cost_nano_parts",
  "cost_notes",
  "session_id",
  "reserved_nano_usd"
]

/** The first parameters of a statement: the facts that its rows share; `addNode` adds the last of them. */
export const sharedParameters = (facts: UsageFacts): ReadonlyArray<Column> => shared.map(([, value]) => value(facts))

const toldColumn = (told: UsageRow["told"]): string | null => {
  if (told === null) return null
  const { in: read, out, cacheRead, cacheWrite, reasoning } = told
  return JSON.stringify({ in: read, out, cacheRead, cacheWrite, reasoning })
}

/** Adds the parameters of a row. Null for a request id that is the row's. */
export const addParameters = (to: Array<Column>, row: UsageRow): void => {
  const { tokens } = row
  to.push(
    row.id,
    row.requestId === row.id ? null : row.requestId,
    valid(row.timestampMs),
    valid(row.latencyMs),
    row.ttftMs === null ? null : valid(row.ttftMs),
    valid(tokens.in),
    valid(tokens.out),
    valid(tokens.cacheRead),
    valid(tokens.cacheWrite),
    valid(tokens.reasoning),
    toldColumn(row.told),
    nanoColumn(row.costNanoUsd),
    partsColumn(row.costNanoUsd),
    row.costNotes === null ? null : JSON.stringify(row.costNotes),
    clipped(row.sessionId),
    valid(row.reservedNanoUsd)
  )
}

/** Adds the name of the gateway that writes the rows, which all statements of a process share. */
export const addNode = (to: Array<Column>, node: string | null): void => {
  to.push(clipped(node))
}

export const sharedNames = [...shared.map(([column]) => column), "node"]
const placeholders = (count: number): string => `(${Array.from({ length: count }, () => "?").join(",")})`

/**
 * Takes the shared parameters, then those of exactly `rows` rows: what rows share is bound once, which halves the cost of an insert. Rows
 * that exist already are skipped, so that a repeat does no harm.
 */
const insertOf = (rows: number): string =>
  `WITH facts(${sharedNames.join(",")}) AS (VALUES ${placeholders(sharedNames.length)}), ` +
  `own(${own.join(",")}) AS (VALUES ${Array.from({ length: rows }, () => placeholders(own.length)).join(",")}) ` +
  `INSERT INTO usage_log (${[...own, ...sharedNames].join(",")}) ` +
  `SELECT ${[...own, ...sharedNames].map((name) => (name === "request_id" ? "COALESCE(request_id, id)" : name)).join(",")} ` +
  `FROM facts CROSS JOIN own WHERE TRUE ON CONFLICT DO NOTHING`

/** Insert statements by their number of rows, the largest first: any number of rows is a few of them. */
export const inserts: ReadonlyArray<{ readonly rows: number; readonly statement: string }> = [50, 12, 4, 1].map(
  (rows) => ({ rows, statement: insertOf(rows) })
)

/** Columns that the gateway itself writes, in JSON that is of no use when it is cut. */
const written = new Set(["price", "cost_notes", "told_tokens"])
const maxWrittenChars = 65_536

const numbers = new Set([
  "streamed",
  "status",
  "attempts",
  "priced",
  ...own.slice(2).filter((column) => column !== "session_id" && !written.has(column))
])

/** Tells columns of integers from those of texts. */
export const isNumber = (column: string): boolean => numbers.has(column)

/** The columns as they are read: rows written before names were bounded must not fill the memory. */
export const readColumns = [...own, ...sharedNames]
  .filter((column) => column !== "cost_nano_parts")
  .map((column) =>
    column === "cost_nano_usd"
      ? `${moneyOf(column, "cost_nano_parts")} AS ${column}`
      : numbers.has(column)
        ? column
        : `SUBSTR(${column}, 1, ${written.has(column) ? maxWrittenChars : maxTextChars}) AS ${column}`
  )
  .join(", ")
