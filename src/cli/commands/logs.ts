/** `gateway logs`: the usage rows of a running gateway, the newest last, and with `--follow` those to come. */
import * as Command from "@effect/cli/Command"
import * as Options from "@effect/cli/Options"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { UsageLog } from "../../api/Groups/Usage.ts"
import { harmless } from "../../kernel/TerminalText.ts"
import * as Client from "../Client.ts"
import { taking } from "../Forms.ts"
import * as Output from "../output/Output.ts"
import * as Column from "../output/Column.ts"
import { OutputFormat } from "../output/Format.ts"

const flags = {
  follow: Options.boolean("follow").pipe(
    Options.withAlias("f"),
    Options.withDescription("Go on with rows as they come.")
  ),
  search: Options.text("search").pipe(
    Options.withDescription("Only rows with this text in their ids, names, outcome, status or error."),
    Options.optional
  ),
  limit: Options.integer("limit").pipe(
    taking(Schema.Int.pipe(Schema.between(1, 1000)), () => "--limit must be a whole number from 1 to 1000."),
    Options.withDescription("How many rows to look at, 1 to 1000."),
    Options.withDefault(50)
  ),
  ...Client.connection
}

/** Rows asked for each time while following; more than a gateway of one machine finishes in one interval. */
const followWindow = 500
const followEvery = "1 second"

const columns: ReadonlyArray<Column.Column<UsageLog>> = [
  Column.time("TIME", (row) => row.timestamp),
  Column.number("STATUS", (row) => row.status, String, { fit: "keep" }),
  Column.text("ASKED FOR", (row) => row.requestedModel, { fit: "keep" }),
  Column.text("SERVED BY", (row) => (row.provider === null ? null : `${row.provider}/${row.model ?? "-"}`)),
  Column.number(
    "MS",
    (row) => row.latencyMs,
    (ms) => String(Math.round(ms))
  ),
  Column.number("IN", (row) => row.tokens.in),
  Column.number("OUT", (row) => row.tokens.out),
  {
    header: "USD",
    value: (row) => (row.priced ? row.costUsd.toFixed(6) : "unpriced"),
    data: (row) => (row.priced ? row.costUsd : null),
    align: "right"
  },
  Column.prose("ERROR", (row) => row.error),
  Column.id("REQUEST", (row) => row.requestId, { isName: true })
]

const Page = Schema.Struct({ logs: Schema.Array(UsageLog), nextCursor: Schema.NullOr(Schema.String) })

const whole = { nowMs: Number.NaN, short: (id: string) => id }

/** A row on a line of its own, for output that goes on and cannot know how wide the next row is. */
const line = (row: UsageLog): string => columns.map(({ value }) => harmless(value(row, whole))).join("  ")

/** Whether a row has the text in one of its words, in any case. */
export const matches = (row: UsageLog, text: string): boolean => {
  const { apiKeyId, combo, connectionId, error, id, model, outcome, provider, requestedModel, requestId, status } = row
  const words = [apiKeyId, combo, connectionId, error, id, model, outcome, provider, requestedModel, requestId, status]
  return words.some((word) => word !== null && String(word).toLowerCase().includes(text.toLowerCase()))
}

/** The rows of a page, newest first, that were not in the one before it; oldest first. */
export const unseen = (page: ReadonlyArray<UsageLog>, before: ReadonlySet<string>): ReadonlyArray<UsageLog> =>
  page.filter(({ id }) => !before.has(id)).toReversed()

const idsOf = (rows: ReadonlyArray<UsageLog>): ReadonlySet<string> => new Set(rows.map(({ id }) => id))

export const logsCommand = Command.make("logs", flags, (given) =>
  Effect.gen(function* () {
    const to = yield* Client.target(given)
    const client = yield* Client.group(to, "usage")
    const wanted = (row: UsageLog): boolean =>
      Option.match(given.search, { onNone: () => true, onSome: (text) => matches(row, text) })
    const page = (limit: number) => client.logs({ urlParams: { limit } }).pipe(Client.orExplain(to))

    if (!given.follow) {
      const { logs, nextCursor } = yield* page(given.limit)
      const shown = logs.filter(wanted)
      return yield* Output.list({
        schema: Page,
        value: { logs: shown, nextCursor },
        rows: shown.toReversed(),
        columns,
        empty: "There are no such rows."
      })
    }
    const format = yield* OutputFormat
    const isJson = format === "json" || format === "jsonl"
    const show = (rows: ReadonlyArray<UsageLog>) =>
      Effect.forEach(
        rows.filter(wanted),
        (row) => (isJson ? Output.jsonLine(UsageLog, row) : Output.print(line(row))),
        { discard: true }
      )
    const { logs: earlier } = yield* page(Math.max(given.limit, followWindow))
    yield* show(earlier.slice(0, given.limit).toReversed())
    let seen = idsOf(earlier)
    yield* Effect.sleep(followEvery).pipe(
      Effect.zipRight(page(followWindow)),
      Effect.flatMap(({ logs }) => {
        const fresh = unseen(logs, seen)
        seen = idsOf(logs)
        return show(fresh)
      }),
      Effect.forever
    )
  })
)
