/** Rows and objects of commands as comma-separated values. */
import { csv, type CsvValue } from "../../kernel/text/Csv.ts"

export { csv, type CsvValue } from "../../kernel/text/Csv.ts"

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
