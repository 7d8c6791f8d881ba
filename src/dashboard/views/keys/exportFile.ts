/** Saves what is shown as a file: comma-separated values or JSON. Made in the page, of what it has. */
import { download } from "../../ui/download.ts"

export type Cell = string | number | null
export type FileRow = Readonly<Record<string, Cell>>

/** A table as a spreadsheet reads it: text that it would take for a formula has an apostrophe before it. */
const cellText = (cell: Cell): string => {
  if (cell === null) return ""
  if (typeof cell === "number") return String(cell)
  const text = /^[=+\-@\t\r]/.test(cell) ? `'${cell}` : cell
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

export const csvOf = (rows: ReadonlyArray<FileRow>): string => {
  const columns = [...new Set(rows.flatMap((row) => Object.keys(row)))]
  const lines = rows.map((row) => columns.map((column) => cellText(row[column] ?? null)).join(","))
  return [columns.map(cellText).join(","), ...lines].map((line) => `${line}\r\n`).join("")
}

export const saveFile = (name: string, form: "csv" | "json", rows: ReadonlyArray<FileRow>): void => {
  const content = form === "csv" ? csvOf(rows) : `${JSON.stringify(rows, null, 2)}\n`
  const type = form === "csv" ? "text/csv;charset=utf-8" : "application/json"
  download(`${name}.${form}`, new Blob([content], { type }))
}
