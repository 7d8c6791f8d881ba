/** Columns of a list, and the formats that each is in. */
import { harmless } from "../../kernel/text/TerminalText.ts"
import { localTime } from "./Time.ts"

/** Facts that a cell depends on besides its row. */
export interface Shown {
  readonly nowMs: number
  /** The shortest beginning of an id that no other id of the list has; whole ids in `wide`. */
  readonly short: (id: string) => string
}

export interface Column<Row> {
  readonly header: string
  /** The cell of a table. */
  readonly value: (row: Row, shown: Shown) => string
  readonly align?: "left" | "right"
  /** Format of a column that is only in `wide` and `csv`; by default it is in `table`, too. */
  readonly in?: "wide"
  /**
   * Treatment of the column in a table that is wider than the terminal. `keep`: it stays, because the next command needs it; `cut`:
   * its text may be shortened, because it is prose. Otherwise it is left out, the last column first. The first column is kept.
   */
  readonly fit?: "keep" | "cut"
  /** The cell in `csv`, where it is another than in a table. */
  readonly data?: (row: Row) => string | number | boolean | null
  /** The ids of the column, which tables shorten. */
  readonly id?: (row: Row) => string
  /** Printed by `-o name`; by default the first column. */
  readonly isName?: true
}

type Extra<Row> = Pick<Column<Row>, "in" | "fit" | "isName">

export const orDash = (value: string | number | null | undefined): string =>
  value === null || value === undefined || value === "" ? "-" : String(value)

/** The name by which other commands know the row. */
export const name = <Row>(header: string, value: (row: Row) => string): Column<Row> => ({
  header,
  value,
  fit: "keep",
  isName: true
})

/** An id, shortened in tables. Commands take any beginning of it that is unique. */
export const id = <Row>(header: string, value: (row: Row) => string, extra: Extra<Row> = {}): Column<Row> => ({
  header,
  value: (row, { short }) => short(value(row)),
  data: value,
  id: value,
  fit: "keep",
  ...extra
})

/** Text; null is a dash in tables and empty in csv. */
export const text = <Row>(
  header: string,
  value: (row: Row) => string | null | undefined,
  extra: Extra<Row> = {}
): Column<Row> => ({ header, value: (row) => orDash(value(row)), data: (row) => value(row) ?? null, ...extra })

/** A text for reading, which may be shortened. */
export const prose = <Row>(header: string, value: (row: Row) => string | null | undefined): Column<Row> =>
  text(header, value, { fit: "cut" })

/** A number; `show` writes it for people. */
export const number = <Row>(
  header: string,
  value: (row: Row) => number | null,
  show: (value: number) => string = String,
  extra: Extra<Row> = {}
): Column<Row> => ({
  header,
  value: (row) => {
    const given = value(row)
    return given === null ? "-" : show(given)
  },
  data: value,
  align: "right",
  ...extra
})

/** A count as people read it, such as `128,000`. */
export const thousands = (value: number): string => value.toLocaleString("en-US")

export const yesNo = <Row>(header: string, value: (row: Row) => boolean, extra: Extra<Row> = {}): Column<Row> => ({
  header,
  value: (row) => (value(row) ? "yes" : "no"),
  data: value,
  ...extra
})

/** An ISO time: local in tables, as it is in csv. */
export const time = <Row>(header: string, value: (row: Row) => string | null, extra: Extra<Row> = {}): Column<Row> => ({
  header,
  value: (row, { nowMs }) => localTime(value(row), nowMs),
  data: value,
  ...extra
})

/**
 * Pattern of the beginning of an id, and the part that is shortened: a UUID, also without dashes behind the kind of its
 * object.
 */
const longId = /^(|[a-z]{1,12}[-_])(?:[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}|[\da-f]{32})$/i
const leastId = 8

const kindOf = (id: string): string | null => longId.exec(id)?.[1] ?? null

/** Shortens the ids of a list as far as they stay apart. Other ids are short enough, and stay. */
export const shortener = (ids: ReadonlyArray<string>): ((id: string) => string) => {
  const all = [...new Set(ids.filter((each) => kindOf(each) !== null))].toSorted()
  const shared = (a: string, b: string): number => {
    let length = 0
    while (length < a.length && a[length] === b[length]) length += 1
    return length
  }
  // Only neighbours in order have the longest beginning in common.
  const longest = all.reduce((most, each, at) => Math.max(most, at === 0 ? 0 : shared(all[at - 1] ?? "", each)), 0)
  const kinds = all.map((each) => kindOf(each)?.length ?? 0)
  const least = Math.max(leastId + kinds.reduce((most, each) => Math.max(most, each), 0), longest + 1)
  // A dash says nothing at the end.
  const length = all[0]?.[least - 1] === "-" ? least + 1 : least
  return (each) => (kindOf(each) === null ? each : each.slice(0, length))
}

/** The columns of a format. */
export const columnsOf = <Row>(columns: ReadonlyArray<Column<Row>>, wide: boolean): ReadonlyArray<Column<Row>> =>
  wide ? columns : columns.filter((column) => column.in !== "wide")

/** The cell of a row in `csv` and `name`. */
export const dataOf = <Row>(column: Column<Row>, row: Row, shown: Shown): string | number | boolean | null =>
  column.data === undefined ? harmless(column.value(row, shown)) : column.data(row)

export const nameColumn = <Row>(columns: ReadonlyArray<Column<Row>>): Column<Row> | undefined =>
  columns.find(({ isName }) => isName === true) ?? columns[0]
