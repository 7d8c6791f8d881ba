/** A table of few rows, which scrolls sideways by itself where it is wider than the page. */
import type { ComponentChildren } from "preact"

interface Properties {
  readonly label: string
  readonly columns: ReadonlyArray<string>
  /** Columns of numbers, from 0. */
  readonly numbers?: ReadonlyArray<number>
  readonly children: ComponentChildren
}

export const Table = ({ children, columns, label, numbers = [] }: Properties) => (
  <div class="scroller" role="region" aria-label={label} tabIndex={0}>
    <table class="plain-table">
      <thead>
        <tr>
          {columns.map((column, index) => (
            <th key={column} scope="col" class={numbers.includes(index) ? "number" : undefined}>
              {column}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>{children}</tbody>
    </table>
  </div>
)
