/** The rows of a bill, those that cost the most first, with their total. */
import type { ComponentChildren } from "preact"
import { count, money, visible } from "../../../ui/format.ts"
import { words } from "../../../words/monthBill.ts"
import { type Bill, type Dimension, nameIn, type Row } from "./bill.ts"

const { columns } = words

type Sums = Bill["total"]

const Figures = ({ sums: { billedUsd, costUsd, requests, tokensIn, tokensOut } }: { readonly sums: Sums }) => (
  <>
    <td class="number">{count(requests)}</td>
    <td class="number">{count(tokensIn)}</td>
    <td class="number">{count(tokensOut)}</td>
    <td class="number">{money(costUsd)}</td>
    <td class="number">{money(billedUsd)}</td>
  </>
)

interface Properties<A extends Row> {
  readonly label: string
  readonly by: ReadonlyArray<Dimension>
  readonly rows: ReadonlyArray<A>
  readonly total: Sums
  /** A column before the others. */
  readonly first?: { readonly name: string; readonly of: (row: A) => ComponentChildren }
}

export const BillTable = <A extends Row>({ by, first, label, rows, total }: Properties<A>) => (
  <div class="scroller" role="region" aria-label={label} tabIndex={0}>
    <table class="plain-table bill-table">
      <thead>
        <tr>
          {first !== undefined && <th scope="col">{first.name}</th>}
          {by.map((dimension) => (
            <th key={dimension} scope="col" class="capital">
              {words.dimensions[dimension]}
            </th>
          ))}
          {[columns.requests, columns.in, columns.out, columns.cost, columns.billed].map((name) => (
            <th key={name} scope="col" class="number">
              {name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row, index) => (
          <tr key={index}>
            {first !== undefined && <td>{first.of(row)}</td>}
            {by.map((dimension) => (
              <td key={dimension}>{visible(nameIn(row, dimension))}</td>
            ))}
            <Figures sums={row} />
          </tr>
        ))}
      </tbody>
      <tfoot>
        <tr>
          <th scope="row" colSpan={by.length + (first === undefined ? 0 : 1)}>
            {words.total}
          </th>
          <Figures sums={total} />
        </tr>
      </tfoot>
    </table>
  </div>
)
