/** Reads a provider's bill from a file. CSV is read as a stream, JSON up to a size. */
import * as Effect from "effect/Effect"
import { createReadStream } from "node:fs"
import { open, readFile } from "node:fs/promises"
import { BadArgument } from "../../../../cli/Failure.ts"
import { asSentence } from "../../../../kernel/text/Sentence.ts"
import { NoBill } from "../../../usageHistory/entity/Bill.ts"
import { type Bill, isJsonBill, readBillFrom } from "../../../usageHistory/entity/BillText.ts"

const mebibyte = 1_048_576
const maxCsvBytes = 512 * mebibyte
const maxJsonBytes = 64 * mebibyte
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

const read = async (file: string): Promise<Bill> => {
  const { head, size } = await headOf(file)
  const beginning = head.toString("utf8").replace(byteOrderMark, "").trimStart()
  if (size === 0 || beginning === "") throw new NoBill("is empty", "Export it again.")
  if (head.includes(0)) throw new NoBill("is no text", "Unpack it, or save it as CSV or JSON first.")
  const isJson = isJsonBill(beginning)
  atMost(size, isJson ? maxJsonBytes : maxCsvBytes)
  return await readBillFrom(isJson ? await readFile(file, "utf8") : createReadStream(file))
}

const problemOf = (file: string, error: unknown): BadArgument => {
  if (error instanceof NoBill) {
    const { hint, message } = error
    return new BadArgument({ message: `'${file}' ${asSentence(message)}`, ...(hint === undefined ? {} : { hint }) })
  }
  return new BadArgument({ message: `'${file}' cannot be read.` })
}

export const readBill = (file: string): Effect.Effect<Bill, BadArgument> =>
  Effect.tryPromise({ try: () => read(file), catch: (error) => problemOf(file, error) })
