/** Server-sent events, read incrementally (WHATWG "event stream" rules) and written. */
import { makeSseFramer, type SseFailure } from "./SseFramer.ts"

export interface SseEvent {
  /** The `event:` field; null when there was none. */
  readonly event: string | null
  /** All `data:` lines, joined by newlines. */
  readonly data: string
}

/** An event with the offset just after it in the chunk that completed it. */
export interface ScannedEvent extends SseEvent {
  readonly endOffset: number
}

const lf = 10
const cr = 13

/** Start of the next line after the line end at `at`. */
const afterLineEnd = (bytes: Buffer, at: number, end: number): number =>
  bytes[at] === cr && at + 1 < end && bytes[at + 1] === lf ? at + 2 : at + 1

/**
 * Reads one block. Null when it holds no data (comments, `id:` and `retry:` alone, an empty `data:`). Linear in the block, whatever is behind it:
 * each of the two line ends is searched once from where it was found last.
 */
export const parseBlock = (bytes: Buffer, start: number, end: number): SseEvent | null => {
  // `indexOf` has no end: in a chunk of many blocks each would be searched to the end of the chunk.
  const block = end === bytes.length ? bytes : bytes.subarray(0, end)
  let nextLf = block.indexOf(lf, start)
  let nextCr = block.indexOf(cr, start)
  let event: string | null = null
  let data: string | null = null
  // The stream's first block may begin with a byte order mark.
  let at = bytes[start] === 0xef && bytes[start + 1] === 0xbb && bytes[start + 2] === 0xbf ? start + 3 : start
  while (at < end) {
    if (nextLf >= 0 && nextLf < at) nextLf = block.indexOf(lf, at)
    if (nextCr >= 0 && nextCr < at) nextCr = block.indexOf(cr, at)
    const lfEnd = nextLf < 0 ? end : nextLf
    const lineEnd = nextCr < 0 || nextCr > lfEnd ? lfEnd : nextCr
    // Compare the first letter before the whole field name.
    const initial = bytes[at]
    if (initial === 100 || initial === 101) {
      const line = bytes.toString("utf8", at, lineEnd)
      const colon = line.indexOf(":")
      const field = colon < 0 ? line : line.slice(0, colon)
      const value = colon < 0 ? "" : line.slice(line.charCodeAt(colon + 1) === 32 ? colon + 2 : colon + 1)
      if (field === "data") data = data === null ? value : `${data}\n${value}`
      else if (field === "event") event = value
    }
    at = afterLineEnd(bytes, lineEnd, end)
  }
  return data === null || data === "" ? null : { event, data }
}

export interface SseScanner {
  readonly failure: () => SseFailure | null
  readonly push: (chunk: Buffer) => ReadonlyArray<ScannedEvent>
  /** The last event when the stream ended without its empty line; `endOffset` is 0. */
  readonly end: () => ReadonlyArray<ScannedEvent>
}

/** Splits bytes into events. `maxEventBytes` bounds an event that does not end (then `failure` is set and nothing more comes). */
export const makeSseScanner = (maxEventBytes?: number): SseScanner => {
  const framer = makeSseFramer(maxEventBytes)
  return {
    failure: framer.failure,
    push: (chunk) => {
      const events: Array<ScannedEvent> = []
      framer.push(chunk, (bytes, start, end, endOffset) => {
        const event = parseBlock(bytes, start, end)
        if (event !== null) events.push({ event: event.event, data: event.data, endOffset })
      })
      return events
    },
    end: () => {
      const bytes = framer.takePending()
      const event = parseBlock(bytes, 0, bytes.length)
      return event === null ? [] : [{ ...event, endOffset: 0 }]
    }
  }
}

/** One event as text. `data` may hold newlines. */
export const encodeSse = (event: string | null, data: string): string => {
  const lines = data.includes("\n") ? data.replaceAll("\n", "\ndata: ") : data
  return event === null ? `data: ${lines}\n\n` : `event: ${event}\ndata: ${lines}\n\n`
}
