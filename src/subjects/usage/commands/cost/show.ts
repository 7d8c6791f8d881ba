/** `gateway cost show`: what requests cost over a range of time, by model, and day by day. */
import * as Command from "@effect/cli/Command"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { UsageAnalytics } from "../../../usageHistory/routes.ts"
import { BadArgument } from "../../../../cli/Failure.ts"
import * as EnvFile from "../../../../cli/flags/EnvFile.ts"
import * as Client from "../../../../cli/gateway/Client.ts"
import * as Column from "../../../../cli/output/Column.ts"
import { usd } from "../../../../cli/output/money.ts"
import * as Output from "../../../../cli/output/Output.ts"
import { Screen } from "../../../../cli/output/Screen.ts"
import { hasBars, sparkline } from "../../../../cli/output/Sparkline.ts"
import { billFlags, billShow } from "./bill.ts"
import { rangeFlags, rangeQuery, remarkInexact, spanText } from "../range.ts"

type Row = UsageAnalytics["byModel"][number]

const columns: ReadonlyArray<Column.Column<Row>> = [
  Column.name("MODEL", ({ model, provider }) => (model === null ? "-" : `${provider ?? "-"}/${model}`)),
  Column.number("REQUESTS", ({ requests }) => requests, Column.thousands),
  Column.number("USD", ({ costUsd }) => costUsd, usd),
  Column.number(
    "USD/REQUEST",
    ({ costUsd, requests }) => (requests === 0 ? null : costUsd / requests),
    (value) => value.toFixed(6)
  ),
  Column.number("UNPRICED", ({ unpriced }) => unpriced, Column.thousands, { in: "wide" })
]

const sparkDays = 30

/** The last days as bars; nothing where the result goes into a pipe. */
const trend = (days: UsageAnalytics["dailyTrend"]) =>
  Effect.gen(function* () {
    const screen = yield* Screen
    if (screen.columns() === null) return
    const { environment } = yield* EnvFile.loadConfig
    const last = days.slice(-sparkDays)
    const bars = sparkline(
      last.map(({ costUsd }) => costUsd),
      hasBars(environment)
    )
    if (bars === "") return
    const most = Math.max(...last.map(({ costUsd }) => costUsd))
    yield* Output.remark(`Last ${last.length} days: ${bars}  (at most ${usd(most)} USD a day)`)
  })

const twoSpans = new BadArgument({
  message: "A bill is of a month: --range, --from and --to do not go with --by and --month.",
  hint: "Example: gateway cost --by person,team --month 2035-01"
})

export const costShow = Command.make("show", { ...rangeFlags("30d"), ...billFlags, ...Client.connection }, (given) =>
  Effect.gen(function* () {
    const to = yield* Client.target(given)
    if (Option.isSome(given.month) || Option.isSome(given.by)) {
      if ([given.range, given.from, given.to].some(Option.isSome)) return yield* twoSpans
      return yield* billShow(to, given)
    }
    const urlParams = yield* rangeQuery(given, "30d")
    const client = yield* Client.group(to, "usageHistory")
    const answer = yield* client.analytics({ urlParams }).pipe(Client.orExplain(to))
    yield* Output.list({
      schema: UsageAnalytics,
      value: answer,
      rows: answer.byModel.toSorted((one, other) => other.costUsd - one.costUsd),
      columns,
      empty: `There were no requests ${spanText(answer)}.`
    })
    yield* remarkInexact(answer)
    const { costUsd, requests, unpriced } = answer.summary
    if (requests === 0) return
    yield* Output.remark(`${usd(costUsd)} USD ${spanText(answer)} for ${Column.thousands(requests)} requests.`)
    if (unpriced > 0) {
      yield* Output.remark(
        `${Column.thousands(unpriced)} requests have no known price and count as 0; set it with 'gateway pricing set'.`
      )
    }
    yield* trend(answer.dailyTrend)
  })
)
