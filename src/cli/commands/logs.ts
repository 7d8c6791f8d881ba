/** `gateway logs`: the requests of a running gateway, the newest last, and with `--follow` those to come. */
import * as Args from "@effect/cli/Args"
import * as Command from "@effect/cli/Command"
import * as Options from "@effect/cli/Options"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { LogsQuery, UsageLog } from "../../subjects/usage/routes.ts"
import * as Client from "../gateway/Client.ts"
import { BadArgument } from "../Failure.ts"
import { body } from "../flags/Flags.ts"
import { taking } from "../flags/Forms.ts"
import { OutputFormat } from "../output/Format.ts"
import * as Output from "../output/Output.ts"
import { Screen } from "../output/Screen.ts"
import { filterFlags, type RowFilter, rowFilter } from "../../subjects/usage/commands/logs/filters.ts"
import { columns, followHeader, followLine, Page } from "../../subjects/usage/commands/logs/rows.ts"
import { showRequest } from "../../subjects/usage/commands/logs/show.ts"
import { timeFlag as time } from "../../subjects/usage/commands/logs/timeFlag.ts"

const text = (name: string, description: string) =>
  Options.text(name).pipe(Options.withDescription(description), Options.optional)

const flags = {
  words: Args.text({ name: "show <request>" }).pipe(
    Args.withDescription("'show' and the id of a request or its beginning: all that is known of it."),
    Args.repeated
  ),
  follow: Options.boolean("follow").pipe(
    Options.withAlias("f"),
    Options.withDescription("Go on with rows as they come.")
  ),
  since: text("since", "Requests since then: 30m, 2h, 7d ago, a day such as 2026-11-22, or a time."),
  until: text("until", "Requests before then, given as for --since."),
  ...filterFlags,
  limit: Options.integer("limit").pipe(
    taking(Schema.Int.pipe(Schema.between(1, 1000)), () => "--limit must be a whole number from 1 to 1000."),
    Options.withDescription("How many rows to show, 1 to 1000."),
    Options.withDefault(50)
  ),
  cursor: text("cursor", "Where the rows before this one ended, to go on with older ones."),
  ...Client.connection
}
type LogsFlags = Command.Command.ParseConfig<typeof flags>

type Filter = RowFilter & Pick<LogsQuery, "from" | "to">

const filterOf = Effect.fnUntraced(function* (to: Client.Target, given: LogsFlags) {
  // The cursor is checked here, too; it is no part of the filter.
  const { cursor: _, ...times } = yield* body(
    LogsQuery.pick("from", "to", "cursor"),
    {
      from: yield* time("--since", given.since),
      to: yield* time("--until", given.until),
      cursor: Option.getOrUndefined(given.cursor)
    },
    { cursor: "--cursor", from: "--since", to: "--until" }
  )
  const filter: Filter = { ...times, ...(yield* rowFilter(to, given)) }
  return filter
})

const logsAt = Effect.fnUntraced(function* (to: Client.Target, urlParams: LogsQuery) {
  const client = yield* Client.group(to, "usage")
  return yield* client.logs({ urlParams }).pipe(Client.orExplain(to))
})

/** Fetches as many rows as are asked for: a page of the gateway may be short although others follow. */
const newest = Effect.fnUntraced(function* (to: Client.Target, given: LogsFlags, filter: Filter) {
  const logs: Array<UsageLog> = []
  let cursor = Option.getOrNull(given.cursor)
  let scannedTo: string | null = null
  do {
    const limit = given.limit - logs.length
    const page: typeof Page.Type = yield* logsAt(to, { ...filter, limit, ...(cursor === null ? {} : { cursor }) })
    logs.push(...page.logs)
    cursor = page.nextCursor
    scannedTo = page.scannedTo
  } while (cursor !== null && logs.length < given.limit)
  return { logs, nextCursor: cursor, scannedTo }
})

const followEvery = "1 second"
const followRows = 500

const follow = Effect.fnUntraced(function* (to: Client.Target, given: LogsFlags, filter: Filter) {
  const format = yield* OutputFormat
  const screen = (yield* Screen).columns()
  const isJson = format === "json" || format === "jsonl"
  const show = (rows: ReadonlyArray<UsageLog>) =>
    Effect.forEach(
      rows,
      (row) =>
        isJson
          ? Output.jsonLine(UsageLog, row)
          : Effect.flatMap(Clock.currentTimeMillis, (nowMs) => Output.print(followLine(row, screen, nowMs))),
      { discard: true }
    )
  // First the position, then the rows before it: what ends between the two is in both.
  let after = (yield* logsAt(to, { after: "latest", limit: 1 })).nextCursor ?? "latest"
  const { logs: earlier } = yield* newest(to, given, filter)
  const shown = new Set(earlier.map(({ id }) => id))
  if (!isJson) yield* Output.print(followHeader(screen))
  yield* show(earlier.toReversed())

  let isAway = false
  // A gateway that was restarted has another token for its owner, and may have another port.
  const next = Effect.flatMap(Client.target(given), (now) => logsAt(now, { ...filter, after, limit: followRows }))
  const step = Effect.gen(function* () {
    const { logs, nextCursor } = yield* next
    if (isAway) yield* Output.note("The gateway answers again.")
    isAway = false
    after = nextCursor ?? after
    yield* show(logs.filter(({ id }) => !shown.has(id)))
  }).pipe(
    Effect.catchTags({
      ServerOffline: () => {
        const isNews = !isAway
        isAway = true
        return Effect.when(Output.note("The gateway does not answer; waiting until it does."), () => isNews)
      },
      // While it stops or starts, its answers may not be what they are later.
      AuthRefused: (error) => (isAway ? Effect.void : error),
      CommandFailed: (error) => (isAway ? Effect.void : error)
    })
  )
  return yield* Effect.forever(Effect.zipRight(Effect.sleep(followEvery), step))
})

export const logsCommand = Command.make("logs", flags, (given) =>
  Effect.gen(function* () {
    const [word, id, ...more] = given.words
    if (word !== undefined && (word !== "show" || id === undefined || more.length > 0)) {
      return yield* new BadArgument({
        message: `'${given.words.join(" ")}' is not what 'gateway logs' takes.`,
        hint: "One request: 'gateway logs show <request>'. Filters: 'gateway help logs'."
      })
    }
    const to = yield* Client.target(given)
    if (id !== undefined) return yield* showRequest(to, id)
    const filter = yield* filterOf(to, given)
    if (given.follow) return yield* follow(to, given, filter)
    const { logs, nextCursor, scannedTo } = yield* newest(to, given, filter)
    yield* Output.list({
      schema: Page,
      value: { logs, nextCursor, scannedTo },
      rows: logs.toReversed(),
      columns,
      empty: "There are no such requests."
    })
    if (nextCursor !== null) yield* Output.remark(`There are older ones: --cursor ${nextCursor}, or a larger --limit.`)
  })
)
