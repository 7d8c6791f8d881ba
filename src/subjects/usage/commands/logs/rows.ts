/** Views of requests: in a table, on the lines of `--follow`, and one with everything known of it. */
import * as Schema from "effect/Schema"
import { UsageLog } from "../../routes.ts"
import { harmless } from "../../../../kernel/text/TerminalText.ts"
import * as Column from "../../../../cli/output/Column.ts"
import { fields, fit, pad } from "../../../../cli/output/Table.ts"
import { localTime } from "../../../../cli/output/Time.ts"

export const Page = Schema.Struct({
  logs: Schema.Array(UsageLog),
  nextCursor: Schema.NullOr(Schema.String),
  scannedTo: Schema.NullOr(Schema.String)
})

const madeHere = /^[\da-f]{8}-[\da-f]{4}-7[\da-f]{3}-/

/** The time and the count within it, which no two requests of a gateway share. Ids that clients gave are shown whole. */
export const shortRequestId = (id: string): string => (madeHere.test(id) ? id.slice(0, 18) : id)

const servedBy = ({ model, provider }: UsageLog): string | null =>
  provider === null ? null : `${provider}/${model ?? "-"}`
const cost = ({ costUsd, priced }: UsageLog): string => (priced ? costUsd.toFixed(6) : "unpriced")
const whole = (ms: number): string => String(Math.round(ms))

export const columns: ReadonlyArray<Column.Column<UsageLog>> = [
  Column.number("STATUS", (row) => row.status, String, { fit: "keep" }),
  Column.time("TIME", (row) => row.timestamp),
  Column.prose("ASKED FOR", (row) => row.requestedModel),
  Column.text("SERVED BY", servedBy),
  Column.number("MS", (row) => row.latencyMs, whole),
  Column.number("IN", (row) => row.tokens.in),
  Column.number("OUT", (row) => row.tokens.out),
  { header: "USD", value: cost, data: (row) => (row.priced ? row.costUsd : null), align: "right" },
  Column.prose("ERROR", (row) => row.error),
  {
    header: "REQUEST",
    value: ({ requestId }, { short }) => (short(requestId) === requestId ? requestId : shortRequestId(requestId)),
    data: ({ requestId }) => requestId,
    id: ({ requestId }) => requestId,
    fit: "keep",
    isName: true
  }
]

/** Widths of the cells that are before the text at the end of a line; those with `most` columns are left out of narrower terminals. */
const cells: ReadonlyArray<{
  readonly header: string
  readonly width: number
  readonly least: number
  readonly value: (row: UsageLog, nowMs: number) => string
}> = [
  { header: "TIME", width: 8, least: 0, value: (row, nowMs) => localTime(row.timestamp, nowMs).slice(-8) },
  { header: "REQUEST", width: 18, least: 0, value: (row) => shortRequestId(row.requestId) },
  { header: "STATUS", width: 6, least: 0, value: (row) => String(row.status) },
  { header: "MS", width: 7, least: 70, value: (row) => whole(row.latencyMs) },
  { header: "IN", width: 7, least: 110, value: (row) => String(row.tokens.in) },
  { header: "OUT", width: 7, least: 110, value: (row) => String(row.tokens.out) },
  { header: "USD", width: 10, least: 110, value: cost }
]

const line = (head: (cell: (typeof cells)[number]) => string, text: string, screen: number | null): string => {
  const shown = cells.filter(({ least }) => screen === null || screen >= least)
  const all = [...shown.map((cell) => pad(harmless(head(cell)), cell.width, "left")), harmless(text)].join("  ")
  return screen === null ? all : fit(all, screen)
}

/** Writes the header of the lines of `--follow`. */
export const followHeader = (screen: number | null): string =>
  line(({ header }) => header, "ASKED FOR, SERVED BY", screen)

/** A row on a line of its own, under the others although the next rows are not known yet. */
export const followLine = (row: UsageLog, screen: number | null, nowMs: number): string => {
  const text = [row.requestedModel, servedBy(row) ?? "-", ...(row.error === null ? [] : [row.error])].join("  ")
  return line(({ value }) => value(row, nowMs), text, screen)
}

/** Names in place of ids, as far as they are known. */
export interface Names {
  readonly connection: string | null
  readonly key: string | null
}

const withoutKey: Readonly<Record<UsageLog["principal"], string>> = {
  key: "an API key",
  operator: "the operator",
  session: "an admin session",
  anonymous: "a caller without a key"
}

export const story = (row: UsageLog, { connection, key }: Names): string =>
  fields([
    ["Request", row.requestId],
    ["Arrived", row.timestamp],
    ["Status", `${row.status}, ${row.outcome}`],
    ["Error", row.error ?? "-"],
    ["Asked by", key ?? row.apiKeyName ?? row.apiKeyId ?? withoutKey[row.principal]],
    ["Asked for", `${row.requestedModel} (${row.sourceWire}${row.streamed ? ", streamed" : ""})`],
    ["Combo", row.combo ?? "-"],
    ["Served by", servedBy(row) ?? "-"],
    ["Connection", connection ?? row.connectionName ?? row.connectionId ?? "-"],
    ["Session", row.sessionId ?? "-"],
    ...(row.tags.length === 0 ? [] : [["Tags", row.tags.join(", ")] as const]),
    ...(row.node === undefined ? [] : [["Gateway", row.node] as const]),
    ["Took", `${whole(row.latencyMs)} ms${row.ttftMs === null ? "" : `, first content after ${whole(row.ttftMs)} ms`}`],
    ["Attempts", String(row.attempts)],
    ["Tokens", `${row.tokens.in} in, ${row.tokens.out} out (${row.usageSource})`],
    ...(row.told === null
      ? []
      : [["Not believed", `${row.told.in} in, ${row.told.out} out, as the upstream told`] as const]),
    [
      "Of these",
      `${row.tokens.cacheRead} read from the cache, ${row.tokens.cacheWrite} written to it, ${row.tokens.reasoning} of reasoning`
    ],
    ["Cost", row.priced ? `${cost(row)} USD` : "no price is known"],
    ...(row.priced && row.unpricedParts.length > 0 ? [["Without a price", row.unpricedParts.join(", ")] as const] : []),
    ...(row.costSource === "upstream"
      ? [["Charged by the provider", `computed from its prices: ${row.computedCostUsd.toFixed(6)} USD`] as const]
      : [])
  ])
