/** What a tap knows about response streams: what the decoder reads in them. Each event is numbered, so none is like the last. */
import { type MutableFacts, makeObserver } from "../canonical/Facts.ts"
import { isObject, parseJson } from "../json/Json.ts"
import { makeSseTap, type TapReader } from "../sse/SseTap.ts"
import type { StreamTap } from "../WireCodec.ts"
import { makeEventDecoder } from "./StreamDecode.ts"

const makeReader = (): TapReader => {
  const decoder = makeEventDecoder()
  let observe: ReturnType<typeof makeObserver> | null = null
  return {
    textMember: "delta",
    read: ({ data }, facts: MutableFacts) => {
      const event = parseJson(data)
      if (!isObject(event)) return "unreadable"
      observe ??= makeObserver(facts)
      for (const told of decoder.read(event)) observe(told)
      return facts.problem === null ? "relay" : "withhold"
    }
  }
}

/** Usage always belongs to this wire's streams: there is nothing to hide. */
export const makeStreamTap = (): StreamTap => makeSseTap(makeReader())
