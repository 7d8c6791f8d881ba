/**
 * Gemini request → canonical conversation. The wire has model and streaming in the path: the edge puts them into the parsed body as
 * `model` and `stream`.
 *
 * https://ai.google.dev/api/generate-content
 */
import type * as Either from "effect/Either"
import type { InvalidRequest } from "../../domain/Errors.ts"
import type { Conversation } from "../canonical/Conversation.ts"
import { makeFieldReader } from "../json/FieldReader.ts"
import { extrasWith, type JsonObject, objectOr, optional } from "../json/Json.ts"
import { camel } from "./Casing.ts"
import { decodeGeneration } from "./Generation.ts"
import { nestedOf } from "../json/Members.ts"
import { nestedMembers } from "./Members.ts"
import { decodeMessages } from "./MessageDecode.ts"
import { decodeToolConfig, decodeTools } from "./Tools.ts"

/** Members with a canonical form. All others become `extras`. */
const known = new Set(["model", "stream", "systemInstruction", "contents", "tools", "toolConfig", "generationConfig"])

const thinkingMembers = new Set(["thinkingBudget", "includeThoughts", "thinkingLevel"])
/** Names of members, because clients can send any number of unknown ones. */
const maxNames = 64

/** Members of `thinkingConfig` that only this wire has. */
const unreadThinking = (body: JsonObject): ReadonlyArray<string> => {
  const { thinkingConfig } = camel(objectOr(body["generationConfig"]))
  return Object.keys(camel(objectOr(thinkingConfig)))
    .filter((name) => !thinkingMembers.has(name))
    .slice(0, maxNames)
    .map((name) => `generationConfig.thinkingConfig.${name}`)
}

export const decodeRequest = (source: JsonObject): Either.Either<Conversation, InvalidRequest> => {
  const body = camel(source)
  const read = makeFieldReader()
  const model = read.string(body, "model")
  if (model === undefined || model === "") read.fail("model", "a model id is required")
  const config = decodeToolConfig(body, read)
  const generation = decodeGeneration(body, read)
  const conversation: Conversation = {
    wire: "gemini",
    model: model ?? "",
    stream: read.boolean(body, "stream") ?? false,
    wantsUsage: true,
    messages: decodeMessages(body, read),
    tools: decodeTools(body, read),
    toolChoice: config.choice,
    parallelToolCalls: null,
    user: null,
    metadata: null,
    ...generation,
    extras: extrasWith(body, known, generation.extras, optional("toolConfig", config.extra)),
    ...nestedOf(nestedMembers, body, camel)
  }
  const thinking = unreadThinking(body)
  if (thinking.length > 0) {
    return read.result({ ...conversation, nested: [...(conversation.nested ?? []), ...thinking] })
  }
  return read.result(conversation)
}
