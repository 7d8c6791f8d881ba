/** Reads the text of a provider's bill, which is JSON or CSV. */
import { type CsvError, parse } from "csv-parse"
import { Readable } from "node:stream"
import { type BillForm, type Billed, BillSums, NoBill } from "./Bill.ts"
import { type CsvRecord, csvFormOf, readCsvRecord } from "./CsvBills.ts"
import { readJsonBill } from "./JsonBills.ts"

export interface Bill {
  readonly form: BillForm
  readonly billed: ReadonlyArray<Billed>
  /** Amounts are rounded to cents. */
  readonly inCents: boolean
  /** The report goes on behind what was exported. */
  readonly goesOn: boolean
}

/** A record of a bill has a few hundred characters. */
const maxRecordChars = 64 * 1024
const byteOrderMark = "\uFEFF"

/** Tells by its beginning whether a bill is JSON. */
export const isJsonBill = (beginning: string): boolean => /^\uFEFF?\s*[[{]/.test(beginning)

const jsonBill = (text: string, sums: BillSums) => {
  let answer: unknown
  try {
    answer = JSON.parse(text.startsWith(byteOrderMark) ? text.slice(1) : text)
  } catch {
    throw new NoBill("is cut short, or no valid JSON", "Export it again.")
  }
  return readJsonBill(answer, sums)
}

const isRecord = (value: unknown): value is CsvRecord => typeof value === "object" && value !== null

const csvBill = async (stream: Readable, sums: BillSums) => {
  let form: BillForm | null = null
  const parser = parse({
    bom: true,
    delimiter: [",", ";", "\t"],
    max_record_size: maxRecordChars,
    skip_empty_lines: true,
    columns: (names: ReadonlyArray<string>) => {
      const columns = names.map((name) => name.trim().toLowerCase())
      form = csvFormOf(columns)
      return columns
    }
  })
  stream.on("error", (error) => parser.destroy(error))
  stream.pipe(parser)
  let count = 0
  try {
    for await (const record of parser) {
      if (form === null || !isRecord(record)) continue
      readCsvRecord(form, record, sums)
      count += 1
    }
  } finally {
    stream.destroy()
  }
  if (form === null) throw new NoBill("is empty", "Export it again.")
  if (count === 0) throw new NoBill("has no amount in it", "Export days that have begun.")
  return { form, goesOn: false }
}

const isCsvError = (error: unknown): error is CsvError =>
  error instanceof Error && "code" in error && typeof error.code === "string" && error.code.startsWith("CSV_")

const read = async (content: string | Readable): Promise<Bill> => {
  const sums = new BillSums()
  const { form, goesOn } = typeof content === "string" ? jsonBill(content, sums) : await csvBill(content, sums)
  return { form, billed: sums.all, inCents: sums.inCents, goesOn }
}

/** Reads JSON that is there as a whole, or CSV as it comes. What is no bill is a `NoBill`. */
export const readBillFrom = (content: string | Readable): Promise<Bill> =>
  read(content).catch((error: unknown) => {
    throw isCsvError(error) ? new NoBill("is cut short, or no valid CSV", "Export it again.") : error
  })

const partChars = 65_536

/** A text in parts, so that others have their turn while it is read. */
const partsOf = (text: string): Readable =>
  Readable.from(
    (function* () {
      for (let at = 0; at < text.length; at += partChars) yield text.slice(at, at + partChars)
    })(),
    { objectMode: false }
  )

export const readBillText = (text: string): Promise<Bill> => {
  if (text.trim() === "" || text === byteOrderMark) return Promise.reject(new NoBill("is empty", "Export it again."))
  if (text.includes("\u0000")) {
    return Promise.reject(new NoBill("is no text", "Unpack it, or save it as CSV or JSON first."))
  }
  return readBillFrom(isJsonBill(text) ? text : partsOf(text))
}
