/** Small helpers for the tests of the gemini wire. */
import { chat } from "../../../../src/wire/chat/Codec.ts"
import { makeStreamTranslator } from "../../../../src/wire/Codec.ts"
import { gemini } from "../../../../src/wire/gemini/Codec.ts"
import type { JsonObject } from "../../../../src/wire/json/Json.ts"
import { messages } from "../../../../src/wire/messages/Codec.ts"
import { context, cut, makeTranslate } from "../support.ts"

export const wires = { chat, messages, gemini }
export type Wire = keyof typeof wires

export const translate = makeTranslate(wires)

/** A gemini request with one content and these members more, as the edge hands it on. */
export const geminiBody = (more: JsonObject = {}): JsonObject => ({
  model: "m",
  contents: [{ role: "user", parts: [{ text: "Hi" }] }],
  ...more
})

export const user = (...parts: ReadonlyArray<JsonObject>): JsonObject => ({ role: "user", parts })
export const model = (...parts: ReadonlyArray<JsonObject>): JsonObject => ({ role: "model", parts })

/** An answer, or a chunk of one. */
export const answer = (
  parts: ReadonlyArray<JsonObject>,
  finish: string | null = null,
  more: JsonObject = {}
): JsonObject => ({
  candidates: [{ content: { parts, role: "model" }, ...(finish === null ? {} : { finishReason: finish }), index: 0 }],
  modelVersion: "gemini-x",
  responseId: "r-1",
  ...more
})

export const data = (...chunks: ReadonlyArray<JsonObject>): string =>
  chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\r\n\r\n`).join("")

/** A whole stream through a translator, in pieces of `size`. */
export const translateStream = (client: Wire, upstream: Wire, text: string, size = 11) => {
  const translator = makeStreamTranslator(wires[client], wires[upstream], context)
  const out =
    cut(text, size)
      .map((piece) => translator.push(piece))
      .join("") + translator.end()
  return { text: out, facts: translator.facts }
}

/** The events a stream decodes to, in pieces of `size`. */
export const decodeStream = (text: string, size = 7) => {
  const decoder = gemini.makeStreamDecoder()
  return [...cut(text, size).flatMap((piece) => decoder.push(piece)), ...decoder.end()]
}
