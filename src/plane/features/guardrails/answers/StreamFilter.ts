/** The stream of an answer without personal data. What is not changed goes on as it came, byte for byte. */
import { spliceValues, type ValueEdit } from "../../../../wire/json/DeepSplice.ts"
import { isObject, parseJson } from "../../../../wire/json/Json.ts"
import { type Frame, type Framing, makeFrames, withData } from "../../../reply/Frames.ts"
import { edited, editsIn } from "./Channel.ts"
import type { AnswerReader, Reading } from "./Reading.ts"
import { allOf, Meter, type Steps } from "./Steps.ts"
import { makeTextFilter } from "./TextFilter.ts"
import { type Finding, type TextGuard, usualWindowChars } from "./TextGuard.ts"

export interface StreamFilter {
  /** Nothing of the stream is held back. */
  readonly isEmpty: () => boolean
  readonly push: (chunk: Buffer | string) => void
  /** The same in steps. Nothing else may be pushed before the last. */
  readonly pushIn: (chunk: Buffer | string) => Steps<void>
  /** Ends the stream: everything that was held back leaves. */
  readonly end: () => void
  readonly endIn: () => Steps<void>
}

export interface StreamFilterOptions {
  readonly framing: Framing
  readonly reader: AnswerReader
  /** Null: texts are not looked at. */
  readonly guard: TextGuard | null
  readonly found: (finding: Finding) => void
  /** An event cannot be looked at: it is too large, or looking at it has failed. It goes on as it came. */
  readonly unread: () => void
  /** Receives the texts of an event, before any of them leaves. */
  readonly read: (reading: Reading) => void
  /** `says`: it holds a part of the answer. */
  readonly release: (bytes: Buffer, says: boolean) => void
  readonly maxFrameBytes?: number
}

interface Item {
  readonly frame: Frame
  readonly says: boolean
}

/** The word that ends a stream of events is no text of the answer. */
const endMark = "[DONE]"

const nothingFound: TextGuard = { find: () => [], longestMatchChars: 0, openFrom: (text) => text.length }

const saysSomething = ({ calls, pieces }: Reading): boolean => pieces.length > 0 || calls.length > 0

export const makeStreamFilter = (options: StreamFilterOptions): StreamFilter => {
  const { found, framing, read, reader, release, unread } = options
  const guard = options.guard ?? nothingFound
  const frames = makeFrames(framing, options.maxFrameBytes)

  const leave = ({ frame, says }: Item, edits: ReadonlyArray<ValueEdit>): void =>
    release(edits.length === 0 ? frame.bytes : withData(framing, frame, spliceValues(frame.data ?? "", edits)), says)
  const filter = makeTextFilter<Item>({ guard, found, release: leave })

  /** An event that is no JSON may still be text for a client. */
  const plainFrame = function* (frame: Frame, data: string): Steps<Frame> {
    const edits = yield* editsIn(data, "text", guard, found)
    return edits.length === 0 ? frame : { ...frame, bytes: withData(framing, frame, edited(data, edits)) }
  }

  const take = function* (frame: Frame): Steps<void> {
    const { bytes, data, isTorn } = frame
    if (data === null) return yield* filter.addIn({ frame, says: isTorn }, null, bytes.length)
    const event = parseJson(data)
    if (isObject(event)) {
      const reading = reader.event(event)
      read(reading)
      return yield* filter.addIn({ frame, says: saysSomething(reading) }, reading, bytes.length)
    }
    if (data.trim() !== endMark) {
      const plain = yield* plainFrame(frame, data)
      return yield* filter.addIn({ frame: plain, says: true }, null, bytes.length)
    }
    filter.flush()
    filter.add({ frame, says: false }, null, bytes.length)
  }

  const takeAny = function* (frame: Frame): Steps<void> {
    if (frame.isTorn) unread()
    try {
      yield* take(frame)
    } catch {
      unread()
      filter.add({ frame, says: true }, null, frame.bytes.length)
    }
  }

  const meter = new Meter(guard.windowChars ?? usualWindowChars)
  const takeAll = function* (taken: ReadonlyArray<Frame>): Steps<void> {
    for (const frame of taken) {
      if (meter.isOver(frame.bytes.length)) yield
      yield* takeAny(frame)
    }
  }
  const pushIn = (chunk: Buffer | string): Steps<void> => takeAll(frames.push(chunk))
  const endIn = function* (): Steps<void> {
    yield* takeAll(frames.end())
    filter.flush()
  }

  return {
    isEmpty: () => frames.pendingBytes() === 0 && filter.waiting() === 0,
    push: (chunk) => allOf(pushIn(chunk)),
    pushIn,
    end: () => allOf(endIn()),
    endIn
  }
}
