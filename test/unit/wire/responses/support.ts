/** Helpers for the tests of the responses wire. */
import * as Either from "effect/Either"
import { makeStreamTranslator } from "../../../../src/wire/Codec.ts"
import { chat } from "../../../../src/wire/chat/Codec.ts"
import type { JsonObject } from "../../../../src/wire/json/Json.ts"
import { messages } from "../../../../src/wire/messages/Codec.ts"
import { responses } from "../../../../src/wire/responses/Codec.ts"
import type { EncodeContext } from "../../../../src/wire/WireCodec.ts"
import { context, cut, events, makeTranslate } from "../support.ts"

export const wires = { chat, messages, responses }
export type Wire = keyof typeof wires

export const translate = makeTranslate(wires)

/** A whole stream through a translator. */
export const translateStream = (client: Wire, upstream: Wire, text: string, more: Partial<EncodeContext> = {}) => {
  const translator = makeStreamTranslator(wires[client], wires[upstream], { ...context, ...more })
  const out =
    cut(text, 11)
      .map((piece) => translator.push(piece))
      .join("") + translator.end()
  return { text: out, events: events(out), facts: translator.facts }
}

/** A whole answer of one wire as an answer of another. */
export const translateAnswer = (client: Wire, upstream: Wire, body: JsonObject, more: Partial<EncodeContext> = {}) =>
  wires[client].encodeResponse(Either.getOrThrow(wires[upstream].decodeResponse(body)), { ...context, ...more })

export const item = (...input: ReadonlyArray<JsonObject>): JsonObject => ({ model: "m", input })

export const user = (text: string): JsonObject => ({
  type: "message",
  role: "user",
  content: [{ type: "input_text", text }]
})
