/**
 * Reads response streams for a tap, with the stream decoder. Events are numbered, so `PlainDelta` cannot help.
 *
 * https://developers.openai.com/api/reference/resources/responses/streaming-events
 */
import { type MutableFacts, makeObserver } from "../canonical/Facts.ts"
import { isObject, parseJson } from "../json/Json.ts"
import { makeSseTap, type TapReader } from "../sse/SseTap.ts"
import type { StreamTap, TapOptions } from "../WireCodec.ts"
import { makeEventDecoder } from "./StreamDecode.ts"

const makeReader = ({ dialect }: Partial<TapOptions> = {}): TapReader => {
  const decoder = makeEventDecoder(dialect)
  let observe: ReturnType<typeof makeObserver> | null = null
  return {
    textMember: "delta",
    read: ({ data }, facts: MutableFacts) => {
      const event = parseJson(data)
      if (!isObject(event)) return "unreadable"
      observe ??= makeObserver(facts)
      for (const decoded of decoder.read(event)) observe(decoded)
      return facts.problem === null ? "relay" : "withhold"
    }
  }
}

/** Makes the tap of a stream. Streams of this wire always have usage: there is nothing to hide. */
export const makeStreamTap = (options?: TapOptions): StreamTap => makeSseTap(makeReader(options))
