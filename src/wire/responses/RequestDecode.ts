/**
 * Responses request → canonical conversation.
 *
 * https://developers.openai.com/api/reference/resources/responses/methods/create
 */
import type * as Either from "effect/Either"
import type { InvalidRequest } from "../../contract/domain/Errors.ts"
import type { Conversation, OutputFormat, ReasoningAsk, Sampling } from "../canonical/Conversation.ts"
import { type FieldReader, makeFieldReader } from "../json/FieldReader.ts"
import { extrasOf, extrasWith, isArray, isObject, type Json, type JsonObject, optional } from "../json/Json.ts"
import { innerOf } from "../json/Inner.ts"
import { nestedOf } from "../json/Members.ts"
import { innerObjects, nestedMembers } from "./Members.ts"
import { decodeInputMessages } from "./ItemDecode.ts"
import { decodeToolChoice, decodeTools } from "./Tools.ts"

/** Members with a canonical form. All others become `extras`. */
const known = new Set([
  "model",
  "instructions",
  "input",
  "stream",
  "tools",
  "tool_choice",
  "parallel_tool_calls",
  "max_output_tokens",
  "temperature",
  "top_p",
  "top_logprobs",
  "text",
  "reasoning",
  "include",
  "user",
  "metadata"
])

/** The entry of `include` for log probabilities. */
export const logprobsInclude = "message.output_text.logprobs"

const includesOf = (body: JsonObject): ReadonlyArray<Json> => (isArray(body["include"]) ? body["include"] : [])

const decodeSampling = (body: JsonObject, read: FieldReader): Sampling => ({
  ...optional("temperature", read.number(body, "temperature")),
  ...optional("topP", read.number(body, "top_p")),
  ...(includesOf(body).includes(logprobsInclude) ? { logprobs: true } : {}),
  ...optional("topLogprobs", read.number(body, "top_logprobs"))
})

const decodeFormat = (body: JsonObject, read: FieldReader): OutputFormat | null => {
  const text = read.object(body, "text")
  const format = text === undefined ? undefined : read.object(text, "format", "text")
  if (format === undefined || format["type"] === "text") return null
  if (format["type"] === "json_object") return { type: "json" }
  const path = "text.format"
  if (format["type"] !== "json_schema") {
    read.fail(`${path}.type`, "expected 'text', 'json_object' or 'json_schema'")
    return null
  }
  const schema = read.object(format, "schema", path)
  if (schema === undefined) {
    read.fail(`${path}.schema`, "a JSON schema is required")
    return null
  }
  return {
    type: "json_schema",
    schema,
    ...optional("name", read.string(format, "name", path)),
    ...optional("description", read.string(format, "description", path)),
    ...optional("strict", read.boolean(format, "strict", path))
  }
}

const decodeReasoning = (body: JsonObject, read: FieldReader): ReasoningAsk | null => {
  const reasoning = read.object(body, "reasoning")
  if (reasoning === undefined) return null
  const effort = read.string(reasoning, "effort", "reasoning")
  const summary = optional("summary", read.string(reasoning, "summary", "reasoning"))
  if (effort === "none") return { mode: "off", ...summary }
  if (effort === undefined && summary.summary === undefined) return null
  return { mode: "effort", ...optional("effort", effort), ...summary }
}

/** The unknown members of an object member, under names like `text.verbosity`. */
const restOf = (body: JsonObject, member: string, names: ReadonlyArray<string>): JsonObject => {
  const value = body[member]
  const rest = isObject(value) ? (extrasOf(value, new Set(names)) ?? {}) : {}
  return Object.fromEntries(Object.entries(rest).map(([key, value]) => [`${member}.${key}`, value]))
}

/** Members only this wire has. */
const decodeExtras = (body: JsonObject, foreignChoice: JsonObject | null): Conversation["extras"] => {
  const includes = includesOf(body).filter((entry) => entry !== logprobsInclude)
  return extrasWith(
    body,
    known,
    includes.length === 0 ? {} : { include: includes },
    optional("tool_choice", foreignChoice),
    restOf(body, "text", ["format"]),
    restOf(body, "reasoning", ["effort", "summary"])
  )
}

export const decodeRequest = (body: JsonObject): Either.Either<Conversation, InvalidRequest> => {
  const read = makeFieldReader()
  const model = read.string(body, "model")
  if (model === undefined || model === "") read.fail("model", "a model id is required")
  read.array(body, "include")
  const { choice, foreign } = decodeToolChoice(body, read)
  const conversation: Conversation = {
    wire: "responses",
    model: model ?? "",
    stream: read.boolean(body, "stream") ?? false,
    wantsUsage: true,
    messages: decodeInputMessages(body, read),
    tools: decodeTools(body, read),
    toolChoice: choice,
    parallelToolCalls: read.boolean(body, "parallel_tool_calls") ?? null,
    maxOutputTokens: read.limit(body, "max_output_tokens") ?? null,
    candidates: 1,
    sampling: decodeSampling(body, read),
    outputFormat: decodeFormat(body, read),
    reasoning: decodeReasoning(body, read),
    user: read.string(body, "user") ?? null,
    metadata: read.object(body, "metadata") ?? null,
    extras: decodeExtras(body, foreign),
    ...nestedOf(nestedMembers, body),
    ...innerOf(innerObjects, body)
  }
  return read.result(conversation)
}
