/** Answers side by side: what is known of each column, and how they are drawn. Pure. */
import { harmless, harmlessLines } from "../../../kernel/text/TerminalText.ts"
import { type Metrics, metricsSoFar, metricsText } from "../../../contract/domain/AnswerMetrics.ts"
import type { CompareEvent } from "../../../cli/gateway/CompareStream.ts"
import { fit, pad, widthOf } from "../../../cli/output/Table.ts"

export interface BoardColumn {
  readonly model: string
  readonly text: string
  readonly requestId: string | null
  readonly metrics: Metrics | null
  readonly error: string | null
  /** Time of the first text by the clock of the command; null: there is none yet. */
  readonly firstMs: number | null
}

export interface Board {
  readonly startedMs: number
  readonly columns: ReadonlyArray<BoardColumn>
  readonly isDone: boolean
}

export const begun = (models: ReadonlyArray<string>, startedMs: number): Board => ({
  startedMs,
  columns: models.map((model) => ({
    model,
    text: "",
    requestId: null,
    metrics: null,
    error: null,
    firstMs: null
  })),
  isDone: false
})

export const next = (board: Board, event: CompareEvent, nowMs: number): Board => {
  if (event.event === "done") return { ...board, isDone: true }
  const change = (column: BoardColumn): BoardColumn => {
    switch (event.event) {
      case "column":
        return column
      case "delta":
        return { ...column, text: column.text + event.text, firstMs: column.firstMs ?? nowMs }
      case "column_done":
        return { ...column, requestId: event.requestId, metrics: event.metrics }
      case "column_error":
        return { ...column, requestId: event.requestId, error: event.error.message }
    }
  }
  return { ...board, columns: board.columns.map((column, at) => (at === event.column ? change(column) : column)) }
}

const broken = "The answer broke off."

/** Marks the columns that did not end before the stream's end as broken. */
export const ended = (board: Board): Board => ({
  ...board,
  columns: board.columns.map((column) =>
    column.metrics === null && column.error === null ? { ...column, error: broken } : column
  )
})

const statusOf = ({ error, firstMs, metrics, text }: BoardColumn, startedMs: number, nowMs: number): string => {
  if (error !== null) return `failed: ${error}`
  if (metrics !== null) return metricsText(metrics)
  if (firstMs === null) return "waiting …"
  const soFar = metricsSoFar({ startedMs, firstTokenMs: firstMs, endedMs: nowMs }, text.length)
  return `first token ${soFar.ttftMs ?? 0} ms · about ${Math.round(soFar.tokensPerSecond)} tokens/s …`
}

/** Pieces of at most `width` columns of the terminal; broken at blanks where there are any. */
const wrapped = (line: string, width: number): ReadonlyArray<string> => {
  const pieces: Array<string> = []
  let piece = ""
  let used = 0
  let blank = -1
  for (const character of line) {
    const wide = widthOf(character)
    if (used + wide > width && piece !== "") {
      const kept = blank > 0 && character !== " " ? piece.slice(0, blank) : piece
      pieces.push(kept)
      piece = piece.slice(kept.length).trimStart()
      used = widthOf(piece)
      blank = -1
      if (character === " ") continue
    }
    if (character === " ") blank = piece.length
    piece += character
    used += wide
  }
  return [...pieces, piece]
}

const linesOf = (text: string, width: number): ReadonlyArray<string> =>
  harmlessLines(text)
    .replaceAll("\t", "  ")
    .split("\n")
    .flatMap((line) => wrapped(line, width))

const gap = " │ "

/** Characters of each answer that are drawn while they come. */
const maxDrawnChars = 20_000

/** `height`: lines that the answers may take; beyond it their ends are shown. Null: all of them. */
export const draw = (board: Board, width: number, height: number | null, nowMs: number): ReadonlyArray<string> => {
  const { columns, startedMs } = board
  const each = Math.max(8, Math.floor((width - gap.length * (columns.length - 1)) / columns.length))
  const row = (cells: ReadonlyArray<string>): string =>
    cells
      .map((cell) => pad(cell, each, "left"))
      .join(gap)
      .trimEnd()
  const texts = columns.map(({ text }) => linesOf(height === null ? text : text.slice(-maxDrawnChars), each))
  const shown = texts.map((lines) => (height === null ? lines : lines.slice(-Math.max(1, height))))
  const statuses = columns.map((column) => linesOf(harmless(statusOf(column, startedMs, nowMs)), each))
  const table = (cells: ReadonlyArray<ReadonlyArray<string>>): ReadonlyArray<string> =>
    Array.from({ length: Math.max(...cells.map((lines) => lines.length)) }, (_, at) =>
      row(cells.map((lines) => lines[at] ?? ""))
    )
  return [
    row(columns.map(({ model }) => fit(harmless(model), each))),
    row(columns.map(() => "─".repeat(each))),
    ...table(shown),
    row(columns.map(() => "─".repeat(each))),
    ...table(statuses)
  ]
}

/** One below the other, for a pipe or a file. */
export const plain = (board: Board): string =>
  board.columns
    .map(
      (column) =>
        `== ${harmless(column.model)} ==\n${harmlessLines(column.text)}\n-- ${harmless(statusOf(column, board.startedMs, board.startedMs))}`
    )
    .join("\n\n")
