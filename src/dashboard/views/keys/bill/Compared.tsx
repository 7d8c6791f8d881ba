/** Bill and ledger side by side, by day and model, with what may explain each difference. */
import type { AnswerOf } from "../../../api/client.ts"
import type { usageHistoryReconcile } from "../../../api/calls.generated.ts"
import { State } from "../../../ui/State.tsx"
import { count, dayName, money, visible } from "../../../ui/format.ts"
import { placeOf } from "../../../ui/address/places.ts"
import { words as all } from "../../../words/keysMoney.ts"
import { useAddress } from "../address.ts"
import { saveFile } from "../exportFile.ts"

const words = all.bill
type Answer = AnswerOf<typeof usageHistoryReconcile>
type Row = Answer["days"][number]

/** Rows that are drawn; the file has all. */
const mostRows = 500
/** Less than this is rounding. */
const leastUsd = 1e-6

const differs = ({ differenceUsd }: { readonly differenceUsd: number }): boolean => Math.abs(differenceUsd) >= leastUsd

const signed = (usd: number): string => (usd > 0 ? `+${money(usd)}` : usd < 0 ? `−${money(-usd)}` : money(0))

const Why = ({ row: { reasons, why } }: { readonly row: Row }) => (
  <>
    {visible(why)}
    {reasons
      .flatMap(({ requestIds }) => requestIds)
      .slice(0, 5)
      .map((id, index) => (
        <span key={id}>
          {" "}
          <a href={placeOf(`requests/${encodeURIComponent(id)}`)} aria-label={`${words.requests} ${id}`}>
            #{index + 1}
          </a>
        </span>
      ))}
  </>
)

const Rows = ({ rows }: { readonly rows: ReadonlyArray<Row> }) => (
  <div class="scroller" tabIndex={0} role="region" aria-label={words.result}>
    <table class="plain-table compared">
      <thead>
        <tr>
          <th>{words.columns.day}</th>
          <th>{words.columns.model}</th>
          <th class="number">{words.columns.billed}</th>
          <th class="number">{words.columns.ledger}</th>
          <th class="number">{words.columns.difference}</th>
          <th class="number">{words.columns.calls}</th>
          <th>{words.columns.why}</th>
        </tr>
      </thead>
      <tbody>
        {rows.slice(0, mostRows).map((row) => (
          <tr key={`${row.date} ${row.model}`}>
            <td class="nowrap">{dayName(row.date)}</td>
            <th scope="row">{row.model === null ? words.allOfDay : visible(row.model)}</th>
            <td class="number">{money(row.billedUsd)}</td>
            <td class="number">{money(row.ledgerUsd)}</td>
            <td class="number">
              {differs(row) ? (
                <State kind="warning">{signed(row.differenceUsd)}</State>
              ) : (
                <State kind="good">{money(0)}</State>
              )}
            </td>
            <td class="number">{count(row.calls)}</td>
            <td>
              <Why row={row} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  </div>
)

export const Compared = ({ answer }: { readonly answer: Answer }) => {
  const { query, set } = useAddress()
  const { days, form, from, provider, remarks, to, total } = answer
  const isDifferent = query["only"] === "different"
  const rows = isDifferent ? days.filter(differs) : days
  const save = (as: "csv" | "json"): void =>
    saveFile(
      `bill-${from}-${to}`,
      as,
      days.map(({ reasons, ...row }) => ({
        ...row,
        requests: reasons.flatMap(({ requestIds }) => requestIds).join(" ")
      }))
    )
  return (
    <section class="card stack" aria-label={words.result} aria-live="polite">
      <h2>
        {differs(total) ? (
          <State kind="warning">{words.differs(signed(total.differenceUsd))}</State>
        ) : (
          <State kind="good">{words.agrees}</State>
        )}
      </h2>
      <p class="money-figures">
        <span>
          {words.columns.billed} <strong class="big">{money(total.billedUsd)}</strong>
        </span>
        <span>
          {words.columns.ledger} <strong class="big">{money(total.ledgerUsd)}</strong>
        </span>
        <span class="quiet">{words.about(form, dayName(from), dayName(to), visible(provider))}</span>
      </p>
      {remarks.map((remark) => (
        <p key={remark} class="quiet">
          {visible(remark)}
        </p>
      ))}
      {days.length === 0 ? (
        <p>{words.nothing}</p>
      ) : (
        <>
          <div class="buttons">
            <label class="choice">
              <input
                type="checkbox"
                checked={isDifferent}
                onChange={({ currentTarget }) => set({ only: currentTarget.checked ? "different" : "" })}
              />
              {words.onlyDifferent}
            </label>
            <button type="button" class="button" onClick={() => save("csv")}>
              {all.asCsv}
            </button>
            <button type="button" class="button" onClick={() => save("json")}>
              {all.asJson}
            </button>
          </div>
          <Rows rows={rows} />
        </>
      )}
    </section>
  )
}
