/**
 * A stream of an upstream without the credentials that were sent to it, where they are spread over several events (inside of one piece of the
 * stream the outbound client has taken them out). Texts of one place that follow each other are read as one text. An event waits only while the
 * text of a place ends with the beginning of a credential; everything else goes on as it came.
 */
import type { SecretFinder, SentSecrets } from "../../kernel/SentSecrets.ts"
import { leastHeld } from "../../kernel/SentSecrets.ts"
import { type Path, spliceValues, type ValueEdit } from "../../wire/json/DeepSplice.ts"
import { isArray, isObject, type Json, type JsonObject, parseJson } from "../../wire/json/Json.ts"
import { makePlainDelta } from "../../wire/sse/PlainDelta.ts"
import { defaultMaxEventBytes, makeSseFramer } from "../../wire/sse/SseFramer.ts"
import { parseBlock } from "../../wire/sse/SseScanner.ts"
import { type Frame, type Framing, makeFrames, withData } from "../reply/Frames.ts"

/** Most that waits. A credential is not spread over more. */
const mostHeldBytes = 262_144
/** Places that are remembered; the texts of an answer have a handful. */
const mostPlaces = 4_096
/** So much of a credential is one that was cut. */
const leastCut = 12
const mark = "[redacted]"

/** Names of members by which the events of the wires tell one answer, block or call from another. */
const lanes = ["index", "output_index", "content_index", "summary_index", "item_id", "candidateIndex"] as const

/** A text of a place that is on its way. */
interface Piece {
  readonly path: Path
  /** Where it begins in all that its place has said. */
  readonly start: number
  readonly text: string
  /** What is taken out of it, in order: `[from, to)`; `marks`: the mark stands for it here. */
  readonly cuts: Array<{ readonly from: number; readonly to: number; readonly marks: boolean }>
}

interface Held {
  readonly frame: Frame
  readonly pieces: Map<string, Array<Piece>>
}

/** A place that has ended with what may become a credential. */
interface Open {
  /** The text from where it may begin. */
  readonly tail: string
  /** How much the place has said. */
  readonly chars: number
}

export interface EventScrub {
  readonly push: (chunk: Buffer) => Buffer
  readonly end: () => Buffer
}

/** One event in the bytes of the stream. */
interface Block {
  readonly bytes: Buffer
  readonly start: number
  readonly end: number
  /** With what stood before it since the event before. */
  readonly whole: Buffer
  readonly read: () => Frame
}

/** Calls with each event before it looks at the next one. */
interface Framer {
  readonly pendingBytes: () => number
  readonly push: (chunk: Buffer, each: (block: Block) => void) => void
  readonly end: (each: (block: Block) => void) => void
}

const blockOf = (frame: Frame): Block => ({
  bytes: frame.bytes,
  start: 0,
  end: frame.bytes.length,
  whole: frame.bytes,
  read: () => frame
})

/** Bytes that are no event. */
const besides = (bytes: Buffer): Block => blockOf({ bytes, event: null, data: null, isTorn: false })

const otherFramer = (framing: Framing): Framer => {
  const frames = makeFrames(framing)
  return {
    pendingBytes: frames.pendingBytes,
    push: (chunk, each) => {
      for (const frame of frames.push(chunk)) each(blockOf(frame))
    },
    end: (each) => {
      for (const frame of frames.end()) each(blockOf(frame))
    }
  }
}

const eventBlock = (bytes: Buffer, from: number, start: number, end: number): Block => {
  const whole = from === 0 && end === bytes.length ? bytes : bytes.subarray(from, end)
  return {
    bytes,
    start,
    end,
    whole,
    read: () => {
      const said = parseBlock(bytes.subarray(start, end), 0, end - start)
      return { bytes: whole, event: said?.event ?? null, data: said?.data ?? null, isTorn: false }
    }
  }
}

const eventFramer = (): Framer => {
  const framer = makeSseFramer(Infinity)
  return {
    pendingBytes: () => framer.pendingBytes,
    push: (chunk, each) => {
      const before = framer.pendingBytes
      let copied = 0
      let blocks = 0
      framer.push(chunk, (bytes, start, end, endOffset) => {
        each(eventBlock(bytes, bytes === chunk ? copied : start, start, end))
        copied = endOffset
        blocks += 1
      })
      const kept = blocks === 0 ? framer.pendingBytes - before : framer.pendingBytes
      if (copied + kept < chunk.length) each(besides(chunk.subarray(copied, chunk.length - kept)))
      // The reader of the wire refuses it.
      if (framer.pendingBytes > defaultMaxEventBytes) each(besides(framer.takePending()))
    },
    end: (each) => {
      const rest = framer.takePending()
      if (rest.length > 0) each(eventBlock(rest, 0, 0, rest.length))
    }
  }
}

