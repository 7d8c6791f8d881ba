/**
 * `generationConfig`, both ways: sampling, limits and the form of the answer.
 *
 * https://ai.google.dev/api/generate-content
 */
import type { Conversation, OutputFormat, Sampling } from "../canonical/Conversation.ts"
import type { DropLog } from "../canonical/DropLog.ts"
import type { FieldReader } from "../json/FieldReader.ts"
import { extrasOf, type Json, type JsonObject, optional, stringOr } from "../json/Json.ts"
import type { EncodeOptions } from "../WireCodec.ts"
import { camel } from "./Casing.ts"
import { fromOpenApi, toOpenApi } from "./SchemaCleaning.ts"
import { decodeThinking, encodeThinking } from "./Thinking.ts"

/** The wire's own limit on stop strings. */
const maxStops = 5
/** Most alternatives to a token that are shown. */
const maxTopLogprobs = 20

const members = new Set([
  "temperature",
  "topP",
  "topK",
  "seed",
  "presencePenalty",
  "frequencyPenalty",
  "stopSequences",
  "maxOutputTokens",
  "candidateCount",
  "responseLogprobs",
  "logprobs",
  "thinkingConfig"
])

const formatMembers = ["responseMimeType", "responseSchema", "responseJsonSchema", "_responseJsonSchema"] as const

/** Prefix of extras from inside `generationConfig`. */
const extraPrefix = "generationConfig."

const json = "application/json"

const decodeSampling = (config: JsonObject, read: FieldReader): Sampling => {
  const path = "generationConfig"
  const stops = (read.array(config, "stopSequences", path) ?? []).flatMap((item) => stringOr(item) ?? [])
  return {
    ...optional("temperature", read.number(config, "temperature", path)),
    ...optional("topP", read.number(config, "topP", path)),
    ...optional("topK", read.number(config, "topK", path)),
    ...optional("seed", read.number(config, "seed", path)),
    ...optional("presencePenalty", read.number(config, "presencePenalty", path)),
    ...optional("frequencyPenalty", read.number(config, "frequencyPenalty", path)),
    ...(stops.length === 0 ? {} : { stop: stops }),
    ...optional("logprobs", read.boolean(config, "responseLogprobs", path)),
    ...optional("topLogprobs", read.number(config, "logprobs", path))
  }
}

/** Other wires have only JSON as a format; other types (`text/x.enum`) are kept as extras. */
const isFormat = (config: JsonObject): boolean => {
  const type = config["responseMimeType"]
  return type === undefined || type === null || type === "" || type === json || type === "text/plain"
}

const decodeFormat = (config: JsonObject, read: FieldReader): OutputFormat | null => {
  const path = "generationConfig"
  const subset = read.object(config, "responseSchema", path)
  const schema =
    read.object(config, "responseJsonSchema", path) ??
    read.object(config, "_responseJsonSchema", path) ??
    (subset && fromOpenApi(subset))
  if (schema !== undefined) return { type: "json_schema", schema }
  return config["responseMimeType"] === json ? { type: "json" } : null
}

type Settings = Pick<Conversation, "maxOutputTokens" | "candidates" | "sampling" | "outputFormat" | "reasoning"> & {
  readonly extras: Readonly<Record<string, Json | undefined>>
}

/** `body` has its members in camelCase. */
export const decodeGeneration = (body: JsonObject, read: FieldReader): Settings => {
  const config = camel(read.object(body, "generationConfig") ?? {})
  const hasFormat = isFormat(config)
  const known = hasFormat ? new Set([...members, ...formatMembers]) : members
  const extras = Object.entries(extrasOf(config, known) ?? {}).map(([key, value]) => [extraPrefix + key, value])
  return {
    maxOutputTokens: read.limit(config, "maxOutputTokens", "generationConfig") ?? null,
    candidates: read.positive(config, "candidateCount", "generationConfig") ?? 1,
    sampling: decodeSampling(config, read),
    outputFormat: hasFormat ? decodeFormat(config, read) : null,
    reasoning: decodeThinking(config, read),
    extras: Object.fromEntries(extras)
  }
}

const encodeSampling = (sampling: Sampling, own: boolean, log: DropLog): JsonObject => {
  const stops = own ? sampling.stop : sampling.stop?.filter((stop) => stop !== "").slice(0, maxStops)
  if (stops?.length !== sampling.stop?.length) log.drop("stop")
  if (sampling.logitBias !== undefined) log.dropField("logit_bias")
  const top = sampling.topLogprobs
  if (!own && top !== undefined && top > maxTopLogprobs) log.mapField("top_logprobs")
  return {
    ...optional("temperature", sampling.temperature),
    ...optional("topP", sampling.topP),
    ...optional("topK", sampling.topK),
    ...optional("seed", sampling.seed),
    ...optional("presencePenalty", sampling.presencePenalty),
    ...optional("frequencyPenalty", sampling.frequencyPenalty),
    ...(stops === undefined || stops.length === 0 ? {} : { stopSequences: stops }),
    ...optional("responseLogprobs", sampling.logprobs),
    ...optional("logprobs", own || top === undefined ? top : Math.min(top, maxTopLogprobs))
  }
}

/** The older `responseSchema` where it can express the schema, as for tools. */
const encodeFormat = (format: OutputFormat | null, own: boolean): JsonObject => {
  if (format === null) return {}
  if (format.type === "json") return { responseMimeType: json }
  const subset = own ? null : toOpenApi(format.schema)
  return {
    responseMimeType: json,
    ...(subset === null ? { responseJsonSchema: format.schema } : { responseSchema: subset })
  }
}

/** Members only the client's own wire has, split into those of the body and those of `generationConfig`. */
const partExtras = (
  conversation: Conversation,
  log: DropLog
): { readonly body: JsonObject; readonly config: JsonObject } => {
  const body: Record<string, Json | undefined> = {}
  const config: Record<string, Json | undefined> = {}
  for (const [key, value] of Object.entries(conversation.extras)) {
    if (conversation.wire !== "gemini") log.dropField(key)
    else if (key.startsWith(extraPrefix)) config[key.slice(extraPrefix.length)] = value
    else body[key] = value
  }
  return { body, config }
}

/** `generationConfig`, and the members of the body that are extras. */
export const encodeGeneration = (conversation: Conversation, options: EncodeOptions, log: DropLog): JsonObject => {
  const own = conversation.wire === "gemini"
  const extras = partExtras(conversation, log)
  const config = {
    ...encodeSampling(conversation.sampling, own, log),
    ...optional("maxOutputTokens", conversation.maxOutputTokens),
    ...(conversation.candidates > 1 ? { candidateCount: conversation.candidates } : {}),
    ...encodeFormat(conversation.outputFormat, own),
    ...encodeThinking(conversation, options, log),
    ...extras.config
  }
  return { ...(Object.keys(config).length === 0 ? {} : { generationConfig: config }), ...extras.body }
}
