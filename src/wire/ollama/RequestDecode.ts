/**
 * Ollama chat request → canonical conversation.
 *
 * https://docs.ollama.com/api/chat
 */
import type * as Either from "effect/Either"
import type { InvalidRequest } from "../../contract/domain/Errors.ts"
import type { Conversation } from "../canonical/Conversation.ts"
import { makeFieldReader } from "../json/FieldReader.ts"
import type { JsonObject } from "../json/Json.ts"
import { nestedOf } from "../json/Members.ts"
import { nestedMembers } from "./Members.ts"
import { decodeMessages } from "./MessageDecode.ts"
import { decodeSettings, sharedMembers } from "./Settings.ts"
import { decodeTools } from "./Tools.ts"

const known = new Set<string>([...sharedMembers, "messages", "tools"])

export const decodeRequest = (body: JsonObject): Either.Either<Conversation, InvalidRequest> => {
  const read = makeFieldReader()
  return read.result({
    ...decodeSettings(body, known, read),
    messages: decodeMessages(body, read),
    tools: decodeTools(body, read),
    ...nestedOf(nestedMembers, body)
  })
}
