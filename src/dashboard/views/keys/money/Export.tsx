/** Saves what is shown as a file, or the requests that it is made of. */
import { useRef } from "preact/hooks"
import { isAdministrator } from "../../../api/rights.ts"
import { download } from "../../../api/raw.ts"
import { Icon } from "../../../ui/Icon.tsx"
import { useWork } from "../../../ui/useWork.ts"
import { toast } from "../../../ui/toasts.tsx"
import { words } from "../../../words/keysMoney.ts"
import { type FileRow, saveFile } from "../exportFile.ts"
import { textOfMonth } from "./period.ts"
import type { Table } from "./split.ts"
import { type Pairs, rangeOf, type Shown } from "./useMoney.ts"

/** Rows of the file: of pairs with all their sums, of days with a column for each name. */
const rowsOf = ({ dimensions: [by, and] }: Shown, table: Table, pairs: Pairs | undefined): ReadonlyArray<FileRow> =>
  pairs === undefined || by === "day" || and === "day"
    ? table.rows.map(({ costs, name, total }) => ({
        day: name,
        ...Object.fromEntries(table.columns.map((column, place) => [column, costs[place] ?? 0])),
        totalUsd: total
      }))
    : pairs.rows.map(({ andKey, andName, key, name, ...sums }) => ({
        [by]: name ?? key,
        [`${by}Id`]: key,
        [and]: andName ?? andKey,
        [`${and}Id`]: andKey,
        ...sums
      }))

interface Properties {
  readonly shown: Shown
  readonly table: Table
  readonly pairs: Pairs | undefined
}

export const Export = ({ pairs, shown, table }: Properties) => {
  const menu = useRef<HTMLDetailsElement>(null)
  const { isBusy, run } = useWork([])
  const close = (): void => {
    if (menu.current !== null) menu.current.open = false
  }
  const save = (form: "csv" | "json"): void => {
    saveFile(`cost-${textOfMonth(shown.month)}`, form, rowsOf(shown, table, pairs))
    close()
    toast("good", words.exported)
  }
  const saveRequests = (): void => {
    close()
    const { from, to } = rangeOf(shown.month)
    void run(() =>
      download(`api/usage/export?format=csv&from=${from}&to=${to}`, `requests-${textOfMonth(shown.month)}.csv`)
    )
  }
  return (
    <details
      class="menu"
      ref={menu}
      onKeyDown={({ key }) => {
        if (key === "Escape") close()
      }}
    >
      <summary class="button">
        <Icon name="down" /> {words.export}
      </summary>
      <div class="menu-card stack">
        <button type="button" class="button" onClick={() => save("csv")}>
          {words.asCsv}
        </button>
        <button type="button" class="button" onClick={() => save("json")}>
          {words.asJson}
        </button>
        {isAdministrator() && (
          <button type="button" class="button" disabled={isBusy.value} onClick={saveRequests}>
            {words.requestsCsv}
          </button>
        )}
      </div>
    </details>
  )
}
