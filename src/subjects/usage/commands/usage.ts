/** `gateway usage`: what was used over a range of time, by provider, model or key. */
import * as Command from "@effect/cli/Command"
import * as Options from "@effect/cli/Options"
import * as Effect from "effect/Effect"
import { UsageAnalytics, type UsageSummary } from "../../usageHistory/routes.ts"
import * as Client from "../../../cli/gateway/Client.ts"
import * as Column from "../../../cli/output/Column.ts"
import { percent, usd } from "../../../cli/output/money.ts"
import * as Output from "../../../cli/output/Output.ts"
import { rangeFlags, rangeQuery, remarkInexact, spanText } from "./range.ts"

interface Row extends UsageSummary {
  readonly name: string
}

const groupings = ["provider", "model", "connection", "key", "day"] as const
type Grouping = (typeof groupings)[number]

const named = (sums: UsageSummary, name: string): Row => ({ ...sums, name })

const rowsOf = (by: Grouping, answer: UsageAnalytics): ReadonlyArray<Row> => {
  switch (by) {
    case "provider":
      return answer.byProvider.map((each) => named(each, each.provider ?? "-"))
    case "model":
      return answer.byModel.map((each) =>
        named(each, each.model === null ? "-" : `${each.provider ?? "-"}/${each.model}`)
      )
    case "connection":
      return answer.byConnection.map((each) => named(each, each.name ?? each.connectionId ?? "-"))
    case "key":
      return answer.byApiKey.map((each) => named(each, each.name ?? each.apiKeyId ?? "(no key)"))
    case "day":
      return answer.dailyTrend.map((each) => named(each, each.date))
  }
}

const columnsOf = (by: Grouping): ReadonlyArray<Column.Column<Row>> => [
  Column.name(by.toUpperCase(), ({ name }) => name),
  Column.number("REQUESTS", ({ requests }) => requests, Column.thousands),
  Column.number("TOKENS IN", ({ tokensIn }) => tokensIn, Column.thousands),
  Column.number("TOKENS OUT", ({ tokensOut }) => tokensOut, Column.thousands),
  Column.number("USD", ({ costUsd }) => costUsd, usd),
  Column.number("AVG MS", ({ avgLatencyMs }) => avgLatencyMs, Column.thousands),
  Column.number("OK", ({ successRate }) => successRate, percent),
  Column.time("LAST USED", ({ lastUsedAt }) => lastUsedAt, { in: "wide" })
]

const by = Options.choice("by", groupings).pipe(
  Options.withDescription("What to sum up by: provider, model, connection, key or day."),
  Options.withDefault("provider" as const)
)

export const usageShow = Command.make("show", { by, ...rangeFlags("24h"), ...Client.connection }, (given) =>
  Effect.gen(function* () {
    const to = yield* Client.target(given)
    const urlParams = yield* rangeQuery(given, "24h")
    const client = yield* Client.group(to, "usageHistory")
    const answer = yield* client.analytics({ urlParams }).pipe(Client.orExplain(to))
    const { summary } = answer
    yield* Output.list({
      schema: UsageAnalytics,
      value: answer,
      rows: rowsOf(given.by, answer),
      columns: columnsOf(given.by),
      empty: `There were no requests ${spanText(answer)}.`
    })
    yield* remarkInexact(answer)
    if (summary.requests === 0) return
    yield* Output.remark(
      `${Column.thousands(summary.requests)} requests ${spanText(answer)}: ${usd(summary.costUsd)} USD, ${Column.thousands(summary.failed)} failed.`
    )
    if (summary.unpriced > 0) {
      yield* Output.remark(
        `${Column.thousands(summary.unpriced)} of them have no known price; set it with 'gateway pricing set'.`
      )
    }
  })
)
