/**
 * The settings shared by `/api/chat` and `/api/generate`, both ways: the model, `options`, `format`, `think`.
 *
 * https://docs.ollama.com/api/generate
 */
import type { Conversation, OutputFormat, ReasoningAsk, Sampling } from "../canonical/Conversation.ts"
import type { DropLog } from "../canonical/DropLog.ts"
import { effortOfBudget } from "../canonical/ReasoningBudget.ts"
import { type FieldReader, mismatch } from "../json/FieldReader.ts"
import {
  extrasOf,
  extrasWith,
  isArray,
  isObject,
  isPositiveInteger,
  type Json,
  type JsonObject,
  optional
} from "../json/Json.ts"
import type { EncodeOptions } from "../WireCodec.ts"

/** Members with a canonical form, of either endpoint. */
export const sharedMembers = ["model", "stream", "options", "format", "think", "logprobs", "top_logprobs"] as const

const optionMembers = new Set([
  "num_predict",
  "temperature",
  "top_p",
  "top_k",
  "seed",
  "presence_penalty",
  "frequency_penalty",
  "stop"
])

/** Prefix of extras from inside `options`. */
const optionPrefix = "options."

export const isStream = (body: JsonObject): boolean => body["stream"] !== false

const decodeStop = (options: JsonObject, read: FieldReader): ReadonlyArray<string> | undefined => {
  const stop = options["stop"]
  if (stop === undefined || stop === null || stop === "") return undefined
  if (typeof stop === "string") return [stop]
  if (isArray(stop)) {
    const strings = stop.filter((item) => typeof item === "string")
    if (strings.length === stop.length) return strings.length === 0 ? undefined : strings
  }
  read.fail("options.stop", mismatch(stop, "a string or an array of strings"))
  return undefined
}

const decodeSampling = (body: JsonObject, options: JsonObject, read: FieldReader): Sampling => {
  // 0 turns it off, like leaving it out on other wires.
  const topK = read.number(options, "top_k", "options")
  return {
    ...optional("temperature", read.number(options, "temperature", "options")),
    ...optional("topP", read.number(options, "top_p", "options")),
    ...(topK !== undefined && topK > 0 ? { topK } : {}),
    ...optional("seed", read.number(options, "seed", "options")),
    ...optional("presencePenalty", read.number(options, "presence_penalty", "options")),
    ...optional("frequencyPenalty", read.number(options, "frequency_penalty", "options")),
    ...optional("stop", decodeStop(options, read)),
    ...optional("logprobs", read.boolean(body, "logprobs")),
    ...optional("topLogprobs", read.number(body, "top_logprobs"))
  }
}

const decodeFormat = (body: JsonObject, read: FieldReader): OutputFormat | null => {
  const { format } = body
  if (format === undefined || format === null || format === "") return null
  if (format === "json") return { type: "json" }
  if (isObject(format)) return { type: "json_schema", schema: format }
  read.fail("format", "expected 'json' or a JSON schema")
  return null
}

/** `true` is reasoning at the model's default, which other wires call medium. */
const plainEffort = "medium"

const decodeReasoning = (body: JsonObject, read: FieldReader): ReasoningAsk | null => {
  const { think } = body
  if (think === undefined || think === null || think === "") return null
  if (think === false) return { mode: "off" }
  if (think === true) return { mode: "effort", effort: plainEffort }
  if (typeof think === "string") return { mode: "effort", effort: think }
  read.fail("think", mismatch(think, "a boolean, 'low', 'medium' or 'high'"))
  return null
}

/** Members of `options` without a canonical form; including the special limits -1 (no limit) and -2 (fill the window). */
const decodeOptionExtras = (options: JsonObject): Readonly<Record<string, Json | undefined>> => {
  const extras = Object.entries(extrasOf(options, optionMembers) ?? {})
  const limit = options["num_predict"] ?? null
  if (limit !== null && !isPositiveInteger(limit)) extras.push(["num_predict", limit])
  return Object.fromEntries(extras.map(([key, value]) => [optionPrefix + key, value]))
}

type Settings = Omit<Conversation, "messages" | "tools">