const laneOf = (object: JsonObject): string => {
  let lane = ""
  for (const name of lanes) {
    const value = object[name]
    if (typeof value === "number" || typeof value === "string") lane += `${name}=${value};`
  }
  return lane
}

/** Calls `each` with every string of a value: its path, and the place that it continues, which is only worked out when it is asked for. */
const walkStrings = (value: Json, each: (text: string, path: Path, place: () => string) => void): void => {
  const path: Array<string | number> = []
  const names: Array<string> = []
  const walk = (one: Json | undefined): void => {
    if (typeof one === "string") {
      if (one !== "") each(one, path, () => names.join("/"))
      return
    }
    if (typeof one !== "object" || one === null || path.length > 64) return
    const entries: Iterable<readonly [string | number, Json | undefined]> = isArray(one)
      ? one.entries()
      : Object.entries(one)
    const isList = isArray(one)
    for (const [key, member] of entries) {
      path.push(key)
      const lane = isObject(member) ? laneOf(member) : ""
      names.push(isList && lane !== "" ? lane : String(key))
      walk(member)
      path.pop()
      names.pop()
    }
  }
  if (isObject(value)) names.push(laneOf(value))
  walk(value)
}

/** What is left of a piece, as JSON. */
const editOf = ({ cuts, path, text }: Piece): ValueEdit => {
  let left = ""
  let at = 0
  for (const { from, marks, to } of cuts) {
    left += text.slice(at, from) + (marks ? mark : "")
    at = to
  }
  return { path, json: JSON.stringify(left + text.slice(at)) }
}

/** Marks `[from, to)` of what a place has said, in the pieces that still wait. */
const cut = (pieces: ReadonlyArray<Piece>, from: number, to: number): void => {
  let isMarked = false
  for (const piece of pieces) {
    const start = Math.max(0, from - piece.start)
    const end = Math.min(piece.text.length, to - piece.start)
    if (start >= end) continue
    piece.cuts.push({ from: start, to: end, marks: !isMarked })
    isMarked = true
  }
}

/** The events that end an answer or a part of it: nothing follows for what waits. */
const isEnd = (data: string): boolean =>
  /"type":\s?"(?:message_stop|response\.(?:completed|incomplete|failed)|error)"|"done":\s?true/.test(data)

class Scrubber implements EventScrub {
  readonly #finder: SecretFinder
  readonly #framing: Framing
  /** The member of plain deltas; empty: the wire has none that stay alike. */
  readonly #member: string
  readonly #plain
  readonly #framer: Framer
  readonly #open = new Map<string, Open>()
  /** Open places with so much of a credential that their events wait. */
  readonly #waiting = new Set<string>()
  #held: Array<Held> = []
  #heldBytes = 0
  /** The place of plain deltas. */
  #plainPlace = ""
  /** Grows with all that is heard: no two texts of a place begin at the same number. */
  #clock = 0

  constructor(secrets: SentSecrets, framing: Framing, member: string) {
    this.#finder = secrets.finder()
    this.#framing = framing
    this.#member = framing === "events" ? member : ""
    this.#plain = makePlainDelta(member)
    this.#framer = framing === "events" ? eventFramer() : otherFramer(framing)
  }

