/** `gateway budget list`, `show`, `set` and `remove`: what API keys may spend. */
import * as Args from "@effect/cli/Args"
import * as Command from "@effect/cli/Command"
import * as Options from "@effect/cli/Options"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { BudgetStatusView, SetBudget } from "../routes.ts"
import { confirm, yes } from "../../../cli/asking/confirm.ts"
import * as Client from "../../../cli/gateway/Client.ts"
import { BadArgument } from "../../../cli/Failure.ts"
import { body } from "../../../cli/flags/Flags.ts"
import { FiniteNumber, notOf, taking } from "../../../cli/flags/Forms.ts"
import * as Column from "../../../cli/output/Column.ts"
import * as Output from "../../../cli/output/Output.ts"
import { usdText } from "../../../kernel/text/UsdText.ts"
import { pickKey } from "../../../cli/finding/pickKey.ts"
import { asking } from "../../../cli/verbs/asking.ts"

const key = Args.text({ name: "key" }).pipe(
  Args.withDescription("The API key: its name, its id or the beginning of it.")
)

const keysOf = Effect.fnUntraced(function* (to: Client.Target) {
  const client = yield* Client.group(to, "keys")
  const { keys } = yield* client.list().pipe(Client.orExplain(to))
  return keys
})

export const findKey = Effect.fnUntraced(function* (to: Client.Target, word: string) {
  return yield* pickKey(yield* keysOf(to), word)
})

/** Names of keys by their ids. */
export const keyNames = Effect.fnUntraced(function* (to: Client.Target) {
  return new Map((yield* keysOf(to)).map(({ id, name }) => [id, name]))
})

interface Row {
  readonly key: string
  readonly status: BudgetStatusView
  readonly window: BudgetStatusView["windows"][number]
}

const money = (header: string, value: (row: Row) => number): Column.Column<Row> =>
  Column.number(header, (row) => Number(value(row).toFixed(4)))

const columns: ReadonlyArray<Column.Column<Row>> = [
  Column.name("KEY", ({ key: name }) => name),
  Column.text("WINDOW", ({ window }) => window.interval),
  money("LIMIT USD", ({ window }) => window.limitUsd),
  money("SPENT", ({ window }) => window.spentUsd),
  money("RESERVED", ({ window }) => window.reservedUsd),
  money("LEFT", ({ window }) => Math.max(0, window.limitUsd - window.spentUsd - window.reservedUsd)),
  Column.text("STATE", ({ status, window }) =>
    window.spentUsd >= window.limitUsd ? "used up" : status.warning ? "warning" : "ok"
  ),
  Column.time("RESETS", ({ window }) => window.nextResetAt)
]

const rowsOf = (key: string, status: BudgetStatusView): ReadonlyArray<Row> =>
  status.windows.map((window) => ({ key, status, window }))

const Budgets = Schema.Struct({ budgets: Schema.Array(BudgetStatusView) })

export const budgetList = asking("list", "limits", {}, function* (client, given, to) {
  const answer = yield* client.budget({ urlParams: {} })
  const budgets = "budgets" in answer ? answer.budgets : [answer]
  const names = yield* keyNames(to)
  yield* Output.list({
    schema: Budgets,
    value: { budgets },
    rows: budgets.flatMap((status) => rowsOf(names.get(status.apiKeyId) ?? status.apiKeyId, status)),
    columns,
    empty: "No key has a budget. Set one with 'gateway budget set <key> --daily 5'."
  })
})

const spent = (name: string, status: BudgetStatusView): string =>
  `The key '${name}' has no budget; it has spent ${status.spentUsd.toFixed(4)} USD this month.`

export const budgetShow = Command.make("show", { key, ...Client.connection }, (given) =>
  Effect.gen(function* () {
    const to = yield* Client.target(given)
    const { id, name } = yield* findKey(to, given.key)
    const client = yield* Client.group(to, "limits")
    const status = yield* client.budget({ urlParams: { apiKeyId: id } }).pipe(Client.orExplain(to))
    if ("budgets" in status) return
    yield* Output.list({
      schema: BudgetStatusView,
      value: status,
      rows: rowsOf(name, status),
      columns,
      empty: spent(name, status)
    })
  })
)

const amount = (name: string, window: string) =>
  Options.text(name).pipe(
    Options.withDescription(`USD per ${window}.`),
    taking(FiniteNumber, notOf(`--${name}`, "a number of USD")),
    Options.optional
  )

const flagNames = {
  apiKeyId: "<key>",
  dailyLimitUsd: "--daily",
  weeklyLimitUsd: "--weekly",
  monthlyLimitUsd: "--monthly",
  warningThreshold: "--warn-at",
  resetTime: "--reset-time",
  tz: "--tz"
}

export const budgetSet = Command.make(
  "set",
  {
    key,
    daily: amount("daily", "day"),
    weekly: amount("weekly", "week, from Monday"),
    monthly: amount("monthly", "month"),
    warnAt: Options.text("warn-at").pipe(
      Options.withDescription("Part of a limit from which a warning is shown, 0 to 1."),
      taking(FiniteNumber, notOf("--warn-at", "a number from 0 to 1")),
      Options.optional
    ),
    resetTime: Options.text("reset-time").pipe(
      Options.withDescription("Time of day at which windows begin, HH:MM."),
      Options.optional
    ),
    tz: Options.text("tz").pipe(Options.withDescription("Its time zone, such as Europe/Zurich."), Options.optional),
    ...Client.connection
  },
  (given) =>
    Effect.gen(function* () {
      const limits = {
        dailyLimitUsd: Option.getOrUndefined(given.daily),
        weeklyLimitUsd: Option.getOrUndefined(given.weekly),
        monthlyLimitUsd: Option.getOrUndefined(given.monthly)
      }
      if (Object.values(limits).every((limit) => limit === undefined)) {
        return yield* new BadArgument({
          message: "No limit is given.",
          hint: "Example: gateway budget set laptop --daily 5 --monthly 80"
        })
      }
      const to = yield* Client.target(given)
      const { id, name } = yield* findKey(to, given.key)
      const payload = yield* body(
        SetBudget,
        {
          apiKeyId: id,
          ...limits,
          warningThreshold: Option.getOrUndefined(given.warnAt),
          resetTime: Option.getOrUndefined(given.resetTime),
          tz: Option.getOrUndefined(given.tz)
        },
        flagNames
      )
      const client = yield* Client.group(to, "limits")
      const status = yield* client
        .setBudget({ payload, urlParams: { apiKeyId: payload.apiKeyId } })
        .pipe(Client.orExplain(to))
      const words = status.windows.map(({ interval, limitUsd }) => `${usdText(limitUsd)} ${interval}`).join(", ")
      yield* Output.result({
        schema: BudgetStatusView,
        value: status,
        text: Output.note(`The key '${name}' may spend ${words}.`),
        name
      })
    })
)

export const budgetRemove = Command.make("remove", { key, yes, ...Client.connection }, (given) =>
  Effect.gen(function* () {
    const to = yield* Client.target(given)
    const { id, name } = yield* findKey(to, given.key)
    yield* confirm(given, `Let the key '${name}' spend without a budget?`)
    const client = yield* Client.group(to, "limits")
    yield* client.removeBudget({ urlParams: { apiKeyId: id } }).pipe(Client.orExplain(to))
    yield* Output.done({ removed: id, name }, `The key '${name}' has no budget any more.`, name)
  })
)
