/**
 * Chat completions request → canonical conversation.
 *
 * https://developers.openai.com/api/reference/resources/chat/subresources/completions/methods/create
 */
import type * as Either from "effect/Either"
import type { InvalidRequest } from "../../contract/domain/Errors.ts"
import type { Conversation, OutputFormat, ReasoningAsk, Sampling } from "../canonical/Conversation.ts"
import { type FieldReader, makeFieldReader, mismatch } from "../json/FieldReader.ts"
import { extrasOf, isArray, isObject, type JsonObject, objectOr, optional, stringOr } from "../json/Json.ts"
import { innerOf } from "../json/Inner.ts"
import { nestedOf } from "../json/Members.ts"
import { hasReasoningWords, reasoningAsk } from "./ClientReasoning.ts"
import { asksForFunctions, asTools } from "./LegacyFunctions.ts"
import { innerObjects, nestedMembers } from "./Members.ts"
import { decodeMessages } from "./MessageDecode.ts"
import { decodeToolChoice, decodeTools } from "./Tools.ts"

/** Members with a canonical form. All others become `extras`. */
const known = new Set([
  "model",
  "messages",
  "stream",
  "tools",
  "tool_choice",
  "parallel_tool_calls",
  "max_tokens",
  "max_completion_tokens",
  "n",
  "temperature",
  "top_p",
  "top_k",
  "seed",
  "presence_penalty",
  "frequency_penalty",
  "stop",
  "logprobs",
  "top_logprobs",
  "logit_bias",
  "response_format",
  "reasoning_effort",
  "user",
  "metadata",
  "stream_options"
])

const decodeStop = (body: JsonObject, read: FieldReader): ReadonlyArray<string> | undefined => {
  const stop = body["stop"]
  if (stop === undefined || stop === null) return undefined
  if (typeof stop === "string") return [stop]
  if (!isArray(stop) || stop.some((item) => typeof item !== "string")) {
    read.fail("stop", mismatch(stop, "a string or an array of strings"))
    return undefined
  }
  return stop.length === 0 ? undefined : stop.flatMap((item) => stringOr(item) ?? [])
}

const decodeSampling = (body: JsonObject, read: FieldReader): Sampling => ({
  ...optional("temperature", read.number(body, "temperature")),
  ...optional("topP", read.number(body, "top_p")),
  ...optional("topK", read.positive(body, "top_k")),
  ...optional("seed", read.number(body, "seed")),
  ...optional("presencePenalty", read.number(body, "presence_penalty")),
  ...optional("frequencyPenalty", read.number(body, "frequency_penalty")),
  ...optional("stop", decodeStop(body, read)),
  ...optional("logprobs", read.boolean(body, "logprobs")),
  ...optional("topLogprobs", read.number(body, "top_logprobs")),
  ...optional("logitBias", read.object(body, "logit_bias"))
})

const decodeFormat = (body: JsonObject, read: FieldReader): OutputFormat | null => {
  const format = read.object(body, "response_format")
  if (format === undefined || format["type"] === "text") return null
  if (format["type"] === "json_object") return { type: "json" }
  if (format["type"] !== "json_schema") {
    read.fail("response_format.type", "expected 'text', 'json_object' or 'json_schema'")
    return null
  }
  const path = "response_format.json_schema"
  const spec = read.object(format, "json_schema", "response_format")
  const schema = spec === undefined ? undefined : read.object(spec, "schema", path)
  if (spec === undefined || schema === undefined) {
    read.fail(`${path}.schema`, "a JSON schema is required")
    return null
  }
  return {
    type: "json_schema",
    schema,
    ...optional("name", read.string(spec, "name", path)),
    ...optional("description", read.string(spec, "description", path)),
    ...optional("strict", read.boolean(spec, "strict", path))
  }
}

const decodeReasoning = (body: JsonObject, read: FieldReader): ReasoningAsk | null => {
  const effort = read.string(body, "reasoning_effort")
  if (hasReasoningWords(body)) {
    const ask = reasoningAsk(body)
    if (ask !== null) return ask
  }
  if (effort === undefined) return null
  return effort === "none" ? { mode: "off" } : { mode: "effort", effort }
}

/** Members only this wire has; including all of `stream_options` except `include_usage`. */
const decodeExtras = (body: JsonObject): Conversation["extras"] => {
  const others = extrasOf(body, known) ?? {}
  const extras = hasReasoningWords(body)
    ? { ...others, ...optional("reasoning_effort", body["reasoning_effort"]) }
    : others
  const options = body["stream_options"]
  const rest = isObject(options) ? extrasOf(options, new Set(["include_usage"])) : undefined
  return rest === undefined ? extras : { ...extras, stream_options: rest }
}

/** Reports what is wrong in the members for functions by their own names. */
const areFunctions = (body: JsonObject, read: FieldReader): boolean => {
  let isFine = true
  const fail = (field: string, message: string): void => {
    isFine = false
    read.fail(field, message)
  }
  for (const [index, spec] of (read.array(body, "functions") ?? []).entries()) {
    if (!isObject(spec)) fail(`functions[${index}]`, mismatch(spec, "an object"))
    else if ((stringOr(spec["name"]) ?? "") === "") fail(`functions[${index}].name`, "a function needs a name")
  }
  const { function_call: choice } = body
  const isKnown = choice === undefined || choice === null || choice === "auto" || choice === "none"
  if (!isKnown && stringOr(objectOr(choice)["name"]) === null)
    fail("function_call", "expected 'auto', 'none', or an object that names a function")
  return isFine
}

export const decodeRequest = (given: JsonObject): Either.Either<Conversation, InvalidRequest> => {
  const read = makeFieldReader()
  const body = !asksForFunctions(given) || areFunctions(given, read) ? asTools(given) : given
  const model = read.string(body, "model")
  if (model === undefined || model === "") read.fail("model", "a model id is required")
  const options = read.object(body, "stream_options")
  const conversation: Conversation = {
    wire: "chat",
    model: model ?? "",
    stream: read.boolean(body, "stream") ?? false,
    wantsUsage: options?.["include_usage"] === true,
    messages: decodeMessages(body, read),
    tools: decodeTools(body, read),
    toolChoice: decodeToolChoice(body, read),
    parallelToolCalls: read.boolean(body, "parallel_tool_calls") ?? null,
    maxOutputTokens: read.limit(body, "max_completion_tokens") ?? read.limit(body, "max_tokens") ?? null,
    candidates: read.positive(body, "n") ?? 1,
    sampling: decodeSampling(body, read),
    outputFormat: decodeFormat(body, read),
    reasoning: decodeReasoning(body, read),
    user: read.string(body, "user") ?? null,
    metadata: read.object(body, "metadata") ?? null,
    extras: decodeExtras(body),
    ...nestedOf(nestedMembers, body),
    ...innerOf(innerObjects, body)
  }
  return read.result(conversation)
}
