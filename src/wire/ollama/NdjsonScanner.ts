/**
 * Splits a byte stream into lines of newline-delimited JSON. Linear whatever the chunking: every byte is read once, by `indexOf`; bytes
 * are copied only for a line that spans chunks, so that a character split between chunks is complete again.
 */
import { parseJson, type Json } from "../json/Json.ts"
import { defaultMaxEventBytes } from "../sse/SseFramer.ts"

/** A line exceeds the size limit. */
export interface NdjsonFailure {
  readonly reason: "line_too_large"
  readonly limitBytes: number
}

/** Handler of each complete line, in order: `bytes[start, end)`, the line end included. */
export type OnLine = (bytes: Buffer, start: number, end: number) => void

export interface NdjsonScanner {
  readonly failure: () => NdjsonFailure | null
  /** Bytes of the incomplete line. */
  readonly pendingBytes: () => number
  /** Returns the offset in `chunk` just after its last complete line; 0 when no line ends in it. */
  readonly push: (chunk: Buffer, onLine: OnLine) => number
  /** The bytes of the incomplete line; the scanner is empty afterwards. */
  readonly takePending: () => Buffer
}

const lf = 10
const nothing = Buffer.alloc(0)

export const makeNdjsonScanner = (maxLineBytes = defaultMaxEventBytes): NdjsonScanner => {
  let pending: Array<Buffer> = []
  let pendingBytes = 0
  let failure: NdjsonFailure | null = null

  const takePending = (): Buffer => {
    const [first] = pending
    const bytes = first === undefined ? nothing : pending.length === 1 ? first : Buffer.concat(pending, pendingBytes)
    pending = []
    pendingBytes = 0
    return bytes
  }

  const keep = (bytes: Buffer): void => {
    if (bytes.length === 0) return
    pending.push(bytes)
    pendingBytes += bytes.length
  }

  const push = (chunk: Buffer, onLine: OnLine): number => {
    if (failure !== null) return 0
    let start = 0
    for (let at = chunk.indexOf(lf); at >= 0; at = chunk.indexOf(lf, start)) {
      const end = at + 1
      if (pendingBytes === 0) onLine(chunk, start, end)
      else {
        keep(chunk.subarray(start, end))
        const line = takePending()
        onLine(line, 0, line.length)
      }
      start = end
    }
    keep(chunk.subarray(start))
    if (pendingBytes > maxLineBytes) {
      failure = { reason: "line_too_large", limitBytes: maxLineBytes }
      takePending()
    }
    return start
  }

  return {
    failure: () => failure,
    pendingBytes: () => pendingBytes,
    push,
    takePending
  }
}

const byteOrderMark = "\ufeff"

/** The JSON of a line; null for a blank one, undefined when it is not JSON. */
export const parseLine = (bytes: Buffer, start: number, end: number): Json | undefined => {
  const text = bytes.toString("utf8", start, end)
  const line = text.startsWith(byteOrderMark) ? text.slice(1) : text
  return line.trim() === "" ? null : parseJson(line)
}
