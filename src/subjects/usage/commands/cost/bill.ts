/** `gateway cost --month`: the bill of a month by person, team, key, model, provider and tag; `gateway cost close` and `gateway cost closed`. */
import * as Args from "@effect/cli/Args"
import * as Command from "@effect/cli/Command"
import * as Options from "@effect/cli/Options"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { ReportDimension } from "../../../bills/entity.ts"
import { BillQuery, type BillRow, BillView, ClosedBills, CloseBill } from "../../../bills/routes.ts"
import { isTimeZone, localTimeAt } from "../../../../kernel/time/TimeZones.ts"
import { confirm, yes } from "../../../../cli/asking/confirm.ts"
import { body } from "../../../../cli/flags/Flags.ts"
import * as Client from "../../../../cli/gateway/Client.ts"
import * as Column from "../../../../cli/output/Column.ts"
import { usd } from "../../../../cli/output/money.ts"
import * as Output from "../../../../cli/output/Output.ts"
import { asking } from "../../../../cli/verbs/asking.ts"

export const billFlags = {
  by: Options.text("by").pipe(
    Options.withDescription(
      "The bill of a month by person, team, key, model, provider, tag, with commas between them."
    ),
    Options.optional
  ),
  "roll-up": Options.boolean("roll-up").pipe(
    Options.withDescription("Count what teams below a team cost in its row of the bill, too.")
  ),
  month: Options.text("month").pipe(
    Options.withDescription("The month of the bill, such as 2035-01; by default the present one."),
    Options.optional
  )
}

const flagNames = { month: "--month", timezone: "--timezone", by: "--by", rollUp: "--roll-up" }

interface Row extends BillRow {
  readonly month: string
}

const named = (name: string | null, id: string | null): string => name ?? id ?? "-"

const columnOf: Readonly<Record<ReportDimension, Column.Column<Row>>> = {
  person: Column.name("PERSON", ({ person, personName }) => named(personName, person)),
  team: Column.name("TEAM", ({ team, teamName }) => named(teamName, team)),
  key: Column.name("KEY", ({ key, keyName }) => named(keyName, key)),
  model: Column.name("MODEL", ({ model }) => model ?? "-"),
  provider: Column.name("PROVIDER", ({ provider }) => provider ?? "-"),
  tag: Column.name("TAG", ({ tag }) => tag ?? "-")
}

/** No team has a rate of its own. */
const isBilledAsIs = ({ corrections, rows }: BillView): boolean =>
  [...rows, ...corrections].every(({ billedUsd, costUsd }) => billedUsd === costUsd)

const columnsOf = (bill: BillView): ReadonlyArray<Column.Column<Row>> => [
  ...(bill.corrections.length === 0 ? [] : [Column.text<Row>("MONTH", ({ month }) => month)]),
  ...bill.by.map((name) => columnOf[name]),
  Column.number("REQUESTS", ({ requests }) => requests, Column.thousands),
  Column.number("TOKENS IN", ({ tokensIn }) => tokensIn, Column.thousands),
  Column.number("TOKENS OUT", ({ tokensOut }) => tokensOut, Column.thousands),
  Column.number("USD", ({ costUsd }) => costUsd, usd),
  ...(isBilledAsIs(bill) ? [] : [Column.number<Row>("BILLED", ({ billedUsd }) => billedUsd, usd)]),
  Column.number("UNPRICED", ({ unpriced }) => unpriced, Column.thousands, { in: "wide" })
]

const showBill = Effect.fnUntraced(function* (bill: BillView) {
  const { closedAt, correctionsTotal, inexact, intact, month, timezone, total } = bill
  const rows = bill.rows.map((row): Row => Object.assign({ month }, row))
  yield* Output.list({
    schema: BillView,
    value: bill,
    rows: [...rows, ...bill.corrections],
    columns: columnsOf(bill),
    empty: `There were no requests in ${month} (${timezone}).`
  })
  for (const sentence of inexact) yield* Output.remark(sentence)
  yield* Output.remark(
    `${usd(total.costUsd)} USD in ${month} (${timezone}) for ${Output.counted(total.requests, "request")}; ${closedAt === null ? "the month is open" : `closed at ${Output.shortTime(closedAt)}`}.`
  )
  if (correctionsTotal.requests > 0) {
    yield* Output.remark(`${usd(correctionsTotal.costUsd)} USD of earlier months came after they were closed.`)
  }
  if (!intact) yield* Output.remark("The report is not the one that was closed: its checksum does not fit.")
})

interface Given {
  readonly by: Option.Option<string>
  readonly month: Option.Option<string>
  readonly timezone: Option.Option<string>
  readonly "roll-up": boolean
}

const presentMonth = (timeZone: string) =>
  Effect.map(Clock.currentTimeMillis, (nowMs) => {
    const { month, year } = localTimeAt(timeZone, nowMs)
    return `${year}-${String(month).padStart(2, "0")}`
  })

/** Shows the bill that flags ask for. */
export const billShow = Effect.fnUntraced(function* (to: Client.Target, given: Given) {
  const timezone = Option.getOrUndefined(given.timezone)
  const urlParams = yield* body(
    BillQuery,
    {
      month:
        Option.getOrUndefined(given.month) ??
        (yield* presentMonth(timezone !== undefined && isTimeZone(timezone) ? timezone : "UTC")),
      timezone,
      by: Option.getOrUndefined(given.by),
      rollUp: given["roll-up"] ? "true" : undefined
    },
    flagNames
  )
  const client = yield* Client.group(to, "bills")
  yield* showBill(yield* client.show({ urlParams }).pipe(Client.orExplain(to)))
})

export const costClose = Command.make(
  "close",
  {
    month: Args.text({ name: "month" }).pipe(Args.withDescription("The month, such as 2035-01.")),
    timezone: Options.text("timezone").pipe(
      Options.withDescription("Its time zone, such as Europe/Zurich; by default UTC."),
      Options.optional
    ),
    yes,
    ...Client.connection
  },
  (given) =>
    Effect.gen(function* () {
      const to = yield* Client.target(given)
      const payload = yield* body(
        CloseBill,
        { month: given.month, timezone: Option.getOrUndefined(given.timezone) },
        { month: "<month>", timezone: "--timezone" }
      )
      yield* confirm(given, `Close ${payload.month} for good?`)
      const client = yield* Client.group(to, "bills")
      yield* showBill(yield* client.close({ payload }).pipe(Client.orExplain(to)))
    })
)

type Closed = (typeof ClosedBills.Type)["bills"][number]

const closedColumns: ReadonlyArray<Column.Column<Closed>> = [
  Column.name("MONTH", ({ month }) => month),
  Column.text("TIME ZONE", ({ timezone }) => timezone),
  Column.number("USD", ({ costUsd }) => costUsd, usd),
  Column.number("CORRECTIONS", ({ correctionsUsd }) => correctionsUsd, usd),
  Column.time("CLOSED", ({ closedAt }) => closedAt),
  Column.text("INTACT", ({ intact }) => Output.yesNo(intact)),
  Column.text("SHA-256", ({ checksum }) => checksum, { in: "wide" })
]

export const costClosed = asking("closed", "bills", {}, function* (client) {
  const answer = yield* client.closed()
  yield* Output.list({
    schema: ClosedBills,
    value: answer,
    rows: answer.bills,
    columns: closedColumns,
    empty: "No month was closed. Close one that is over with 'gateway cost close 2025-01'."
  })
})
