/** Whole answers of a wire that plugins have written. Pure. */
import * as Either from "effect/Either"
import type { JsonObject } from "../../../wire/json/Json.ts"
import type { WireCodec } from "../../../wire/WireCodec.ts"

/**
 * Checks whether a client of this codec can read it as an answer that has come to its end. A codec may stumble over
 * shapes that no provider sends.
 */
export const isWholeAnswer = (codec: WireCodec, body: JsonObject): boolean => {
  try {
    if (codec.isOwnAnswer !== undefined) return codec.isOwnAnswer(body)
    return codec.readAnswer(body).stop !== null && Either.isRight(codec.decodeResponse(body))
  } catch {
    return false
  }
}
