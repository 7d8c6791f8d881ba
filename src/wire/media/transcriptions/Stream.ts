/**
 * Transcripts as a stream: `transcript.text.delta` and others, then `transcript.text.done` with the whole text and the usage. The stream
 * has no end mark but that event.
 *
 * https://developers.openai.com/api/reference/resources/audio/subresources/transcriptions/streaming-events (2026-11)
 */
import type { StreamEvent } from "../../canonical/Event.ts"
import type { Stop } from "../../canonical/Response.ts"
import { isObject, type JsonObject, parseJson, stringOr } from "../../json/Json.ts"
import { makeSseDecoder } from "../../sse/SseDecoder.ts"
import { encodeSse } from "../../sse/SseScanner.ts"
import { makeSseTap, type TapReader } from "../../sse/SseTap.ts"
import { eventTypeOf, incompleteStream, streamProblem, tornEvent } from "../../UpstreamError.ts"
import type { EncodeContext, StreamDecoder, StreamEncoder, StreamTap } from "../../WireCodec.ts"
import { kind, textOf, usageIn } from "./Answer.ts"

const doneType = "transcript.text.done"
const stop: Stop = { reason: "stop", raw: "done", sequence: null }

const isEndMark = (data: string): boolean => data.trim() === "[DONE]"
const isFailure = (event: JsonObject): boolean => eventTypeOf(event) === "error" || isObject(event["error"])

const makeReader = (): TapReader => ({
  textMember: "delta",
  read: ({ data }, facts) => {
    if (isEndMark(data)) return "withhold"
    const event = parseJson(data)
    if (!isObject(event)) return "unreadable"
    if (isFailure(event)) {
      facts.problem = streamProblem(event)
      return "withhold"
    }
    if (eventTypeOf(event) !== doneType) {
      facts.textChars += stringOr(event["delta"])?.length ?? 0
      facts.content = true
      return "relay"
    }
    // The whole text, or silence.
    facts.content = true
    facts.usage = usageIn(event["usage"]) ?? facts.usage
    facts.stop = stop
    facts.terminated = true
    return "relay"
  }
})

export const makeStreamTap = (): StreamTap => makeSseTap(makeReader())

/** Decodes the stream of upstreams that are reached by another wire's address: each event is one block. */
export const makeStreamDecoder = (): StreamDecoder => {
  let index = 0
  let isDone = false
  return makeSseDecoder({
    event: ({ data }): ReadonlyArray<StreamEvent> => {
      if (isDone || isEndMark(data)) return []
      const event = parseJson(data)
      if (!isObject(event)) return [{ type: "error", problem: tornEvent }]
      if (isFailure(event)) return [{ type: "error", problem: streamProblem(event) }]
      const block: StreamEvent = {
        type: "block_start",
        index,
        block: { type: "opaque", part: { type: "opaque", wire: "chat", kind, value: event } }
      }
      const events: Array<StreamEvent> = [block, { type: "block_stop", index }]
      index += 1
      if (eventTypeOf(event) !== doneType) return events
      isDone = true
      const usage = usageIn(event["usage"])
      return [
        ...events,
        ...(usage === null ? [] : [{ type: "usage", usage } as const]),
        { type: "finish", stop },
        { type: "done" }
      ]
    },
    end: () => (isDone ? [] : [{ type: "error", problem: incompleteStream }])
  })
}

const written = (event: JsonObject): string => encodeSse(stringOr(event["type"]), JSON.stringify(event))

/** Events of such a stream, or a whole answer as one. The last event is written when the answer is known to be whole. */
export const makeStreamEncoder = (_context: EncodeContext): StreamEncoder => {
  let last = ""

  const begin = (value: JsonObject): string => {
    const type = stringOr(value["type"]) ?? ""
    if (type === doneType) {
      last = written(value)
      return ""
    }
    if (type.startsWith("transcript.")) return written(value)
    const text = textOf(value)
    const usage = value["usage"]
    last = written({ type: doneType, text, ...(isObject(usage) ? { usage } : {}) })
    return text === "" ? "" : written({ type: "transcript.text.delta", delta: text })
  }

  return {
    encode: (event) => {
      if (event.type === "done") return last
      if (event.type !== "block_start" || event.block.type !== "opaque" || event.block.part.kind !== kind) return ""
      return begin(event.block.part.value)
    }
  }
}
