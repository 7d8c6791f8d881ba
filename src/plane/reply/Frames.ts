/**
 * The events in the bytes that a client gets of a stream, with every byte that belongs to them: what is not changed goes on as it came.
 * Chunks may be cut anywhere, inside of characters too. Linear whatever the chunking.
 */
import { makeArrayFramer, objectText } from "../../wire/gemini/stream/ArrayScanner.ts"
import { makeNdjsonScanner } from "../../wire/ollama/NdjsonScanner.ts"
import { makeSseFramer, type OnBlock } from "../../wire/sse/SseFramer.ts"
import { parseBlock } from "../../wire/sse/SseScanner.ts"
import type { WireCodec } from "../../wire/WireCodec.ts"

/** Server-sent events, one line per event, or the elements of one array. */
export type Framing = "events" | "lines" | "array"

export interface Frame {
  /** All bytes of the event with its framing, and what was before it since the event before. */
  readonly bytes: Buffer
  /** The name of the event; null without one. */
  readonly event: string | null
  /** Data of the event: one JSON text, or the word of an end mark. Null for events without data (comments, blanks) and for a torn event. */
  readonly data: string | null
  /** A piece of an event that exceeds the limit: it cannot be read. */
  readonly isTorn: boolean
}

export interface Frames {
  readonly framing: Framing
  /** Bytes of the event that is not complete yet. */
  readonly pendingBytes: () => number
  readonly push: (chunk: Buffer | string) => ReadonlyArray<Frame>
  /** The last event where its end is missing, and what is behind it. */
  readonly end: () => ReadonlyArray<Frame>
}

/** An event that repeats a whole answer is the largest there is; no codec writes or relays a larger one. */
export const maxFrameBytes = 64 * 1_048_576

/** Returns the framing of streams of a client's codec. */
export const framingOf = ({ streamContentType }: Pick<WireCodec, "streamContentType">): Framing => {
  if (streamContentType.startsWith("text/event-stream")) return "events"
  return streamContentType.startsWith("application/x-ndjson") ? "lines" : "array"
}

const lf = 10
const cr = 13
const space = 32
/** Longest run of white space that is taken for a sign of life. */
const maxBlankBytes = 16

/** A sign of life between two events of a wire whose clients know no comments. */
const isBlank = (chunk: Buffer): boolean =>
  chunk.length <= maxBlankBytes && chunk.every((byte) => byte === lf || byte === cr || byte === space)

/** Shared interface of the three scanners. */
interface Framer {
  readonly pendingBytes: () => number
  readonly push: (chunk: Buffer, onBlock: OnBlock) => number
  readonly takePending: () => Buffer
}

interface Said {
  readonly event: string | null
  readonly data: string
}

const readers: Readonly<Record<Framing, (bytes: Buffer, start: number, end: number) => Said | null>> = {
  // Within the event: a search for a line end that is not there would go through all that follows in a large chunk.
  events: (bytes, start, end) => parseBlock(bytes.subarray(start, end), 0, end - start),
  lines: (bytes, start, end) => {
    const data = bytes.toString("utf8", start, end).trim()
    return data === "" ? null : { event: null, data }
  },
  array: (bytes, start, end) => {
    const from = bytes.indexOf("{", start)
    return from < 0 || from >= end ? null : { event: null, data: objectText(bytes, from, end) }
  }
}

const lineFramer = (): Framer => {
  const scanner = makeNdjsonScanner(Infinity)
  return {
    pendingBytes: scanner.pendingBytes,
    push: (chunk, onBlock) => {
      let at = 0
      return scanner.push(chunk, (bytes, start, end) => {
        at = bytes === chunk ? end : chunk.indexOf(lf, at) + 1
        onBlock(bytes, start, end, at)
      })
    },
    takePending: scanner.takePending
  }
}

/** Makers of the scanners without limits: their own limits would drop the bytes of what exceeds them. */
const framers: Readonly<Record<Framing, () => Framer>> = {
  events: () => makeSseFramer(Infinity),
  lines: lineFramer,
  array: () => makeArrayFramer(Infinity)
}

/**
 * An event beyond `maxBytes` comes in torn frames as its bytes arrive: it is not gathered. White space that is written by itself between two
 * events comes at once.
 */
export const makeFrames = (framing: Framing, maxBytes = maxFrameBytes): Frames => {
  const framer = framers[framing]()
  const read = readers[framing]
  let isTearing = false

  const torn = (bytes: Buffer): Frame => ({ bytes, event: null, data: null, isTorn: true })

  const frameOf = (bytes: Buffer, from: number, start: number, end: number): Frame => {
    const whole = from === 0 && end === bytes.length ? bytes : bytes.subarray(from, end)
    if (isTearing) {
      isTearing = false
      return torn(whole)
    }
    const said = read(bytes, start, end)
    return { bytes: whole, event: said?.event ?? null, data: said?.data ?? null, isTorn: false }
  }

  const push = (input: Buffer | string): ReadonlyArray<Frame> => {
    const chunk = typeof input === "string" ? Buffer.from(input) : input
    if (chunk.length === 0) return []
    const before = framer.pendingBytes()
    if (before === 0 && !isTearing && isBlank(chunk)) return [{ bytes: chunk, event: null, data: null, isTorn: false }]
    const frames: Array<Frame> = []
    let copied = 0
    framer.push(chunk, (bytes, start, end, endOffset) => {
      // A line end that the framer has counted with the event before is before this one.
      frames.push(bytes === chunk ? frameOf(bytes, copied, start, end) : frameOf(bytes, start, start, end))
      copied = endOffset
    })
    const kept = frames.length === 0 ? framer.pendingBytes() - before : framer.pendingBytes()
    if (copied + kept < chunk.length) {
      const skipped = chunk.subarray(copied, chunk.length - kept)
      frames.push({ bytes: skipped, event: null, data: null, isTorn: false })
    }
    if (framer.pendingBytes() > maxBytes) {
      isTearing = true
      frames.push(torn(framer.takePending()))
    }
    return frames
  }

  return {
    framing,
    pendingBytes: framer.pendingBytes,
    push,
    end: () => {
      const rest = framer.takePending()
      return rest.length === 0 ? [] : [frameOf(rest, 0, 0, rest.length)]
    }
  }
}

const lineEnds = /\r\n|\n|\r/

const isData = (line: string): boolean => line === "data" || line.startsWith("data:")

/** The event with other data: its name, ids and comments stay. A byte order mark goes. */
const eventWith = (text: string, json: string): string => {
  const lineEnd = lineEnds.exec(text)?.[0] ?? "\n"
  const lines = text.replace(/^\ufeff/, "").split(lineEnds)
  const others = lines.filter((line) => line !== "" && !isData(line))
  const data = json.split(lineEnds).map((line) => `data: ${line}`)
  return [...others, ...data, "", ""].join(lineEnd)
}

/** The bytes of the frame with another JSON text. */
export const withData = (framing: Framing, frame: Frame, json: string): Buffer => {
  const text = frame.bytes.toString()
  switch (framing) {
    case "events":
      return Buffer.from(eventWith(text, json))
    case "lines":
      return Buffer.from(json + (/\r?\n$/.exec(text)?.[0] ?? ""))
    case "array":
      return Buffer.from(text.slice(0, text.indexOf("{")) + json)
  }
}
