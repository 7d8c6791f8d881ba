/**
 * Canonical conversation → gemini request. Model and streaming are not in the body but in the upstream's path.
 *
 * https://ai.google.dev/api/generate-content
 */
import type { Conversation } from "../canonical/Conversation.ts"
import { makeDropLog } from "../canonical/DropLog.ts"
import type { JsonObject } from "../json/Json.ts"
import type { EncodedRequest, EncodeOptions } from "../WireCodec.ts"
import { encodeGeneration } from "./Generation.ts"
import { encodeMessages } from "./MessageEncode.ts"
import { encodeTools } from "./Tools.ts"

export const encodeRequest = (conversation: Conversation, options: EncodeOptions): EncodedRequest => {
  const log = makeDropLog(conversation.wire)
  if (conversation.user !== null) log.drop("user")
  if (conversation.metadata !== null) log.dropField("metadata")
  const body: JsonObject = {
    ...encodeMessages(conversation, options.model, log),
    ...encodeTools(conversation, log),
    ...encodeGeneration(conversation, options, log)
  }
  return { body, dropped: [...log.dropped], lost: [...log.lost], mapped: [...log.mapped] }
}
