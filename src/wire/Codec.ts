/** The registry of wires, and translation between two of them. A further wire is one more entry here. */
import * as Either from "effect/Either"
import { InvalidRequest } from "../domain/Errors.ts"
import type { WireName } from "../domain/Wire.ts"
import { makeObserver, startFacts } from "./canonical/Facts.ts"
import type { StreamEvent } from "./canonical/Event.ts"
import { chat } from "./chat/Codec.ts"
import { gemini } from "./gemini/Codec.ts"
import type { JsonObject } from "./json/Json.ts"
import { messages } from "./messages/Codec.ts"
import { ollama } from "./ollama/Codec.ts"
import { responses } from "./responses/Codec.ts"
import type { EncodeContext, EncodedRequest, EncodeOptions, StreamFacts, WireCodec } from "./WireCodec.ts"

export type { StreamEvent, UpstreamProblem } from "./canonical/Event.ts"
export type * from "./WireCodec.ts"

/** Every wire of the contract. */
export const codecs: Readonly<Record<WireName, WireCodec>> = { chat, messages, responses, gemini, ollama }

/** A request of one wire in the words of another. Left when it is malformed, or asks for more answers than the target can give. */
export const translateRequest = (
  source: WireCodec,
  target: WireCodec,
  body: JsonObject,
  options: EncodeOptions
): Either.Either<EncodedRequest, InvalidRequest> =>
  Either.flatMap(source.decodeRequest(body), (conversation) => {
    // Between wires only one answer can be told.
    const most = source.name === target.name ? target.maxCandidates : 1
    if (conversation.candidates <= most) return Either.right(target.encodeRequest(conversation, options))
    const message = `n: ${conversation.candidates} answers in one request cannot be had from the chosen model; ask for one.`
    return Either.left(new InvalidRequest({ message, param: "n", details: [{ field: "n", message }] }))
  })

/** A stream on its way from the upstream's wire to the client's. */
export interface StreamTranslator {
  readonly facts: StreamFacts
  /** Text for the client; empty when the chunk had nothing to say yet. */
  readonly push: (chunk: Buffer) => string
  /** The upstream's stream is over. Success only when `facts.terminated` and `facts.stop` hold afterwards. */
  readonly end: () => string
}

/**
 * Decoder → encoder. A failure is not written here: it stands in `facts.problem`, and the relay renders it with the source
 * wire's `renderStreamError`, so that client and books hear the same.
 */
export const makeStreamTranslator = (
  client: WireCodec,
  upstream: WireCodec,
  context: EncodeContext
): StreamTranslator => {
  const decoder = upstream.makeStreamDecoder()
  const encoder = client.makeStreamEncoder(context)
  const facts = startFacts()
  const observe = makeObserver(facts)
  const write = (events: ReadonlyArray<StreamEvent>): string => {
    let text = ""
    for (const event of events) {
      if (facts.terminated || facts.problem !== null) break
      observe(event)
      text += encoder.encode(event)
    }
    return text
  }
  return { facts, push: (chunk) => write(decoder.push(chunk)), end: () => write(decoder.end()) }
}