/** `known`: members of the endpoint that are not extras. */
export const decodeSettings = (body: JsonObject, known: ReadonlySet<string>, read: FieldReader): Settings => {
  const model = read.string(body, "model")
  if (model === undefined || model === "") read.fail("model", "a model id is required")
  const options = read.object(body, "options") ?? {}
  const limit = read.number(options, "num_predict", "options")
  read.boolean(body, "stream")
  return {
    wire: "ollama",
    model: model ?? "",
    stream: isStream(body),
    wantsUsage: true,
    toolChoice: null,
    parallelToolCalls: null,
    maxOutputTokens: isPositiveInteger(limit) ? limit : null,
    candidates: 1,
    sampling: decodeSampling(body, options, read),
    outputFormat: decodeFormat(body, read),
    reasoning: decodeReasoning(body, read),
    user: null,
    metadata: null,
    extras: extrasWith(body, known, decodeOptionExtras(options))
  }
}

/** The only models that accept a level; all others accept true or false (https://docs.ollama.com/capabilities/thinking). */
const leveledFamily = /gpt-oss/i
const levels = new Set(["low", "medium", "high"])

const levelOf = (ask: ReasoningAsk): string => {
  if (ask.effort === undefined) return ask.budgetTokens === undefined ? plainEffort : effortOfBudget(ask.budgetTokens)
  if (ask.effort === "minimal") return "low"
  return levels.has(ask.effort) ? ask.effort : "high"
}

const encodeReasoning = (ask: ReasoningAsk | null, own: boolean, options: EncodeOptions, log: DropLog): JsonObject => {
  if (ask === null) return {}
  // Thinking is on by default for models that have it, and every model accepts `false`.
  if (ask.mode === "off") return { think: false }
  if (own) return { think: ask.effort === plainEffort ? true : (ask.effort ?? true) }
  if (options.reasoning === false || (ask.mode === "adaptive" && options.reasoning !== true)) {
    log.drop("reasoning")
    return {}
  }
  const level = levelOf(ask)
  const leveled = leveledFamily.test(options.model)
  if (level !== ask.effort || !(leveled || level === plainEffort)) log.map("reasoning")
  return { think: leveled ? level : true }
}

const encodeFormat = (format: OutputFormat | null, log: DropLog): JsonObject => {
  if (format === null) return {}
  if (format.type === "json") return { format: "json" }
  // Only the schema can be sent.
  if (format.description !== undefined) log.map("outputFormat")
  return { format: format.schema }
}

const encodeOptions = (conversation: Conversation, extras: JsonObject, log: DropLog): JsonObject => {
  const { sampling } = conversation
  if (sampling.logitBias !== undefined) log.dropField("logit_bias")
  const options = {
    ...optional("num_predict", conversation.maxOutputTokens),
    ...optional("temperature", sampling.temperature),
    ...optional("top_p", sampling.topP),
    ...optional("top_k", sampling.topK),
    ...optional("seed", sampling.seed),
    ...optional("presence_penalty", sampling.presencePenalty),
    ...optional("frequency_penalty", sampling.frequencyPenalty),
    ...optional("stop", sampling.stop),
    ...extras
  }
  return Object.keys(options).length === 0 ? {} : { options }
}

interface Extras {
  readonly body: JsonObject
  readonly options: JsonObject
}

/** Members only the client's own wire has, split into those of the body and those of `options`. */
const partExtras = (conversation: Conversation, elsewhere: ReadonlySet<string>, log: DropLog): Extras => {
  if (conversation.wire !== "ollama") {
    for (const key of Object.keys(conversation.extras)) log.dropField(key)
    if (conversation.metadata !== null) log.dropField("metadata")
    if (conversation.user !== null) log.drop("user")
    return { body: {}, options: {} }
  }
  const body: Record<string, Json | undefined> = {}
  const options: Record<string, Json | undefined> = {}
  for (const [key, value] of Object.entries(conversation.extras)) {
    if (elsewhere.has(key)) log.dropField(key)
    else if (key.startsWith(optionPrefix)) options[key.slice(optionPrefix.length)] = value
    else body[key] = value
  }
  return { body, options }
}

/**
 * Everything but messages and tools. `stream` is always written, because its default is true. `elsewhere` names members that only the
 * wire's other endpoint has.
 */
export const encodeSettings = (
  conversation: Conversation,
  options: EncodeOptions,
  elsewhere: ReadonlySet<string>,
  log: DropLog
): JsonObject => {
  const extras = partExtras(conversation, elsewhere, log)
  return {
    model: options.model,
    stream: options.stream,
    ...encodeFormat(conversation.outputFormat, log),
    ...encodeReasoning(conversation.reasoning, conversation.wire === "ollama", options, log),
    ...optional("logprobs", conversation.sampling.logprobs),
    ...optional("top_logprobs", conversation.sampling.topLogprobs),
    ...encodeOptions(conversation, extras.options, log),
    ...extras.body
  }
}
