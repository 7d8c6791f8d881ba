/** Reads an answer in the bytes that its client got. Pure. */
import * as Either from "effect/Either"
import type { StreamEvent } from "../../../wire/canonical/Event.ts"
import type { Response, Stop } from "../../../wire/canonical/Response.ts"
import { mergeUsage, type Usage } from "../../../wire/canonical/Usage.ts"
import { isObject, parseJson } from "../../../wire/json/Json.ts"
import type { WireCodec } from "../../../wire/WireCodec.ts"
import { makePartCollector } from "../../../wire/canonical/PartCollector.ts"

export interface KeptResponse {
  readonly response: Response
  /** The stream has more in it than `response` says: citations, log probabilities, or blocks of its wire alone. */
  readonly isPartial: boolean
}

const isBeyondParts = (event: StreamEvent): boolean =>
  (event.type === "block_start" && event.block.type === "opaque") ||
  (event.type === "delta" &&
    (event.delta.type === "citation" ||
      event.delta.type === "opaque" ||
      (event.delta.type === "text" && event.delta.logprobs !== undefined)))

/** Reads the events. Null when the stream has not come to its end, or reports a failure. */
const ofEvents = (events: ReadonlyArray<StreamEvent>): KeptResponse | null => {
  const collector = makePartCollector()
  let id: string | null = null
  let model: string | null = null
  let createdMs: number | null = null
  let usage: Usage | null = null
  let stop: Stop | null = null
  let isDone = false
  let isPartial = false
  for (const event of events) {
    collector.add(event)
    isPartial ||= isBeyondParts(event)
    switch (event.type) {
      case "start":
        id = event.id
        model = event.model
        createdMs = event.createdMs
        break
      case "usage":
        usage = mergeUsage(usage, event.usage)
        break
      case "finish":
        stop = event.stop
        break
      case "done":
        isDone = true
        break
      case "error":
        return null
      default:
    }
  }
  const parts = collector.parts()
  if (!isDone || stop === null || parts === null) return null
  return { response: { id, model, createdMs, parts, stop, usage, logprobs: null }, isPartial }
}

export const readStream = (codec: WireCodec, body: Buffer): KeptResponse | null => {
  const decoder = codec.makeStreamDecoder()
  return ofEvents([...decoder.push(body), ...decoder.end()])
}

export const readWhole = (codec: WireCodec, body: Buffer): KeptResponse | null => {
  const parsed = parseJson(body.toString("utf8"))
  if (!isObject(parsed)) return null
  const response = Either.getOrNull(codec.decodeResponse(parsed))
  return response === null ? null : { response, isPartial: false }
}
