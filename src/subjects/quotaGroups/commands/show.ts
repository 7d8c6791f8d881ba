/** `gateway quota`: what is left of the quotas of the connections, and until when it will last. */
import { QuotaWindows, type QuotaWindowView } from "../../usage/routes.ts"
import * as Column from "../../../cli/output/Column.ts"
import * as Output from "../../../cli/output/Output.ts"
import { asking } from "../../../cli/verbs/asking.ts"

const columns: ReadonlyArray<Column.Column<QuotaWindowView>> = [
  Column.name("CONNECTION", ({ connectionName }) => connectionName),
  Column.text("PROVIDER", ({ provider }) => provider),
  Column.text("WINDOW", ({ window }) => window),
  Column.number("USED", ({ used }) => used, Column.thousands),
  Column.number("OF", ({ total }) => total, Column.thousands),
  Column.text("UNIT", ({ unit }) => unit),
  Column.number(
    "LEFT %",
    ({ remainingPercentage }) => remainingPercentage,
    (value) => value.toFixed(1)
  ),
  Column.time("RESETS", ({ resetAt }) => resetAt),
  Column.time("USED UP", ({ exhaustedAt }) => exhaustedAt)
]

export const quotaShow = asking("show", "usage", {}, function* (client) {
  const answer = yield* client.quotas()
  yield* Output.list({
    schema: QuotaWindows,
    value: answer,
    rows: answer.windows,
    columns,
    empty:
      "No quota is known. Declare one with 'gateway provider edit <name> --quota', or wait for an answer of the provider that tells it."
  })
})
