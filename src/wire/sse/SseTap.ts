/**
 * Watches a same-wire event stream while its bytes are relayed. Only complete events pass, so that an event can be withheld; when nothing
 * is withheld and a chunk ends with an event, the chunk object itself is relayed.
 */
import { answerTooLarge, isTornEvent, tornEvent } from "../UpstreamError.ts"
import { type MutableFacts, observeText, startFacts } from "../canonical/Facts.ts"
import type { StreamTap } from "../WireCodec.ts"
import { makePlainDelta } from "./PlainDelta.ts"
import { makeSseFramer } from "./SseFramer.ts"
import { encodeSse, parseBlock, type SseEvent } from "./SseScanner.ts"

/**
 * Decision on an event. `unreadable` ones are relayed (the client may be able to read them), unless they were meant as JSON or the
 * stream ends with one: then a part of the answer is lost. `plainText` is an event that carries this answer text and nothing else;
 * `instead` replaces it.
 */
export type Verdict =
  | "relay"
  | "withhold"
  | "unreadable"
  | { readonly plainText: string }
  | { readonly instead: string }

/** Reads the events of one wire. */
export interface TapReader {
  /** The member that holds the text of a plain text delta. */
  readonly textMember: string
  /** Clients of this wire support only `data:` lines and lose events with others. */
  readonly dataOnly?: boolean
  /** Updates the facts from an event (all but the characters of `plainText`) and returns the verdict. Parses it at most once. */
  readonly read: (event: SseEvent, facts: MutableFacts) => Verdict
  /** Updates the facts at the end of the stream, on wires without an end mark. */
  readonly end?: (facts: MutableFacts) => void
}

const nothing = Buffer.alloc(0)

/** Checks whether every line of the block is a `data:` line or a comment. */
const isDataOnly = (bytes: Buffer, start: number, end: number): boolean =>
  bytes
    .toString("latin1", start, end)
    .split(/\r\n|\n|\r/)
    .every((line) => line === "" || line.startsWith("data") || line.startsWith(":"))
const blankLine = Buffer.from("\n\n")

export const makeSseTap = (reader: TapReader, maxEventBytes?: number): StreamTap => {
  const facts = startFacts()
  const framer = makeSseFramer(maxEventBytes)
  const plain = makePlainDelta(reader.textMember)

  /** Counts an event that differs from the one before in its text only. */
  const isPlain = (bytes: Buffer, start: number, end: number): boolean => {
    const chars = plain.match(bytes, start, end).length
    if (chars === 0) return false
    facts.events += 1
    facts.content = true
    facts.textChars += chars
    return true
  }

  const isOver = (): boolean => facts.problem !== null || (facts.terminated && facts.stop !== null)

  /**
   * Decides whether a block passes. After a failure nothing does: the relay writes the one error event that ends the stream. Nor does
   * anything after a complete answer: a client would take a second end mark for the end of its next answer.
   */
  const judge = (bytes: Buffer, start: number, end: number): boolean | Buffer => {
    if (isOver()) return false
    if (isPlain(bytes, start, end)) return true
    const event = parseBlock(bytes, start, end)
    if (event === null) return true
    facts.events += 1
    const verdict = reader.read(event, facts)
    if (verdict === "withhold") return false
    if (verdict === "unreadable" && isTornEvent(event.data)) {
      if (facts.stop === null) facts.problem = tornEvent
      return false
    }
    if (reader.dataOnly === true && !isDataOnly(bytes, start, end)) {
      if (typeof verdict === "object" && "plainText" in verdict) observeText(facts, verdict.plainText)
      return Buffer.from(encodeSse(null, event.data))
    }
    if (typeof verdict === "string") return true
    if ("instead" in verdict) return Buffer.from(verdict.instead)
    observeText(facts, verdict.plainText)
    plain.learn(bytes, start, end, verdict.plainText)
    return true
  }

  const push = (chunk: Buffer): Buffer => {
    // Most chunks of most answers are one such event.
    if (framer.isBetween() && !isOver() && isPlain(chunk, 0, chunk.length)) return chunk
    // Bytes buffered from earlier chunks must come first: then the chunk itself cannot be relayed.
    let kept: Array<Buffer> | null = framer.pendingBytes() > 0 ? [] : null
    const boundary = framer.push(chunk, (bytes, start, end) => {
      const relayed = judge(bytes, start, end)
      if (kept === null) {
        if (relayed === true) return
        kept = [chunk.subarray(0, start)]
      }
      if (relayed !== false) kept.push(relayed === true ? bytes.subarray(start, end) : relayed)
    })
    const failure = framer.failure()
    if (failure !== null && facts.problem === null) {
      const message = `The upstream sent an event larger than ${failure.limitBytes} bytes.`
      facts.problem = { status: 502, message, type: null, code: answerTooLarge }
    }
    if (kept === null) return boundary === chunk.length ? chunk : chunk.subarray(0, boundary)
    return join(kept)
  }

  /** The rest of the last event, if it is complete. */
  const takeRest = (): Buffer => {
    const rest = framer.takePending()
    const event = parseBlock(rest, 0, rest.length)
    if (event === null || isOver()) return nothing
    const verdict = reader.read(event, facts)
    // A cut event is useless to the client, and would break the error event that follows.
    if (verdict === "withhold" || verdict === "unreadable") return nothing
    if (typeof verdict === "string") return Buffer.concat([rest, blankLine])
    if ("instead" in verdict) return Buffer.from(verdict.instead)
    observeText(facts, verdict.plainText)
    return Buffer.concat([rest, blankLine])
  }

  const end = (): Buffer => {
    const rest = takeRest()
    reader.end?.(facts)
    return rest
  }

  return { facts, push, end }
}

const join = (pieces: ReadonlyArray<Buffer>): Buffer => {
  const [first] = pieces
  if (first === undefined) return nothing
  return pieces.length === 1 ? first : Buffer.concat(pieces)
}
