/**
 * A stream of an upstream without the credentials that were sent to it, where they are spread over several events (inside of one piece of the
 * stream the outbound client has taken them out). Texts of one place that follow each other are read as one text. An event waits only while the
 * text of a place ends with the beginning of a credential; everything else goes on as it came.
 */
import type { SecretFinder, SentSecrets } from "../../kernel/secrets/SentSecrets.ts"
import { leastHeld } from "../../kernel/secrets/SentSecrets.ts"
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
/** Smallest part of a credential, in characters, that counts as one that was cut. */
const leastCut = 12
const mark = "[redacted]"

/** Names of members by which the events of the wires distinguish one answer, block or call from another. */
const lanes = ["index", "output_index", "content_index", "summary_index", "item_id", "candidateIndex"] as const

/** A text of a place that is on its way. */
interface Piece {
  readonly path: Path
  /** Offset at which it begins in all the text of its place. */
  readonly start: number
  readonly text: string
  /** Ranges that are taken out of it, in order: `[from, to)`; `marks`: the mark replaces it here. */
  readonly cuts: Array<{ readonly from: number; readonly to: number; readonly marks: boolean }>
}

interface WithheldFrame {
  readonly frame: Frame
  readonly pieces: Map<string, Array<Piece>>
}

/** A place that has ended with what may become a credential. */
interface Open {
  /** The text from where it may begin. */
  readonly tail: string
  /** Number of characters of the place so far. */
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
  /** Bytes of the block, with those between it and the event before. */
  readonly whole: Buffer
  readonly read: () => Frame
}

/** Calls with each event before it looks at the next one. */
interface Framer {
  readonly pendingBytes: () => number
  /** Returns true when the next byte begins an event; false also where that is not known. */
  readonly isBetween: () => boolean
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
    isBetween: () => false,
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
    pendingBytes: framer.pendingBytes,
    isBetween: framer.isBetween,
    push: (chunk, each) => {
      const before = framer.pendingBytes()
      let copied = 0
      let blocks = 0
      framer.push(chunk, (bytes, start, end, endOffset) => {
        each(eventBlock(bytes, bytes === chunk ? copied : start, start, end))
        copied = endOffset
        blocks += 1
      })
      const kept = blocks === 0 ? framer.pendingBytes() - before : framer.pendingBytes()
      if (copied + kept < chunk.length) each(besides(chunk.subarray(copied, chunk.length - kept)))
      // The reader of the wire refuses it.
      if (framer.pendingBytes() > defaultMaxEventBytes) each(besides(framer.takePending()))
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

/** Deeper values are no texts of an answer. */
const mostDeep = 64

/** Goes through every string of a value. The place of a string is only worked out when it is asked for. */
class Strings {
  readonly path: Array<string | number> = []
  /** The values on the path, the outermost first. */
  readonly #above: Array<JsonObject | ReadonlyArray<Json>> = []
  readonly #each: (text: string) => void

  constructor(each: (text: string) => void) {
    this.#each = each
  }

  walk(value: Json | undefined): void {
    if (typeof value === "string") {
      if (value !== "") this.#each(value)
      return
    }
    if (typeof value !== "object" || value === null || this.path.length > mostDeep) return
    this.#above.push(value)
    if (isArray(value)) for (let at = 0; at < value.length; at += 1) this.#step(at, value[at])
    else for (const name in value) this.#step(name, (value as JsonObject)[name])
    this.#above.pop()
  }

  #step(key: string | number, member: Json | undefined): void {
    this.path.push(key)
    this.walk(member)
    this.path.pop()
  }

  /** Names the place of a string. Items of a list are known by their own numbers: each event has a list of its own. */
  place(): string {
    const [outermost] = this.#above
    let place = isObject(outermost) ? laneOf(outermost) : ""
    for (const [at, key] of this.path.entries()) {
      const inside = this.#above[at + 1]
      const lane = typeof key === "number" && isObject(inside) ? laneOf(inside) : ""
      place += `/${lane === "" ? key : lane}`
    }
    return place
  }
}

/** Makes the edit that leaves the rest of a piece, as JSON. */
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
  #held: Array<WithheldFrame> = []
  #heldBytes = 0
  /** The place of plain deltas. */
  #plainPlace = ""
  /** Counter of all characters read: no two texts of a place begin at the same number. */
  #clock = 0

