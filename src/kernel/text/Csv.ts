/** Comma-separated values after RFC 4180 (https://www.rfc-editor.org/rfc/rfc4180). */
import { harmlessLines } from "./TerminalText.ts"

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
