/** Small helpers for the tests of the ollama wire. */
import * as Either from "effect/Either"
import type { InvalidRequest } from "../../../../src/contract/domain/Errors.ts"
import { chat } from "../../../../src/wire/chat/Codec.ts"
import { makeStreamTranslator } from "../../../../src/wire/Codec.ts"
import type { JsonObject } from "../../../../src/wire/json/Json.ts"
import { messages } from "../../../../src/wire/messages/Codec.ts"
import { ollama, ollamaGenerate } from "../../../../src/wire/ollama/Codec.ts"
import type { EncodeContext, WireCodec } from "../../../../src/wire/WireCodec.ts"
import { context, cut, makeTranslate } from "../support.ts"

export const wires = { chat, messages, ollama, generate: ollamaGenerate } as const
export type Wire = keyof typeof wires

/** An ollama chat request with one user message and these members more. */
export const ollamaBody = (more: JsonObject = {}): JsonObject => ({
  model: "m",
  messages: [{ role: "user", content: "Hi" }],
  ...more
})

export const translate = makeTranslate(wires)

/** Why a request is refused. */
export const refusal = (codec: WireCodec, body: JsonObject): InvalidRequest =>
  Either.getOrThrow(Either.flip(codec.decodeRequest(body)))

/** A line of a chat stream that says this. */
export const line = (message: JsonObject, more: JsonObject = {}): JsonObject => ({
  model: "llama",
  created_at: "2025-07-07T20:22:19.184789123Z",
  message: { role: "assistant", content: "", ...message },
  done: false,
  ...more
})

export const doneLine = (more: JsonObject = {}): JsonObject =>
  line({}, { done: true, done_reason: "stop", prompt_eval_count: 26, eval_count: 9, total_duration: 5, ...more })

export const ndjson = (...lines: ReadonlyArray<JsonObject>): string =>
  lines.map((value) => `${JSON.stringify(value)}\n`).join("")

/** The JSON of the lines of a stream. */
// oxlint-disable-next-line typescript/no-explicit-any -- tests read what came by member
export const linesOf = (text: string): ReadonlyArray<any> =>
  text
    .split("\n")
    .filter((value) => value !== "")
    .map((value) => JSON.parse(value))

/** The items of a list in a body. */
// oxlint-disable-next-line typescript/no-explicit-any -- tests read what came by member
export const itemsOf = (body: JsonObject, member: string): ReadonlyArray<any> => body[member] as ReadonlyArray<never>

/** A whole stream through a translator. */
export const translateStream = (client: Wire, upstream: Wire, text: string, more: Partial<EncodeContext> = {}) => {
  const translator = makeStreamTranslator(wires[client], wires[upstream], { ...context, ...more })
  const out = cut(text, 11).map((piece) => translator.push(piece))
  return { text: out.join("") + translator.end(), facts: translator.facts }
}

/** A 1×1 picture, base64. */
export const png = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