  push(chunk: Buffer): Buffer {
    const out: Array<Buffer> = []
    let isChanged = this.#framer.pendingBytes() > 0 || this.#held.length > 0
    this.#framer.push(chunk, (block) => {
      isChanged = this.#take(block, out) || isChanged
    })
    const pending = this.#framer.pendingBytes()
    // What came whole goes on as the same object.
    if (!isChanged && this.#held.length === 0) return pending === 0 ? chunk : chunk.subarray(0, chunk.length - pending)
    return Buffer.concat(out)
  }

  end(): Buffer {
    const out: Array<Buffer> = []
    this.#framer.end((block) => this.#take(block, out))
    this.#giveUp(out)
    return Buffer.concat(out)
  }

  /** A plain delta that neither ends a credential nor begins one need not be read. */
  #isPlain({ bytes, end, start }: Block): boolean {
    if (this.#plainPlace === "" || this.#open.has(this.#plainPlace)) return false
    const text = this.#plain.match(bytes, start, end)
    return text !== "" && this.#finder.openFrom(text, 0) === text.length
  }

  /** Whether the event was changed, or waits. */
  #take(block: Block, out: Array<Buffer>): boolean {
    if (this.#held.length === 0 && this.#isPlain(block)) {
      out.push(block.whole)
      return false
    }
    const frame = block.read()
    const value = frame.data === null ? null : parseJson(frame.data)
    const held: Held = { frame, pieces: new Map() }
    if (isObject(value)) this.#read(block, value, held)
    this.#held.push(held)
    this.#heldBytes += frame.bytes.length
    const isOver = frame.data !== null && (!isObject(value) || isEnd(frame.data))
    if (this.#waiting.size > 0 && !isOver && this.#heldBytes <= mostHeldBytes) return true
    if (this.#waiting.size > 0) this.#giveUp(out)
    return this.#release(out)
  }

  #read({ bytes, end, start }: Block, value: JsonObject, held: Held): void {
    let texts = 0
    let last = ""
    let lastPlace = ""
    walkStrings(value, (text, path, place) => {
      const where = this.#open.size > 0 ? place() : ""
      const open = where === "" ? undefined : this.#open.get(where)
      const from = this.#finder.openFrom(text, 0)
      if (path.at(-1) === this.#member) {
        texts += 1
        last = text
        lastPlace = where === "" ? place() : where
      }
      if (open === undefined && from === text.length) return
      this.#hear(where === "" ? place() : where, text, [...path], open, held)
    })
    if (texts !== 1) return
    this.#plainPlace = lastPlace
    this.#plain.learn(bytes, start, end, last)
  }

  #hear(place: string, text: string, path: Path, open: Open | undefined, held: Held): void {
    const tail = open?.tail ?? ""
    const before = open?.chars ?? this.#clock
    this.#clock = Math.max(this.#clock, before + text.length)
    const piece: Piece = { path, start: before, text, cuts: [] }
    const known = held.pieces.get(place)
    if (known === undefined) held.pieces.set(place, [piece])
    else known.push(piece)
    const all = tail + text
    const base = before - tail.length
    let from = 0
    for (let found = this.#finder.find(all, 0); found !== null; found = this.#finder.find(all, from)) {
      this.#cut(place, held, base + found[0], base + found[1])
      from = found[1]
    }
    const openAt = this.#finder.openFrom(all, from)
    const rest = all.slice(openAt)
    if (rest === "") this.#open.delete(place)
    else if (this.#open.size < mostPlaces || open !== undefined)
      this.#open.set(place, { tail: rest, chars: before + text.length })
    if (rest.length >= leastHeld) this.#waiting.add(place)
    else this.#waiting.delete(place)
  }

  #cut(place: string, current: Held | null, from: number, to: number): void {
    const waiting = current === null ? this.#held : [...this.#held, current]
    cut(
      waiting.flatMap(({ pieces }) => pieces.get(place) ?? []),
      from,
      to
    )
  }

  /** Nothing completes what waits: what is long enough was a credential that was cut. */
  #giveUp(out: Array<Buffer>): void {
    for (const place of this.#waiting) {
      const open = this.#open.get(place)
      if (open !== undefined && open.tail.length >= leastCut)
        this.#cut(place, null, open.chars - open.tail.length, open.chars)
    }
    this.#waiting.clear()
    this.#release(out)
  }

  /** Whether one of them was changed. */
  #release(out: Array<Buffer>): boolean {
    let isChanged = false
    for (const { frame, pieces } of this.#held) {
      const edits = [...pieces.values()].flat().filter(({ cuts }) => cuts.length > 0)
      if (edits.length === 0 || frame.data === null) out.push(frame.bytes)
      else {
        isChanged = true
        out.push(withData(this.#framing, frame, spliceValues(frame.data, edits.map(editOf))))
      }
    }
    this.#held = []
    this.#heldBytes = 0
    return isChanged
  }
}

/** Null: nothing is looked for. `member`: of the text of a plain delta of the wire. */
export const eventScrub = (secrets: SentSecrets, framing: Framing, member: string): EventScrub | null =>
  secrets.isEmpty ? null : new Scrubber(secrets, framing, member)
