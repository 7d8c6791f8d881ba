/** The bill of a month, by one or two dimensions: to read, to close, to save as a file, and to print. */
import { useId } from "preact/hooks"
import { billsShow } from "../../../api/calls.generated.ts"
import { addressOf } from "../../../api/client.ts"
import { useAnswer } from "../../../api/queries.ts"
import { download } from "../../../api/raw.ts"
import { isAdministrator } from "../../../api/rights.ts"
import { Answered } from "../../../ui/Answered.tsx"
import { CopyAs } from "../../../ui/copy/CopyAs.tsx"
import { count, monthName, nowMs, visible } from "../../../ui/format.ts"
import { Empty } from "../../../ui/parts/Empty.tsx"
import { State } from "../../../ui/State.tsx"
import { Time } from "../../../ui/Time.tsx"
import { toast } from "../../../ui/toasts.tsx"
import { useWork } from "../../../ui/useWork.ts"
import { words } from "../../../words/monthBill.ts"
import { useAddress } from "../address.ts"
import { Months } from "../money/Months.tsx"
import { textOfMonth } from "../money/period.ts"
import { zone } from "../money/useMoney.ts"
import { type Asked, type Bill, dimensions, queryOf, readAsked } from "./bill.ts"
import { BillTable } from "./BillTable.tsx"
import { CloseMonth, ClosedMonths } from "./Closed.tsx"

interface ChoiceProperties {
  readonly label: string
  readonly name: string
  readonly value: string
  readonly choices: ReadonlyArray<readonly [string, string]>
}

const Choice = ({ choices, label, name, value }: ChoiceProperties) => {
  const { set } = useAddress()
  const id = useId()
  return (
    <span class="nowrap">
      <label for={id}>{label}</label>{" "}
      <select
        id={id}
        class="input short"
        value={value}
        onChange={({ currentTarget }) => set({ [name]: currentTarget.value })}
      >
        {choices.map(([choice, text]) => (
          <option key={choice} value={choice}>
            {text}
          </option>
        ))}
      </select>
    </span>
  )
}

const named = dimensions.map((each) => [each, words.dimensions[each]] as const)

const zonesFor = (chosen: string): ReadonlyArray<readonly [string, string]> =>
  [...new Set(["UTC", zone, chosen])].map((each) => [each, visible(each)])

const Choices = ({ asked: { by, isRolledUp, month, timezone } }: { readonly asked: Asked }) => {
  const { set } = useAddress()
  return (
    <div class="money-choices screen-only">
      <Months month={month} />
      <Choice label={words.by} name="by" value={by[0] ?? ""} choices={named} />
      <Choice
        label={words.and}
        name="and"
        value={by[1] ?? "-"}
        choices={[["-", words.nothingElse], ...named.filter(([each]) => each !== by[0])]}
      />
      <Choice label={words.timezone} name="zone" value={timezone} choices={zonesFor(timezone)} />
      {by.includes("team") && (
        <label class="tick">
          <input
            type="checkbox"
            checked={isRolledUp}
            onChange={({ currentTarget }) => set({ below: currentTarget.checked ? "1" : "" })}
          />{" "}
          {words.rollUp}
        </label>
      )}
    </div>
  )
}

const Standing = ({ bill: { checksum, closedAt, intact } }: { readonly bill: Bill }) => {
  if (closedAt === null) return <p class="quiet">{words.open}</p>
  return (
    <p>
      <State kind={intact ? "good" : "bad"}>
        {words.closed} <Time at={closedAt} />
      </State>{" "}
      {intact ? words.intact : words.broken}{" "}
      <span class="quiet">
        {words.checksum} <code class="checksum">{checksum}</code>
      </span>
    </p>
  )
}

const Actions = ({ asked, bill }: { readonly asked: Asked; readonly bill: Bill }) => {
  const { isBusy, run } = useWork([])
  const save = (): void =>
    void run(async () => {
      await download(addressOf("/api/bills/csv", { query: queryOf(asked) }), `bill-${bill.month}.csv`)
      toast("good", words.saved)
    })
  const mayClose = isAdministrator() && bill.closedAt === null
  return (
    <div class="buttons screen-only">
      <button type="button" class="button" disabled={isBusy.value} onClick={save}>
        {words.csv}
      </button>
      <button type="button" class="button" onClick={() => globalThis.print()}>
        {words.print}
      </button>
      {mayClose &&
        (Date.parse(bill.to) <= nowMs() ? (
          <CloseMonth month={bill.month} timezone={bill.timezone} />
        ) : (
          <span class="quiet">{words.over}</span>
        ))}
    </div>
  )
}

const Corrections = ({ asked, bill }: { readonly asked: Asked; readonly bill: Bill }) =>
  bill.corrections.length === 0 ? null : (
    <section class="stack" aria-label={words.corrections}>
      <h3>{words.corrections}</h3>
      <p class="quiet">{words.correctionsHint}</p>
      <BillTable
        label={words.corrections}
        by={asked.by}
        rows={bill.corrections}
        total={bill.correctionsTotal}
        first={{ name: words.month, of: ({ month }) => monthName(month) }}
      />
    </section>
  )

const Whole = ({ asked, bill }: { readonly asked: Asked; readonly bill: Bill }) => (
  <>
    <header class="bill-head">
      <h2>{words.title(monthName(bill.month))}</h2>
      <p class="quiet">
        {words.period(bill.from.slice(0, 10), bill.to.slice(0, 10))}, {visible(bill.timezone)}
      </p>
    </header>
    <Standing bill={bill} />
    {bill.rows.length === 0 ? (
      <Empty text={words.nothing} />
    ) : (
      <BillTable label={words.table} by={asked.by} rows={bill.rows} total={bill.total} />
    )}
    {bill.total.unpriced > 0 && (
      <p>
        <State kind="warning">
          {words.unpriced(bill.total.unpriced).replace(String(bill.total.unpriced), count(bill.total.unpriced))}
        </State>
      </p>
    )}
    <Corrections asked={asked} bill={bill} />
    {bill.inexact.map((sentence) => (
      <p key={sentence} class="quiet">
        {sentence}
      </p>
    ))}
    <Actions asked={asked} bill={bill} />
  </>
)

export const MonthBill = () => {
  const { query } = useAddress()
  const asked = readAsked(query, nowMs())
  const wanted = queryOf(asked)
  const bill = useAnswer({
    key: ["bills", textOfMonth(asked.month), wanted],
    ask: (signal) => billsShow({ query: wanted, signal })
  })
  return (
    <div class="stack">
      <section class="card stack month-bill" aria-label={words.table}>
        <Choices asked={asked} />
        <Answered of={bill} height={240}>
          {(answer) => <Whole asked={asked} bill={answer} />}
        </Answered>
        <CopyAs call={billsShow} query={wanted} />
      </section>
      {isAdministrator() && <ClosedMonths />}
    </div>
  )
}
