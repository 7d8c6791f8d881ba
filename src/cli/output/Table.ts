/**
 * Tables for people: columns as wide as their content, without those that do not fit the terminal, plain text throughout.
 * Control characters in values are shown as `?`, so that no name from afar can drive the terminal.
 */
import { harmless } from "../../kernel/text/TerminalText.ts"
import { type Column, columnsOf, shortener, type Shown } from "./Column.ts"

export type { Column } from "./Column.ts"

const gap = "  "
const leastWidth = 6

const wide =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Emoji_Presentation}/u
const segmenter = new Intl.Segmenter()

/** Characters as a person counts them, each with the terminal cells it takes. */
const cells = (text: string): ReadonlyArray<readonly [character: string, width: number]> =>
  Array.from(segmenter.segment(text), ({ segment }) => [segment, wide.test(segment) ? 2 : 1] as const)

/** Terminal cells a text takes. */
export const widthOf = (text: string): number =>
  /^[ -~]*$/.test(text) ? text.length : cells(text).reduce((sum, [, width]) => sum + width, 0)

/** The text, shortened to a width with an ellipsis. */
export const fit = (text: string, width: number): string => {
  if (widthOf(text) <= width) return text
  let used = 0
  let kept = ""
  for (const [character, cell] of cells(text)) {
    if (used + cell > width - 1) break
    used += cell
    kept += character
  }
  return `${kept}…`
}

/** Width to which text may be shortened and stays readable. */
const readable = 20

const total = (widths: ReadonlyArray<number>): number =>
  widths.reduce((sum, width) => sum + width, gap.length * Math.max(0, widths.length - 1))

/** Takes cells from the widest of the columns that may be shortened, until the table fits or they have `least`. */
const shorten = (
  widths: ReadonlyArray<number>,
  mayCut: ReadonlyArray<boolean>,
  available: number,
  least: number
): ReadonlyArray<number> => {
  const result = [...widths]
  for (let excess = total(result) - available; excess > 0; excess--) {
    const widest = Math.max(...result.filter((_, index) => mayCut[index] === true), 0)
    if (widest <= least) break
    result[result.findIndex((width, index) => width === widest && mayCut[index] === true)] = widest - 1
  }
  return result
}

interface Placed {
  /** Position of the column among all. */
  readonly index: number
  readonly width: number
}

/** Selects the columns that fit a terminal, and their widths. */
const arrange = <Row>(
  shape: ReadonlyArray<Column<Row>>,
  natural: ReadonlyArray<number>,
  available: number
): ReadonlyArray<Placed> => {
  let placed = natural.map((width, index): Placed => ({ index, width }))
  const may = (fit: Column<Row>["fit"]) => placed.map(({ index }) => shape[index]?.fit === fit)
  const shortened = (least: number) => {
    const widths = placed.map(({ width }) => width)
    const result = shorten(widths, may("cut"), available, least)
    return placed.map(({ index }, at) => ({ index, width: result[at] ?? 0 }))
  }
  const tooWide = (columns: ReadonlyArray<Placed>) => total(columns.map(({ width }) => width)) > available
  const leaveOut = (fit: Column<Row>["fit"]): boolean => {
    const last = may(fit).lastIndexOf(true)
    if (last <= 0) return false
    placed = placed.toSpliced(last, 1)
    return true
  }
  while (tooWide(shortened(readable)) && leaveOut(undefined));
  while (tooWide(shortened(leastWidth)) && leaveOut("cut"));
  return tooWide(shortened(readable)) ? shortened(leastWidth) : shortened(readable)
}

export const pad = (text: string, width: number, align: "left" | "right"): string => {
  const space = " ".repeat(Math.max(0, width - widthOf(text)))
  return align === "right" ? `${space}${text}` : `${text}${space}`
}

/** Collects the facts that the cells of these rows depend on. */
export const shownOf = <Row>(
  rows: ReadonlyArray<Row>,
  columns: ReadonlyArray<Column<Row>>,
  nowMs: number,
  wholeIds: boolean
): Shown => {
  const ids = columns.flatMap(({ id }) => (id === undefined ? [] : rows.map(id)))
  return { nowMs, short: wholeIds ? (id) => id : shortener(ids) }
}

interface Layout {
  /** Width of the terminal; null means as wide as it takes. */
  readonly columns: number | null
  readonly nowMs: number
  /** All columns and whole ids, whatever the width of the terminal. */
  readonly wide: boolean
}

/** Renders rows under their headers. */
export const table = <Row>(rows: ReadonlyArray<Row>, columns: ReadonlyArray<Column<Row>>, layout: Layout): string => {
  const shape = columnsOf(columns, layout.wide)
  const shown = shownOf(rows, shape, layout.nowMs, layout.wide)
  const lines = [
    shape.map(({ header }) => header),
    ...rows.map((row) => shape.map(({ value }) => harmless(value(row, shown))))
  ]
  const natural = shape.map((_, index) => lines.reduce((most, line) => Math.max(most, widthOf(line[index] ?? "")), 0))
  const available = layout.wide ? null : layout.columns
  const placed = arrange(shape, natural, available ?? Number.MAX_SAFE_INTEGER)
  return lines
    .map((line) =>
      placed
        .map(({ index, width }) => pad(fit(line[index] ?? "", width), width, shape[index]?.align ?? "left"))
        .join(gap)
        .trimEnd()
    )
    .join("\n")
}

/** `name  value` lines for one record. */
export const fields = (entries: ReadonlyArray<readonly [name: string, value: string]>): string => {
  const width = Math.max(0, ...entries.map(([name]) => widthOf(name)))
  return entries.map(([name, value]) => `${pad(name, width, "left")}${gap}${harmless(value)}`.trimEnd()).join("\n")
}