  constructor(secrets: SentSecrets, framing: Framing, member: string) {
    this.#finder = secrets.finder()
    this.#framing = framing
    this.#member = framing === "events" ? member : ""
    this.#plain = makePlainDelta(member)
    this.#framer = framing === "events" ? eventFramer() : otherFramer(framing)
  }

  push(chunk: Buffer): Buffer {
    // Most chunks of most answers are one such event.
    if (this.#held.length === 0 && this.#framer.isBetween() && this.#isPlain(chunk, 0, chunk.length)) return chunk
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

  /** A plain delta that nothing is taken out of, and that need not wait, is not read. */
  #isPlain(bytes: Buffer, start: number, end: number): boolean {
    const place = this.#plainPlace
    if (place === "") return false
    const text = this.#plain.match(bytes, start, end)
    if (text === "") return false
    const all = (this.#open.get(place)?.tail ?? "") + text
    const openAt = this.#finder.openFrom(all, 0)
    if (all.length - openAt >= leastHeld || this.#finder.find(all, 0) !== null) return false
    if (openAt === all.length) this.#open.delete(place)
    else {
      this.#clock += text.length
      this.#open.set(place, { tail: all.slice(openAt), chars: this.#clock })
    }
    return true
  }

  /** Takes a block, and returns whether the event was changed, or waits. */
  #take(block: Block, out: Array<Buffer>): boolean {
    if (this.#held.length === 0 && this.#isPlain(block.bytes, block.start, block.end)) {
      out.push(block.whole)
      return false
    }
    const frame = block.read()
    const value = frame.data === null ? null : parseJson(frame.data)
    const withheld: WithheldFrame = { frame, pieces: new Map() }
    if (isObject(value)) this.#read(block, value, withheld)
    this.#held.push(withheld)
    this.#heldBytes += frame.bytes.length
    const isOver = frame.data !== null && (!isObject(value) || isEnd(frame.data))
    if (this.#waiting.size > 0 && !isOver && this.#heldBytes <= mostHeldBytes) return true
    if (this.#waiting.size > 0) this.#giveUp(out)
    return this.#release(out)
  }

  #read({ bytes, end, start }: Block, value: JsonObject, withheld: WithheldFrame): void {
    let texts = 0
    let last = ""
    let lastPlace = ""
    const strings = new Strings((text) => {
      const { path } = strings
      const where = this.#open.size > 0 ? strings.place() : ""
      const open = where === "" ? undefined : this.#open.get(where)
      if (this.#member !== "" && path[path.length - 1] === this.#member) {
        texts += 1
        last = text
        lastPlace = where === "" ? strings.place() : where
      }
      if (open === undefined && this.#finder.isClosed(text)) return
      this.#hear(where === "" ? strings.place() : where, text, [...path], open, withheld)
    })
    strings.walk(value)
    if (texts !== 1) return
    this.#plainPlace = lastPlace
    this.#plain.learn(bytes, start, end, last)
  }

  #hear(place: string, text: string, path: Path, open: Open | undefined, withheld: WithheldFrame): void {
    const tail = open?.tail ?? ""
    const before = open?.chars ?? this.#clock
    this.#clock = Math.max(this.#clock, before + text.length)
    const piece: Piece = { path, start: before, text, cuts: [] }
    const known = withheld.pieces.get(place)
    if (known === undefined) withheld.pieces.set(place, [piece])
    else known.push(piece)
    const all = tail + text
    const base = before - tail.length
    let from = 0
    for (let found = this.#finder.find(all, 0); found !== null; found = this.#finder.find(all, from)) {
      this.#cut(place, withheld, base + found[0], base + found[1])
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

  #cut(place: string, current: WithheldFrame | null, from: number, to: number): void {
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

  /** Releases the blocks that wait, and returns whether one of them was changed. */
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
