/** Captured requests as a table, and on the lines of `gateway inspect tail`. */
import * as Args from "@effect/cli/Args"
import * as Options from "@effect/cli/Options"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { RecordFilterQuery } from "../routes.ts"
import { ItemView } from "../../../contract/traffic/InspectorRecords.ts"
import { harmless } from "../../../kernel/text/TerminalText.ts"
import { body } from "../../../cli/flags/Flags.ts"
import * as Client from "../../../cli/gateway/Client.ts"
import * as Column from "../../../cli/output/Column.ts"
import { fit, pad } from "../../../cli/output/Table.ts"
import { localTime } from "../../../cli/output/Time.ts"

export type ItemRow = typeof ItemView.Type
export const Page = Schema.Struct({
  requests: Schema.Array(ItemView),
  total: Schema.Number,
  nextCursor: Schema.NullOr(Schema.String)
})

export const record = Args.text({ name: "request" }).pipe(
  Args.withDescription("The id of a captured request, as 'gateway inspect list' shows it.")
)

const text = (name: string, description: string) =>
  Options.text(name).pipe(Options.withDescription(description), Options.optional)

export const filterFlags = {
  profile: text("profile", "llm: requests to models; custom: of hosts that were added; all."),
  host: text("host", "A part of the host's name."),
  agent: text("agent", "The agent whose traffic it is."),
  status: text("status", "2xx, 3xx, 4xx, 5xx, error or in-flight."),
  source: text("source", "Where it was captured, such as gateway or http-proxy."),
  session: text("session", "The id of a recorded session."),
  process: text("process", "A part of the name of the process that asked."),
  pid: text("pid", "The id of the process that asked."),
  context: text("context", "The hash of the system prompt, as 'gateway inspect list --wide' shows it."),
  model: text("model", "A part of the model's name."),
  retryOf: text("retry-of", "The id of a request: it, and the attempts that are counted together with it."),
  search: text("search", "A text in address, headers, notes or bodies.")
}

export const retries = Options.boolean("retries").pipe(
  Options.withDescription("A line for each attempt of a prompt; without it they are one line, and TRIES counts them.")
)

type FilterFlags = { readonly [Name in keyof typeof filterFlags]: Option.Option<string> }

/** Reads and checks the filter of the flags. */
export const filterOf = (given: FilterFlags) =>
  body(
    RecordFilterQuery,
    {
      profile: Option.getOrUndefined(given.profile),
      host: Option.getOrUndefined(given.host),
      agent: Option.getOrUndefined(given.agent),
      status: Option.getOrUndefined(given.status),
      source: Option.getOrUndefined(given.source),
      sessionId: Option.getOrUndefined(given.session),
      process: Option.getOrUndefined(given.process),
      pid: Option.getOrUndefined(given.pid),
      contextKey: Option.getOrUndefined(given.context),
      model: Option.getOrUndefined(given.model),
      retryOf: Option.getOrUndefined(given.retryOf),
      q: Option.getOrUndefined(given.search)
    },
    {
      profile: "--profile",
      host: "--host",
      agent: "--agent",
      status: "--status",
      source: "--source",
      sessionId: "--session",
      process: "--process",
      pid: "--pid",
      contextKey: "--context",
      model: "--model",
      retryOf: "--retry-of",
      q: "--search"
    }
  )

export const inspector = (to: Client.Target) => Client.group(to, "inspector")

/** Times that the prompt cache gave, in percent of the prompt; a dash where it is not known. */
const cacheMark = ({ llm }: ItemRow): string => {
  if (llm === null || llm.cacheRead === null || llm.tokensIn === null || llm.tokensIn === 0) return "-"
  return `${Math.round((100 * llm.cacheRead) / llm.tokensIn)}%`
}

const cost = ({ llm }: ItemRow): string => (llm?.costEstimateUsd == null ? "-" : llm.costEstimateUsd.toFixed(6))
const whole = (ms: number): string => String(Math.round(ms))
export const what = (row: ItemRow): string =>
  row.llm === null
    ? `${row.method} ${row.host}${row.path.split("?", 1)[0] ?? ""}`
    : `${row.llm.model ?? "-"}${row.llm.mappedTo === null ? "" : ` as ${row.llm.mappedTo}`} at ${row.host}`

