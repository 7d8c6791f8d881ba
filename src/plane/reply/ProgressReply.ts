/**
 * A stream of server-sent events with word of how far it is: a named event every two seconds, and one with `done: true` before the wire's end
 * mark. Events are between whole events only, after the first one of the answer; without them every byte is the same.
 */
import type { Timers } from "../../platform/Timers.ts"
import { estimateTokens } from "../../observe/usage/Cost.ts"
import type { StreamFacts, WireCodec } from "../../wire/WireCodec.ts"
import type { ClientReply } from "../request/Exchange.ts"
import { type Frame, makeFrames } from "./Frames.ts"
import { headerIn, withHeaders } from "./ReplyHeaders.ts"
import { wrapped } from "./Wrapped.ts"

export interface ProgressOptions {
  readonly codec: Pick<WireCodec, "makeStreamTap">
  /** Members that clients of the wire expect in every event. */
  readonly members: object
  readonly timers: Pick<typeof Timers.Service, "after" | "monotonicMs">
  /** Monotonic milliseconds at the arrival of the request. */
  readonly startedMs: number
}

export const everyMs = 2_000

/** Returns the output tokens that the answer reports at its end; an estimate before. */
const tokensOf = ({ reasoningChars, stop, textChars, toolArgChars, usage }: StreamFacts): number =>
  stop !== null && usage !== null && usage.out > 0
    ? usage.out
    : estimateTokens(textChars) + estimateTokens(toolArgChars, "json") + estimateTokens(reasoningChars)

/** Wraps a reply so that successful streams report their progress. */
export const withProgress = (reply: ClientReply, options: ProgressOptions): ClientReply => {
  const { members, startedMs, timers } = options
  const frames = makeFrames("events")
  const tap = options.codec.makeStreamTap({ hideUsage: false })
  let isStream = false
  let hasBegun = false
  let isDone = false
  /** The last bytes are not the end of an event. */
  let isTorn = false
  let isFull = false
  let stop = (): void => {}

  const eventOf = (done: boolean): string => {
    const elapsedMs = Math.round(timers.monotonicMs() - startedMs)
    const data = { ...members, tokens_generated: tokensOf(tap.facts), elapsed_ms: elapsedMs, done }
    return `event: progress\ndata: ${JSON.stringify(data)}\n\n`
  }

  const start = (): void => {
    const timer = timers.after(everyMs, () => {
      if (hasBegun && !isDone && !isTorn && !isFull) isFull = !reply.write(eventOf(false))
      timer.restart()
    })
    const noLongerDrain = reply.onDrain(() => {
      isFull = false
    })
    const noLongerClose = reply.onClose(() => stop())
    stop = () => {
      timer.cancel()
      noLongerDrain()
      noLongerClose()
    }
  }

  const marked = (found: ReadonlyArray<Frame>): Buffer => {
    const pieces: Array<Buffer> = []
    for (const frame of found) {
      tap.push(frame.bytes)
      if (tap.facts.terminated && tap.facts.stop !== null && !isDone && !isTorn) {
        isDone = true
        pieces.push(Buffer.from(eventOf(true)))
      }
      isTorn = frame.isTorn
      hasBegun ||= frame.data !== null
      pieces.push(frame.bytes)
    }
    const [first] = pieces
    return first !== undefined && pieces.length === 1 ? first : Buffer.concat(pieces)
  }

  return wrapped(reply, {
    head: (status, headers) => {
      isStream = status === 200 && headerIn(headers, "content-type")?.startsWith("text/event-stream") === true
      if (!isStream) return reply.head(status, headers)
      reply.head(status, withHeaders(headers, ["X-Gateway-Progress", "enabled"]))
      start()
    },
    write: (chunk) => {
      if (!isStream) return reply.write(chunk)
      const bytes = marked(frames.push(chunk))
      if (bytes.length > 0) isFull = !reply.write(bytes)
      return !isFull
    },
    end: (chunk, trailers) => {
      stop()
      if (!isStream) return reply.end(chunk, trailers)
      reply.end(marked([...frames.push(chunk), ...frames.end()]), trailers)
    },
    cut: () => {
      stop()
      reply.cut()
    }
  })
}
