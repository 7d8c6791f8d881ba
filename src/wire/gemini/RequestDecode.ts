/**
 * Gemini request → canonical conversation. The wire has model and streaming in the path: the edge puts them into the parsed body as
 * `model` and `stream`.
 *
 * https://ai.google.dev/api/generate-content
 */
import type * as Either from "effect/Either"
import type { InvalidRequest } from "../../contract/domain/Errors.ts"
import type { Conversation } from "../canonical/Conversation.ts"
import { makeFieldReader } from "../json/FieldReader.ts"
import { extrasWith, type JsonObject, optional } from "../json/Json.ts"
import { camel } from "./Casing.ts"
import { decodeGeneration } from "./Generation.ts"
import { type Inner, innerOf, type InnerObjects } from "../json/Inner.ts"
import { nestedOf } from "../json/Members.ts"
import { nestedMembers } from "./Members.ts"
import { decodeMessages } from "./MessageDecode.ts"
import { decodeToolConfig, decodeTools } from "./Tools.ts"

/** Members with a canonical form. All others become `extras`. */
const known = new Set(["model", "stream", "systemInstruction", "contents", "tools", "toolConfig", "generationConfig"])

/** Objects of which a request has one. */
const innerObjects: InnerObjects = {
  "generationConfig.thinkingConfig": new Set(["thinkingBudget", "includeThoughts", "thinkingLevel"])
}
/** Names of members, because clients can send any number of unknown ones. */
const maxNames = 64

const namesOf = ({ members, path }: Inner): ReadonlyArray<string> =>
  Object.keys(members)
    .slice(0, maxNames)
    .map((name) => [...path, name].join("."))

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
  const { inner } = innerOf(innerObjects, body, camel)
  if (inner === undefined) return read.result(conversation)
  const nested = [...(conversation.nested ?? []), ...inner.flatMap(namesOf)]
  return read.result({ ...conversation, nested, inner })
}