/** Attempts of one prompt up to this one; null: it is the only one. */
const tries = ({ attempt = 1 }: ItemRow): string | null => (attempt === 1 ? null : String(attempt))

/** Selects the newest of the attempts of one prompt, in its place; `rows` are oldest first. */
export const together = <Row extends ItemRow>(rows: ReadonlyArray<Row>): ReadonlyArray<Row> => {
  const lines = new Map<string, Row>()
  for (const row of rows) {
    const first = row.retryOf ?? row.id
    lines.delete(first)
    lines.set(first, row)
  }
  return [...lines.values()]
}

export const columns: ReadonlyArray<Column.Column<ItemRow>> = [
  Column.text("STATUS", ({ status }) => String(status)),
  Column.text("TRIES", tries),
  Column.time("TIME", ({ timestamp }) => timestamp),
  Column.prose("REQUEST", what),
  Column.text("AGENT", ({ agent }) => agent, { in: "wide" }),
  Column.text("PROCESS", ({ processName }) => processName, { in: "wide" }),
  Column.text("PID", ({ pid }) => (pid === null ? null : String(pid)), { in: "wide" }),
  Column.text("CONTEXT", ({ contextKey }) => contextKey, { in: "wide" }),
  Column.text("SOURCE", ({ source }) => source, { in: "wide" }),
  Column.number("MS", ({ totalLatencyMs }) => totalLatencyMs, whole),
  Column.number("IN", ({ llm }) => llm?.tokensIn ?? null),
  Column.number("OUT", ({ llm }) => llm?.tokensOut ?? null),
  Column.text("CACHE", cacheMark),
  { header: "USD", value: cost, data: ({ llm }) => llm?.costEstimateUsd ?? null, align: "right" },
  Column.prose("ERROR", ({ error }) => error),
  Column.id("ID", ({ id }) => id)
]

const cells: ReadonlyArray<{
  readonly header: string
  readonly width: number
  readonly least: number
  readonly value: (row: ItemRow, nowMs: number) => string
}> = [
  { header: "TIME", width: 8, least: 0, value: (row, nowMs) => localTime(row.timestamp, nowMs).slice(-8) },
  { header: "STATUS", width: 9, least: 0, value: ({ status }) => String(status) },
  {
    header: "MS",
    width: 7,
    least: 60,
    value: ({ totalLatencyMs }) => (totalLatencyMs === null ? "-" : whole(totalLatencyMs))
  },
  { header: "IN", width: 7, least: 80, value: ({ llm }) => String(llm?.tokensIn ?? "-") },
  { header: "OUT", width: 6, least: 80, value: ({ llm }) => String(llm?.tokensOut ?? "-") },
  { header: "CACHE", width: 5, least: 80, value: cacheMark },
  { header: "USD", width: 9, least: 100, value: cost },
  {
    header: "PROCESS",
    width: 22,
    least: 140,
    value: ({ pid, processName }) => (pid === null ? "-" : `${processName ?? "-"} (${pid})`)
  }
]

const line = (head: (cell: (typeof cells)[number]) => string, rest: string, screen: number | null): string => {
  const shown = cells.filter(({ least }) => screen === null || screen >= least)
  const all = [...shown.map((cell) => pad(harmless(head(cell)), cell.width, "left")), harmless(rest)].join("  ")
  return screen === null ? all : fit(all, screen)
}

export const tailHeader = (screen: number | null): string => line(({ header }) => header, "REQUEST", screen)

export const tailLine = (row: ItemRow, screen: number | null, nowMs: number): string =>
  line(
    ({ value }) => value(row, nowMs),
    [
      what(row),
      row.id,
      ...(tries(row) === null ? [] : [`try ${row.attempt}`]),
      ...(row.error === null ? [] : [row.error])
    ].join("  "),
    screen
  )
