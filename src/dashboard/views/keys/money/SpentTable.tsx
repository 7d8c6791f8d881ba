/** Costs by two dimensions, the dearest rows first; a row leads to its requests. */
import { money, visible } from "../../../ui/format.ts"
import { placeOf } from "../../../ui/address/places.ts"
import { words } from "../../../words/keysMoney.ts"
import type { Dimension, Table, TableRow } from "./split.ts"
import type { Shown } from "./useMoney.ts"

/** Rows that are drawn. */
const mostRows = 50

const filters: Readonly<Record<Exclude<Dimension, "day">, string>> = {
  model: "model",
  apiKey: "key",
  provider: "provider",
  combo: "combo"
}

/** The filter of requests as it is typed: a value with a space is quoted. */
const filterText = (dimension: Exclude<Dimension, "day">, key: string): string =>
  `${filters[dimension]}:${/[\s"]/.test(key) ? `"${key.replaceAll('"', "")}"` : key}`

const Name = ({ dimension, row }: { readonly dimension: Dimension; readonly row: TableRow }) =>
  dimension === "day" || row.key === null ? (
    <>{visible(row.name)}</>
  ) : (
    <a href={`${placeOf("requests")}?q=${encodeURIComponent(filterText(dimension, row.key))}`}>{visible(row.name)}</a>
  )

const amount = (usd: number): string => (usd === 0 ? "–" : money(usd))

export const SpentTable = ({ shown, table }: { readonly shown: Shown; readonly table: Table }) => {
  const [by, and] = shown.dimensions
  const rowsAre: Dimension = and === "day" ? "day" : by
  const totals = table.columns.map((_, place) => table.rows.reduce((all, { costs }) => all + (costs[place] ?? 0), 0))
  return (
    <div class="scroller spent" tabIndex={0} role="region" aria-label={words.table}>
      <table class="plain-table">
        <thead>
          <tr>
            <th>{words.dimensions[rowsAre]}</th>
            <th class="number">{words.total}</th>
            {table.columns.map((name) => (
              <th key={name} class="number">
                {visible(name)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {table.rows.slice(0, mostRows).map((row) => (
            <tr key={`${row.key} ${row.name}`}>
              <th scope="row">
                <Name dimension={rowsAre} row={row} />
              </th>
              <td class="number">
                <strong>{amount(row.total)}</strong>
              </td>
              {row.costs.map((cost, place) => (
                <td key={table.columns[place]} class="number">
                  {amount(cost)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
        <tfoot>
          <tr>
            <th scope="row">{words.total}</th>
            <td class="number">
              <strong>{amount(totals.reduce((all, each) => all + each, 0))}</strong>
            </td>
            {totals.map((total, place) => (
              <td key={table.columns[place]} class="number">
                {amount(total)}
              </td>
            ))}
          </tr>
        </tfoot>
      </table>
    </div>
  )
}
