/** Comma-separated values after RFC 4180 (https://www.rfc-editor.org/rfc/rfc4180). */
import { harmlessLines } from "../../kernel/TerminalText.ts"

export type CsvValue = string | number | boolean | null

/** Spreadsheets take text that begins with these for a formula (https://owasp.org/www-community/attacks/CSV_Injection). */
const formula = /^[=+\-@\t\r]/

const cell = (value: CsvValue): string => {
  if (value === null) return ""
  if (typeof value !== "string") return String(value)
  const text = harmlessLines(formula.test(value) ? `'${value}` : value)
  return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

/** Records, each ended by a carriage return and a line feed. */
export const csv = (records: ReadonlyArray<ReadonlyArray<CsvValue>>): string =>
  records.map((record) => `${record.map(cell).join(",")}\r\n`).join("")

/** `DEFAULT MODEL` as `defaultModel`. */
export const fieldName = (header: string): string =>
  header.toLowerCase().replaceAll(/[^a-z0-9]+(.)?/g, (_, next: string | undefined) => (next ?? "").toUpperCase())

const plain = (value: unknown): CsvValue =>
  value === null || value === undefined
    ? null
    : typeof value === "string" || typeof value === "number" || typeof value === "boolean"
      ? value
      : JSON.stringify(value)

/** Objects as records under the names of their fields, those within objects as JSON. */
export const csvOfObjects = (objects: ReadonlyArray<object>): string => {
  const names = [...new Set(objects.flatMap((object) => Object.keys(object)))]
  const rows = objects.map((object) => {
    const fields = new Map<string, unknown>(Object.entries(object))
    return names.map((name) => plain(fields.get(name)))
  })
  return csv([names, ...rows])
}
