/**
 * How many tokens a request would take in, estimated from its text: for clients that ask before they send, whatever the upstream.
 * An estimate by class of text, not a tokeniser: pictures and files count with a flat figure each.
 */
import * as Either from "effect/Either"
import type { InvalidRequest } from "../domain/Errors.ts"
import { estimateTokens } from "../usage/Cost.ts"
import type { Part } from "../wire/canonical/Conversation.ts"
import type { JsonObject } from "../wire/json/Json.ts"
import type { WireCodec } from "../wire/WireCodec.ts"

/** What providers charge for a picture of common size, about. */
const tokensPerMedium = 1_200
/** The frame around a message. */
const tokensPerMessage = 4

const tokensOf = (part: Part): number => {
  switch (part.type) {
    case "text":
    case "refusal":
    case "reasoning":
      return estimateTokens(Buffer.byteLength(part.text))
    case "tool_call":
      return estimateTokens(part.name.length + Buffer.byteLength(part.args), "json")
    case "tool_result":
      return part.content.reduce((sum, inner) => sum + tokensOf(inner), 0)
    case "image":
    case "audio":
    case "file":
      return tokensPerMedium
    case "opaque":
      return estimateTokens(JSON.stringify(part.value).length, "json")
  }
}

export const countTokens = (codec: WireCodec, body: JsonObject): Either.Either<number, InvalidRequest> =>
  Either.map(codec.decodeRequest(body), ({ messages, tools }) => {
    let tokens = tools.length === 0 ? 0 : estimateTokens(JSON.stringify(tools).length, "json")
    for (const { parts } of messages) {
      tokens += tokensPerMessage
      for (const part of parts) tokens += tokensOf(part)
    }
    return tokens
  })
