/** Reads a provider's bill from a file. CSV is read as a stream, JSON up to a size. */
import { type CsvError, parse } from "csv-parse"
import * as Effect from "effect/Effect"
import { createReadStream } from "node:fs"
import { open, readFile } from "node:fs/promises"
import { BadArgument } from "../Failure.ts"
import { type BillForm, type Billed, BillSums, NoBill } from "./Bill.ts"
import { type CsvRecord, csvFormOf, readCsvRecord } from "./CsvBills.ts"
import { readJsonBill } from "./JsonBills.ts"
import { asSentence } from "../../kernel/text/Sentence.ts"

export interface Bill {
  readonly form: BillForm
  readonly billed: ReadonlyArray<Billed>
  /** Amounts are rounded to cents. */
  readonly inCents: boolean
  /** The report goes on behind what was exported. */
  readonly goesOn: boolean
}

const mebibyte = 1_048_576
const maxCsvBytes = 512 * mebibyte
const maxJsonBytes = 64 * mebibyte
/** A record of a bill has a few hundred characters. */
const maxRecordChars = 64 * 1024
const headBytes = 4_096
const byteOrderMark = "\uFEFF"

const headOf = async (file: string): Promise<{ readonly head: Buffer; readonly size: number }> => {
  const handle = await open(file, "r")
  try {
    const stat = await handle.stat()
    if (!stat.isFile()) throw new NoBill("is no file")
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(headBytes), 0, headBytes, 0)
    return { head: buffer.subarray(0, bytesRead), size: stat.size }
  } finally {
    await handle.close()
  }
}

const atMost = (size: number, bytes: number): void => {
  if (size > bytes) {
    throw new NoBill(`is larger than ${bytes / mebibyte} MiB`, "Export fewer days at once.")
  }
}

const jsonBill = async (file: string, sums: BillSums) => {
  const text = await readFile(file, "utf8")
  let answer: unknown
  try {
    answer = JSON.parse(text.startsWith(byteOrderMark) ? text.slice(1) : text)
  } catch {
    throw new NoBill("is cut short, or no valid JSON", "Export it again.")
  }
  return readJsonBill(answer, sums)
}

const isRecord = (value: unknown): value is CsvRecord => typeof value === "object" && value !== null

const csvBill = async (file: string, sums: BillSums) => {
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
  const stream = createReadStream(file)
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

const read = async (file: string): Promise<Bill> => {
  const { head, size } = await headOf(file)
  const beginning = head.toString("utf8").replace(byteOrderMark, "").trimStart()
  if (size === 0 || beginning === "") throw new NoBill("is empty", "Export it again.")
  if (head.includes(0)) throw new NoBill("is no text", "Unpack it, or save it as CSV or JSON first.")
  const isJson = beginning.startsWith("{") || beginning.startsWith("[")
  atMost(size, isJson ? maxJsonBytes : maxCsvBytes)
  const sums = new BillSums()
  const { form, goesOn } = await (isJson ? jsonBill(file, sums) : csvBill(file, sums))
  return { form, billed: sums.all, inCents: sums.inCents, goesOn }
}

const isCsvError = (error: unknown): error is CsvError =>
  error instanceof Error && "code" in error && typeof error.code === "string" && error.code.startsWith("CSV_")

const problemOf = (file: string, error: unknown): BadArgument => {
  if (error instanceof NoBill) {
    const { hint, message } = error
    return new BadArgument({ message: `'${file}' ${asSentence(message)}`, ...(hint === undefined ? {} : { hint }) })
  }
  if (isCsvError(error)) {
    return new BadArgument({ message: `'${file}' is cut short, or no valid CSV.`, hint: "Export it again." })
  }
  return new BadArgument({ message: `'${file}' cannot be read.` })
}

export const readBill = (file: string): Effect.Effect<Bill, BadArgument> =>
  Effect.tryPromise({ try: () => read(file), catch: (error) => problemOf(file, error) })
