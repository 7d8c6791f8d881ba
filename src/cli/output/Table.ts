/**
 * Tables for people: columns as wide as their content, narrowed with an ellipsis to fit a terminal, plain text throughout.
 * Control characters in values are shown as `?`, so that no name from afar can drive the terminal.
 */
import { harmless } from "../../kernel/TerminalText.ts"

export interface Column<Row> {
  readonly header: string
  readonly value: (row: Row) => string
  readonly align?: "left" | "right"
}

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

/** Takes cells from the widest column again and again, until the table fits or nothing can be taken. */
const narrow = (widths: ReadonlyArray<number>, available: number): ReadonlyArray<number> => {
  const result = [...widths]
  let excess = result.reduce((sum, width) => sum + width, gap.length * (result.length - 1)) - available
  while (excess > 0) {
    const widest = result.indexOf(Math.max(...result))
    const width = result[widest] ?? 0
    if (width <= leastWidth) break
    result[widest] = width - 1
    excess -= 1
  }
  return result
}

const pad = (text: string, width: number, align: "left" | "right"): string => {
  const space = " ".repeat(Math.max(0, width - widthOf(text)))
  return align === "right" ? `${space}${text}` : `${text}${space}`
}

/** Renders rows under their headers. `columns` is the width of the terminal; null means as wide as it takes. */
export const table = <Row>(
  rows: ReadonlyArray<Row>,
  shape: ReadonlyArray<Column<Row>>,
  terminalColumns: number | null
): string => {
  const lines = [
    shape.map(({ header }) => header),
    ...rows.map((row) => shape.map(({ value }) => harmless(value(row))))
  ]
  const natural = shape.map((_, index) => Math.max(...lines.map((line) => widthOf(line[index] ?? ""))))
  const widths = terminalColumns === null ? natural : narrow(natural, terminalColumns)
  return lines
    .map((line) =>
      line
        .map((text, index) => pad(fit(text, widths[index] ?? 0), widths[index] ?? 0, shape[index]?.align ?? "left"))
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
