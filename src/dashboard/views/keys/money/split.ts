/** Costs by two dimensions as a table, and day by day as stacks. Pure. */

export const dimensions = ["model", "apiKey", "provider", "combo", "day"] as const
export type Dimension = (typeof dimensions)[number]
export type Split = Exclude<Dimension, "day">

const isDimension = (text: string | undefined): text is Dimension => dimensions.some((each) => each === text)

/** The two dimensions of an address; they are never the same. */
export const readDimensions = (by: string | undefined, and: string | undefined): readonly [Dimension, Dimension] => {
  const first = isDimension(by) ? by : "model"
  const wanted = isDimension(and) ? and : "apiKey"
  return [first, wanted === first ? (first === "apiKey" ? "model" : "apiKey") : wanted]
}

/** Dimension of the stacks: the first one that is no day. */
export const stackedBy = ([by, and]: readonly [Dimension, Dimension]): Split => (by === "day" ? (and as Split) : by)

/** Costs of the days of a month that have one name. */
export interface Stack {
  /** Null: requests without one. */
  readonly key: string | null
  readonly name: string
  readonly costs: ReadonlyArray<number>
  readonly total: number
}

const sum = (values: ReadonlyArray<number>): number => values.reduce((all, each) => all + each, 0)

interface Series {
  readonly key: string | null
  readonly name: string | null
  readonly costUsd: ReadonlyArray<number>
}

export interface Answer {
  readonly series: ReadonlyArray<Series>
  readonly rest: { readonly costUsd: ReadonlyArray<number> }
}

export interface Words {
  /** Name of requests that have none. */
  readonly none: string
  readonly others: string
}

/** The dearest names, each as a stack, and all others as one behind them. */
export const stacksOf = ({ rest, series }: Answer, most: number, words: Words): ReadonlyArray<Stack> => {
  const all = series
    .map(({ costUsd, key, name }): Stack => ({
      key,
      name: name ?? key ?? words.none,
      costs: costUsd,
      total: sum(costUsd)
    }))
    .filter(({ total }) => total > 0)
    .toSorted((one, other) => other.total - one.total)
  const left = [...all.slice(most).map(({ costs }) => costs), rest.costUsd]
  const costs = rest.costUsd.map((_, day) => sum(left.map((each) => each[day] ?? 0)))
  const total = sum(costs)
  const shown = all.slice(0, most)
  return total > 0 ? [...shown, { key: null, name: words.others, costs, total }] : shown
}

interface Pair {
  readonly key: string | null
  readonly name: string | null
  readonly andKey: string | null
  readonly andName: string | null
  readonly costUsd: number
}

export interface TableRow {
  readonly name: string
  readonly key: string | null
  /** One for each column. */
  readonly costs: ReadonlyArray<number>
  readonly total: number
}

export interface Table {
  readonly columns: ReadonlyArray<string>
  /** The dearest first. */
  readonly rows: ReadonlyArray<TableRow>
}

/** A table of pairs: the dearest of the second dimension have columns of their own. */
export const tableOf = (pairs: ReadonlyArray<Pair>, mostColumns: number, words: Words): Table => {
  const nameOf = (key: string | null, name: string | null): string => name ?? key ?? words.none
  const totals = new Map<string, number>()
  for (const { andKey, andName, costUsd } of pairs) {
    const name = nameOf(andKey, andName)
    totals.set(name, (totals.get(name) ?? 0) + costUsd)
  }
  const names = [...totals].toSorted(([, one], [, other]) => other - one).map(([name]) => name)
  const hasOthers = names.length > mostColumns
  const own = hasOthers ? names.slice(0, mostColumns - 1) : names
  const columns = hasOthers ? [...own, words.others] : own
  const rows = new Map<string, { name: string; key: string | null; costs: Array<number>; total: number }>()
  for (const { andKey, andName, costUsd, key, name } of pairs) {
    const id = JSON.stringify(key)
    const row = rows.get(id) ?? { name: nameOf(key, name), key, costs: columns.map(() => 0), total: 0 }
    const found = own.indexOf(nameOf(andKey, andName))
    const place = found === -1 ? columns.length - 1 : found
    row.costs[place] = (row.costs[place] ?? 0) + costUsd
    row.total += costUsd
    rows.set(id, row)
  }
  return { columns, rows: [...rows.values()].toSorted((one, other) => other.total - one.total) }
}

/** The same with days as rows, the latest first. */
export const tableOfDays = (days: ReadonlyArray<string>, stacks: ReadonlyArray<Stack>): Table => ({
  columns: stacks.map(({ name }) => name),
  rows: days
    .map((day, place): TableRow => {
      const costs = stacks.map(({ costs: all }) => all[place] ?? 0)
      return { name: day, key: day, costs, total: sum(costs) }
    })
    .toReversed()
})
