/**
 * Messages request → canonical conversation.
 *
 * https://platform.claude.com/docs/en/api/messages
 */
import type * as Either from "effect/Either"
import type { InvalidRequest } from "../../contract/domain/Errors.ts"
import type { Conversation, OutputFormat, ReasoningAsk, Sampling } from "../canonical/Conversation.ts"
import { type FieldReader, makeFieldReader } from "../json/FieldReader.ts"
import { extrasOf, isObject, type JsonObject, optional, stringOr } from "../json/Json.ts"
import { innerOf } from "../json/Inner.ts"
import { nestedOf } from "../json/Members.ts"
import { innerObjects, nestedMembers } from "./Members.ts"
import { decodeMessages } from "./MessageDecode.ts"
import { decodeToolChoice, decodeTools } from "./Tools.ts"

/** Members with a canonical form. All others become `extras`. */
const known = new Set([
  "model",
  "messages",
  "system",
  "stream",
  "tools",
  "tool_choice",
  "max_tokens",
  "temperature",
  "top_p",
  "top_k",
  "stop_sequences",
  "thinking",
  "output_config",
  "output_format",
  "metadata"
])

const decodeSampling = (body: JsonObject, read: FieldReader): Sampling => {
  const stops = (read.array(body, "stop_sequences") ?? []).flatMap((item) => stringOr(item) ?? [])
  return {
    ...optional("temperature", read.number(body, "temperature")),
    ...optional("topP", read.number(body, "top_p")),
    ...optional("topK", read.positive(body, "top_k")),
    ...(stops.length === 0 ? {} : { stop: stops })
  }
}

const decodeFormat = (body: JsonObject, read: FieldReader): OutputFormat | null => {
  const config = read.object(body, "output_config")
  const format =
    (config === undefined ? undefined : read.object(config, "format", "output_config")) ??
    read.object(body, "output_format")
  if (format === undefined) return null
  const schema = format["type"] === "json_schema" ? read.object(format, "schema", "output_config.format") : undefined
  if (schema !== undefined) return { type: "json_schema", schema }
  read.fail("output_config.format", "expected {type: 'json_schema', schema}")
  return null
}

const decodeReasoning = (body: JsonObject, read: FieldReader): ReasoningAsk | null => {
  const thinking = read.object(body, "thinking")
  const config = read.object(body, "output_config")
  const effort = optional("effort", config === undefined ? undefined : read.string(config, "effort", "output_config"))
  if (thinking === undefined) return effort.effort === undefined ? null : { mode: "effort", ...effort }
  const summary = optional("summary", read.string(thinking, "display", "thinking"))
  switch (thinking["type"]) {
    case "enabled": {
      const budgetTokens = read.positive(thinking, "budget_tokens", "thinking")
      if (budgetTokens === undefined) read.fail("thinking.budget_tokens", "a positive integer is required")
      return { mode: "budget", budgetTokens: budgetTokens ?? 0, ...effort, ...summary }
    }
    case "adaptive":
      return { mode: "adaptive", ...effort, ...summary }
    case "disabled":
      return { mode: "off", ...effort }
    default:
      read.fail("thinking.type", "expected 'enabled', 'adaptive' or 'disabled'")
      return null
  }
}

/** Members only this wire has; including all of `output_config` except format and effort. */
const decodeExtras = (body: JsonObject): Conversation["extras"] => {
  const extras = extrasOf(body, known) ?? {}
  const config = body["output_config"]
  const rest = isObject(config) ? extrasOf(config, new Set(["format", "effort"])) : undefined
  return rest === undefined ? extras : { ...extras, output_config: rest }
}

export const decodeRequest = (body: JsonObject): Either.Either<Conversation, InvalidRequest> => {
  const read = makeFieldReader()
  const model = read.string(body, "model")
  if (model === undefined || model === "") read.fail("model", "a model id is required")
  const maxOutputTokens = read.positive(body, "max_tokens")
  if (maxOutputTokens === undefined) read.fail("max_tokens", "a positive integer is required")
  const metadata = read.object(body, "metadata")
  const conversation: Conversation = {
    wire: "messages",
    model: model ?? "",
    stream: read.boolean(body, "stream") ?? false,
    wantsUsage: true,
    messages: decodeMessages(body, read),
    tools: decodeTools(body, read),
    ...decodeToolChoice(body, read),
    maxOutputTokens: maxOutputTokens ?? null,
    candidates: 1,
    sampling: decodeSampling(body, read),
    outputFormat: decodeFormat(body, read),
    reasoning: decodeReasoning(body, read),
    user: metadata === undefined ? null : (read.string(metadata, "user_id", "metadata") ?? null),
    metadata: (metadata === undefined ? undefined : extrasOf(metadata, new Set(["user_id"]))) ?? null,
    extras: decodeExtras(body),
    ...nestedOf(nestedMembers, body),
    ...innerOf(innerObjects, body)
  }
  return read.result(conversation)
}
