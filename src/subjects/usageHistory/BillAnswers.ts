/** Compares the text of a bill with the ledger, for `POST /api/usage/reconcile`. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { asSentence } from "../../kernel/text/Sentence.ts"
import { InvalidInput } from "../Errors.ts"
import { callsView } from "../usage/UsageViews.ts"
import type { BillCompared, CompareBill } from "./routes.ts"
import type { UsageHistory } from "./service.ts"
import { billForms, NoBill } from "./entity/Bill.ts"
import { readBillText } from "./entity/BillText.ts"
import { daysOf, reconcile, totalsOf } from "./entity/Reconciliation.ts"

const dayMs = 86_400_000

const refused = (message: string): InvalidInput => new InvalidInput({ problems: [{ field: "bill", message }] })

const problemOf = (error: unknown): InvalidInput =>
  error instanceof NoBill
    ? refused(`${asSentence(error.message)}${error.hint === undefined ? "" : ` ${error.hint}`}`)
    : refused("cannot be read")

const remarks = {
  byDay: "The export does not name models: group it by line item (OpenAI) or description (Anthropic).",
  goesOn: "The report goes on: fetch its next pages, and give all of them as a JSON list.",
  isCut: "The ledger has more days and models than are compared: export fewer days at once.",
  isRunning: "The last day is not over: providers bill some hours late."
} as const

export const compareBill = Effect.fn("UsageHistory.compareBill")(function* (
  history: typeof UsageHistory.Service,
  { bill: text, connectionId, provider }: CompareBill
) {
  const bill = yield* Effect.tryPromise({ try: () => readBillText(text), catch: problemOf })
  const span = daysOf(bill.billed)
  if (span === null) return yield* refused("has no amount in it")
  const { from, to } = span
  const form = billForms[bill.form]
  const compared = provider ?? form.provider
  const booked = yield* history.calls({
    provider: compared,
    ...(connectionId === undefined || connectionId === null ? {} : { connectionId }),
    sinceMs: Date.parse(from),
    untilMs: Date.parse(to) + dayMs
  })
  const { days, isCut } = callsView(booked)
  const { byDay, rows } = reconcile(bill.billed, days, bill.inCents)
  const today = new Date(yield* Clock.currentTimeMillis).toISOString().slice(0, 10)
  const found = { byDay, goesOn: bill.goesOn, isCut, isRunning: to >= today }
  const answer: BillCompared = {
    provider: compared,
    form: form.words,
    from,
    to,
    total: totalsOf(rows),
    days: rows,
    remarks: (Object.keys(remarks) as ReadonlyArray<keyof typeof remarks>)
      .filter((name) => found[name])
      .map((name) => remarks[name])
  }
  return answer
})
