/** `gateway cost reconcile`: a provider's bill beside the ledger, by day and model. */
import * as Args from "@effect/cli/Args"
import * as Command from "@effect/cli/Command"
import * as Options from "@effect/cli/Options"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { CallsExplained } from "../../../usageHistory/routes.ts"
import { billForms } from "../../../usageHistory/entity/Bill.ts"
import { readBill } from "./readBill.ts"
import { daysOf, reconcile, type Row, totalsOf } from "../../../usageHistory/entity/Reconciliation.ts"
import { BadArgument } from "../../../../cli/Failure.ts"
import * as Client from "../../../../cli/gateway/Client.ts"
import * as Column from "../../../../cli/output/Column.ts"
import { usd } from "../../../../cli/output/money.ts"
import * as Output from "../../../../cli/output/Output.ts"

const file = Args.file({ name: "file", exists: "either" }).pipe(
  Args.withDescription("The provider's export of costs, JSON or CSV.")
)

const provider = Options.text("provider").pipe(
  Options.withDescription("The provider or node whose calls are compared; by default that of the export."),
  Options.optional
)

const connectionId = Options.text("connection").pipe(
  Options.withDescription("Compare the calls of one connection only, by its id."),
  Options.optional
)

const Reconciled = Schema.Struct({
  provider: Schema.String,
  /** The days of the export, in UTC. */
  from: Schema.String,
  to: Schema.String,
  timeZone: Schema.Literal("UTC"),
  total: Schema.Struct({ billedUsd: Schema.Number, ledgerUsd: Schema.Number, differenceUsd: Schema.Number }),
  days: Schema.Array(
    Schema.Struct({
      date: Schema.String,
      model: Schema.NullOr(Schema.String),
      billedUsd: Schema.Number,
      ledgerUsd: Schema.Number,
      differenceUsd: Schema.Number,
      calls: Schema.Number,
      why: Schema.String,
      reasons: Schema.Array(CallsExplained)
    })
  )
})

const columns: ReadonlyArray<Column.Column<Row>> = [
  Column.name("DAY", ({ date }) => date),
  Column.text("MODEL", ({ model }) => model ?? "(all)", { fit: "keep" }),
  Column.number("BILLED", ({ billedUsd }) => billedUsd, usd, { fit: "keep" }),
  Column.number("LEDGER", ({ ledgerUsd }) => ledgerUsd, usd, { fit: "keep" }),
  Column.number("DIFFERENCE", ({ differenceUsd }) => differenceUsd, usd, { fit: "keep" }),
  Column.number("CALLS", ({ calls }) => calls, Column.thousands),
  Column.prose("WHY", ({ why }) => why),
  Column.text("REQUESTS", ({ reasons }) => reasons.flatMap(({ requestIds }) => requestIds).join(" "), { in: "wide" })
]

export const costReconcile = Command.make(
  "reconcile",
  { file, provider, connectionId, ...Client.connection },
  (given) =>
    Effect.gen(function* () {
      const bill = yield* readBill(given.file)
      const { provider: usual, words } = billForms[bill.form]
      const span = daysOf(bill.billed)
      if (span === null) return yield* new BadArgument({ message: `'${given.file}' has no amount in it.` })
      const { from, to } = span
      const compared = Option.getOrElse(given.provider, () => usual)
      const target = yield* Client.target(given)
      const client = yield* Client.group(target, "usageHistory")
      const { days, isCut } = yield* client
        .calls({
          urlParams: {
            provider: compared,
            from,
            to,
            ...Option.match(given.connectionId, { onNone: () => ({}), onSome: (id) => ({ connectionId: id }) })
          }
        })
        .pipe(Client.orExplain(target))
      const { byDay, rows } = reconcile(bill.billed, days, bill.inCents)
      const total = totalsOf(rows)
      yield* Output.list({
        schema: Reconciled,
        value: { provider: compared, from, to, timeZone: "UTC" as const, total, days: rows },
        rows,
        columns,
        empty: "Nothing was billed, and nothing was booked."
      })
      yield* Output.remark(
        `${words}, ${from} to ${to} in UTC: ${usd(total.billedUsd)} USD billed, ${usd(total.ledgerUsd)} USD in the ledger for '${compared}', difference ${usd(total.differenceUsd)} USD.`
      )
      if (byDay) {
        yield* Output.remark(
          "The export does not name models: group it by line item (OpenAI) or description (Anthropic)."
        )
      }
      if (bill.goesOn)
        yield* Output.remark("The report goes on: fetch its next pages, and give all of them as a JSON list.")
      if (isCut)
        yield* Output.remark("The ledger has more days and models than are compared: export fewer days at once.")
      const now = new Date(yield* Clock.currentTimeMillis).toISOString().slice(0, 10)
      if (to >= now) yield* Output.remark("The last day is not over: providers bill some hours late.")
      if (rows.some(({ reasons, why }) => why !== "" && reasons.length > 0)) {
        yield* Output.remark("'-o wide' and '--json' name the requests; 'gateway route decision <request>' shows one.")
      }
    })
)
