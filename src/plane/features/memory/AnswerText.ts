/** Reads the text of an answer from the bytes that its client got. Pure. */
import * as Either from "effect/Either"
import type { AnswerPart } from "../../../wire/canonical/Response.ts"
import { isObject, parseJson } from "../../../wire/json/Json.ts"
import type { WireCodec } from "../../../wire/WireCodec.ts"
import type { Recorded } from "../../reply/Recorder.ts"
import { makePartCollector } from "../../../wire/canonical/PartCollector.ts"

const partsOfStream = (codec: WireCodec, { chunks }: Recorded): ReadonlyArray<AnswerPart> | null => {
  const decoder = codec.makeStreamDecoder()
  const collector = makePartCollector()
  for (const chunk of chunks) for (const event of decoder.push(chunk)) collector.add(event)
  for (const event of decoder.end()) collector.add(event)
  return collector.parts()
}

const partsOfWhole = (codec: WireCodec, { chunks }: Recorded): ReadonlyArray<AnswerPart> | null => {
  const body = parseJson(Buffer.concat(chunks).toString("utf8"))
  const response = isObject(body) ? codec.decodeResponse(body) : null
  if (response === null || Either.isLeft(response)) return null
  return response.right.parts
}

/**
 * The text of a complete answer. Null where it is broken, or holds more than text and reasoning: what it says may then come from a tool that
 * the provider has run.
 */
export const answerText = (codec: WireCodec, isStream: boolean, recorded: Recorded): string | null => {
  if (recorded.status !== 200 || !recorded.isEnded) return null
  const parts = isStream ? partsOfStream(codec, recorded) : partsOfWhole(codec, recorded)
  if (parts === null || parts.some(({ type }) => type !== "text" && type !== "reasoning")) return null
  return parts.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n")
}
