/** Small helpers for the tests of the wires. */
import * as Either from "effect/Either"
import {
  codecs,
  type EncodedRequest,
  type EncodeOptions,
  makeStreamTranslator,
  translateRequest,
  type WireCodec
} from "../../../src/wire/Codec.ts"
import type { EncodeContext } from "../../../src/wire/Codec.ts"
import type { WireName } from "../../../src/contract/domain/Wire.ts"
import type { JsonObject } from "../../../src/wire/json/Json.ts"

export const options: EncodeOptions = { model: "up", stream: false, maxOutputTokens: null, reasoning: null }
export const context: EncodeContext = {
  nowMs: 1_700_000_000_500,
  fallbackId: "gen-1",
  model: "asked",
  wantsUsage: true
}

/** A request of one of these wires in the words of another. */
export const makeTranslate =
  <Wire extends string>(wires: Readonly<Record<Wire, WireCodec>>) =>
  (source: Wire, target: Wire, body: JsonObject, more: Partial<EncodeOptions> = {}): EncodedRequest =>
    Either.getOrThrow(translateRequest(wires[source], wires[target], body, { ...options, ...more }))

export const translate = makeTranslate(codecs)

/** A chat request with one user message and these members more. */
export const chatBody = (more: JsonObject = {}): JsonObject => ({
  model: "m",
  messages: [{ role: "user", content: "Hi" }],
  ...more
})

/** A messages request with one user message and these members more. */
export const messagesBody = (more: JsonObject = {}): JsonObject => ({
  model: "m",
  max_tokens: 100,
  messages: [{ role: "user", content: "Hi" }],
  ...more
})

/** An event's data: JSON, or text as it is. */
export type Piece = JsonObject | string

export const sse = (...events: ReadonlyArray<Piece>): string =>
  events
    .map((event) => {
      const data = typeof event === "string" ? event : JSON.stringify(event)
      const type = typeof event === "object" && "type" in event ? `event: ${String(event["type"])}\n` : ""
      return `${type}data: ${data}\n\n`
    })
    .join("")

/** A chat chunk with this delta. */
export const chunk = (delta: JsonObject, finish: string | null = null, more: JsonObject = {}): JsonObject => ({
  id: "c1",
  object: "chat.completion.chunk",
  created: 1_700_000_000,
  model: "gpt",
  choices: [{ index: 0, delta, finish_reason: finish }],
  ...more
})

/** Cuts bytes into pieces of `size`. */
export const cut = (text: string, size: number): ReadonlyArray<Buffer> => {
  const bytes = Buffer.from(text)
  const pieces: Array<Buffer> = []
  for (let at = 0; at < bytes.length; at += size) pieces.push(bytes.subarray(at, at + size))
  return pieces
}

/** A whole stream through a translator. */
export const translateStream = (
  client: WireName,
  upstream: WireName,
  text: string,
  more: Partial<EncodeContext> = {}
) => {
  const translator = makeStreamTranslator(codecs[client], codecs[upstream], { ...context, ...more })
  const out =
    cut(text, 11)
      .map((piece) => translator.push(piece))
      .join("") + translator.end()
  return { text: out, facts: translator.facts }
}

/** The JSON of the data lines of a stream; `[DONE]` as it is. */
// oxlint-disable-next-line typescript/no-explicit-any -- tests read what came by member
export const events = (text: string): ReadonlyArray<any> =>
  text
    .split("\n")
    .filter((line) => line.startsWith("data: "))
    .map((line) => (line === "data: [DONE]" ? "[DONE]" : JSON.parse(line.slice(6))))

/** A whole stream through a tap, in pieces of `size`. */
export const tapStream = (wire: WireName, text: string, hideUsage = false, size = 9) => {
  const tap = codecs[wire].makeStreamTap({ hideUsage })
  const out = [...cut(text, size).map((piece) => tap.push(piece)), tap.end()]
  return { text: Buffer.concat(out).toString(), facts: tap.facts }
}
