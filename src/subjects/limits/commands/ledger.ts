/** `gateway budget ledger`: what was reserved and booked, call by call. */
import * as Command from "@effect/cli/Command"
import * as Options from "@effect/cli/Options"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { LedgerEntryView } from "../routes.ts"
import * as Client from "../../../cli/gateway/Client.ts"
import * as Column from "../../../cli/output/Column.ts"
import * as Output from "../../../cli/output/Output.ts"
import { findKey } from "./budgets.ts"

const amount = (usd: number | null): number | null => (usd === null ? null : Number(usd.toFixed(8)))

const columns: ReadonlyArray<Column.Column<LedgerEntryView>> = [
  Column.time("TIME", ({ createdAt }) => createdAt),
  Column.text("STATE", ({ state }) => state),
  Column.number("RESERVED", ({ reservedUsd }) => amount(reservedUsd)),
  Column.number("BOOKED USD", ({ settledUsd }) => amount(settledUsd)),
  Column.text("MODEL", ({ model, provider }) => (provider === null ? null : `${provider}/${model ?? ""}`)),
  Column.number("CALL", ({ attempt }) => attempt),
  Column.id("REQUEST", ({ requestId }) => requestId)
]

export const budgetLedger = Command.make(
  "ledger",
  {
    key: Options.text("key").pipe(Options.withDescription("Only of this API key."), Options.optional),
    request: Options.text("request").pipe(Options.withDescription("Only of this request id."), Options.optional),
    limit: Options.integer("limit").pipe(Options.withDescription("Most entries."), Options.withDefault(50)),
    ...Client.connection
  },
  (given) =>
    Effect.gen(function* () {
      const to = yield* Client.target(given)
      const key = Option.isNone(given.key) ? null : yield* findKey(to, given.key.value)
      const client = yield* Client.group(to, "limits")
      const answer = yield* client
        .ledger({
          urlParams: {
            limit: given.limit,
            ...(key === null ? {} : { apiKeyId: key.id }),
            ...(Option.isNone(given.request) ? {} : { requestId: given.request.value })
          }
        })
        .pipe(Client.orExplain(to))
      yield* Output.list({
        schema: Schema.Struct({ entries: Schema.Array(LedgerEntryView), nextCursor: Schema.NullOr(Schema.String) }),
        value: answer,
        rows: answer.entries,
        columns,
        empty: "There are no entries."
      })
    })
)
