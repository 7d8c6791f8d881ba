/** The list of captured requests as the lines of a screen. Pure. */
import { harmless } from "../../../../kernel/text/TerminalText.ts"
import { fit } from "../../../../cli/output/Table.ts"
import { tailHeader, tailLine } from "../rows.ts"
import { type Browse, type Line, linesOf } from "./Browse.ts"

export interface Size {
  readonly columns: number
  readonly rows: number
}

/** The head of the list, and the two lines below it. */
const frameRows = 3
/** Columns before a line: a mark, and the indentation. */
const leadColumns = 2

/** Rows that are left for the list or a page. */
export const heightOf = ({ rows }: Size): number => Math.max(1, rows - frameRows)

const inverse = (text: string): string => `\u001b[7m${text}\u001b[0m`

const lineText = (line: Line, { marked }: Browse, columns: number, nowMs: number): string => {
  if (line._tag === "Context")
    return fit(harmless(`── ${line.contextKey ?? "no system prompt"}: ${line.count}`), columns)
  const lead = `${marked.has(line.row.id) ? "*" : " "}${line.isAttempt ? "└" : " "}`
  return lead + tailLine(line.row, columns - leadColumns, nowMs)
}

/** The lines around the selected one. */
const windowOf = (lines: ReadonlyArray<Line>, selected: string | null, height: number): ReadonlyArray<Line> => {
  const at = lines.findIndex((line) => line._tag === "Row" && line.row.id === selected)
  const top = Math.max(0, Math.min(lines.length - height, at - Math.floor(height / 2)))
  return lines.slice(top, top + height)
}

const keys = "↑↓ move  ⏎ open  c turns  space mark  d diff  x retries  g group  / filter  q quit"

const statusOf = (state: Browse, shown: number): string => {
  if (state.message !== null) return state.message
  const behind = state.behindMs === 0 ? "" : `  the recording is ${state.behindMs} ms behind`
  const marked = state.marked.size === 0 ? "" : `  ${state.marked.size} marked`
  const filter = state.isTyping || state.filter !== "" ? `  /${state.filter}${state.isTyping ? "▏" : ""}` : ""
  return `${shown} of ${state.rows.length}${marked}${filter}${behind}`
}

/** Draws as many lines as the screen has rows; none is wider than it. */
export const draw = (state: Browse, size: Size, nowMs: number): ReadonlyArray<string> => {
  const { columns } = size
  const height = heightOf(size)
  const padded = (lines: ReadonlyArray<string>): ReadonlyArray<string> => [
    ...lines,
    ...Array.from({ length: height - lines.length }, () => "")
  ]
  const { page } = state
  if (page !== null) {
    const shown = page.lines.slice(page.top, page.top + height).map((line) => fit(harmless(line), columns))
    const last = Math.min(page.lines.length, page.top + height)
    return [
      fit(harmless(page.title), columns),
      ...padded(shown),
      fit(`lines ${page.top + 1} to ${last} of ${page.lines.length}`, columns),
      fit("↑↓ move  esc back", columns)
    ]
  }
  const lines = linesOf(state)
  const body = windowOf(lines, state.selected, height).map((line) => {
    const text = lineText(line, state, columns, nowMs)
    return line._tag === "Row" && line.row.id === state.selected ? inverse(text) : text
  })
  const count = lines.filter(({ _tag }) => _tag === "Row").length
  return [
    `${" ".repeat(leadColumns)}${tailHeader(columns - leadColumns)}`,
    ...padded(body),
    fit(harmless(statusOf(state, count)), columns),
    fit(keys, columns)
  ]
}
