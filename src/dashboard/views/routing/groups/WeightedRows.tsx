/** Rows that each choose one of several and give it a weight; beside it its share. */
import { Icon } from "../../../ui/Icon.tsx"
import { percent, visible } from "../../../ui/format.ts"
import { words } from "../../../words/routingParts.ts"

export interface Weighted {
  /** Key of this page only. */
  readonly key: number
  /** Empty: nothing is chosen yet. */
  readonly id: string
  /** Weight as typed. */
  readonly weight: string
}

let lastKey = 0

export const weightedRow = (id: string, weight: string): Weighted => ({ key: ++lastKey, id, weight })

interface Properties {
  readonly title: string
  readonly add: string
  readonly rows: ReadonlyArray<Weighted>
  /** Names by id. */
  readonly choices: ReadonlyMap<string, string>
  readonly labelOf: (place: number) => string
  readonly weightOf: (place: number) => string
  readonly removeOf: (place: number) => string
  readonly onRows: (rows: ReadonlyArray<Weighted>) => void
}

const weightIn = ({ weight }: Weighted): number => (Number(weight) > 0 ? Number(weight) : 0)

export const WeightedRows = ({ add, choices, labelOf, onRows, removeOf, rows, title, weightOf }: Properties) => {
  const sum = rows.reduce((total, row) => total + weightIn(row), 0)
  const taken = new Set(rows.map(({ id }) => id))
  return (
    <fieldset class="group">
      <legend>{title}</legend>
      {rows.map((row, index) => {
        const change = (part: Partial<Weighted>): void => onRows(rows.with(index, { ...row, ...part }))
        const share = sum === 0 ? 0 : weightIn(row) / sum
        return (
          <div key={row.key} class="weighted">
            <select
              class="input"
              aria-label={labelOf(index + 1)}
              value={row.id}
              onChange={(event) => change({ id: event.currentTarget.value })}
            >
              <option value="">{words.groups.choose}</option>
              {row.id !== "" && !choices.has(row.id) && <option value={row.id}>{visible(row.id)}</option>}
              {[...choices]
                .filter(([id]) => id === row.id || !taken.has(id))
                .map(([id, name]) => (
                  <option key={id} value={id}>
                    {visible(name)}
                  </option>
                ))}
            </select>
            <input
              class="input"
              inputMode="decimal"
              aria-label={weightOf(index + 1)}
              aria-invalid={weightIn(row) === 0}
              value={row.weight}
              onInput={(event) => change({ weight: event.currentTarget.value })}
            />
            <meter min={0} max={1} value={share} aria-label={words.groups.share} />
            <span>{percent(share)}</span>
            <button
              type="button"
              class="button plain"
              aria-label={removeOf(index + 1)}
              onClick={() => onRows(rows.toSpliced(index, 1))}
            >
              <Icon name="close" />
            </button>
          </div>
        )
      })}
      <button type="button" class="button" onClick={() => onRows([...rows, weightedRow("", "1")])}>
        <Icon name="add" /> {add}
      </button>
    </fieldset>
  )
}
