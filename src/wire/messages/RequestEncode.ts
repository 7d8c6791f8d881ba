/**
 * Canonical conversation → messages request.
 *
 * https://platform.claude.com/docs/en/api/messages
 */
import type { Conversation, Sampling } from "../canonical/Conversation.ts"
import { type DropLog, makeDropLog } from "../canonical/DropLog.ts"
import { withPlainContent } from "../canonical/ForeignContent.ts"
import { withLinksInWords } from "../canonical/Links.ts"
import { claudeVersionOf } from "../canonical/ModelFamily.ts"
import { isArray, isObject, type JsonObject, objectOr, optional } from "../json/Json.ts"
import type { EncodedRequest, EncodeOptions } from "../WireCodec.ts"
import { fitAnswerSchema } from "./AnswerSchema.ts"
import { blockTexts } from "./BlockTexts.ts"
import { encodeMessages } from "./MessageEncode.ts"
import { isMadeUpPart, lacksProof } from "./Searches.ts"
import { encodeThinking, refusesSampling, type Thinking } from "./Thinking.ts"
import { encodeTools } from "./Tools.ts"

/** Smallest `top_p` that is accepted with thinking on. */
const minThinkingTopP = 0.95

const foreignSampling = {
  seed: "seed",
  presencePenalty: "presence_penalty",
  frequencyPenalty: "frequency_penalty",
  logprobs: "logprobs",
  topLogprobs: "top_logprobs",
  logitBias: "logit_bias"
} as const satisfies Partial<Record<keyof Sampling, string>>

const encodeStops = (stops: ReadonlyArray<string> | undefined, log: DropLog): JsonObject => {
  // A stop string of only white space is refused.
  const kept = stops?.filter((stop) => stop.trim() !== "")
  if (kept?.length !== stops?.length) log.drop("stop")
  return kept === undefined || kept.length === 0 ? {} : { stop_sequences: kept }
}

const samplingFields = { temperature: "temperature", topP: "top_p", topK: "top_k" } as const

/** Removes the sampling settings that the model refuses, for clients of other wires. */
const fitSampling = (sampling: Sampling, own: boolean, model: string, log: DropLog): Sampling => {
  const { temperature, topK, topP, ...rest } = sampling
  if (own) return sampling
  if (refusesSampling(model)) {
    for (const [word, field] of Object.entries(samplingFields)) if (Object.hasOwn(sampling, word)) log.dropField(field)
    return rest
  }
  // From 4.1 on only one of the two may be set.
  if ((claudeVersionOf(model) ?? 0) < 4.1 || temperature === undefined || topP === undefined) return sampling
  log.dropField("top_p")
  return { ...rest, temperature, ...optional("topK", topK) }
}

const encodeTemperature = (temperature: number | undefined, thinking: Thinking, log: DropLog): JsonObject => {
  if (temperature === undefined) return {}
  if (thinking.on) {
    if (temperature !== 1) log.dropField("temperature")
    return {}
  }
  const clamped = Math.min(Math.max(temperature, 0), 1)
  if (clamped !== temperature) log.mapField("temperature")
  return { temperature: clamped }
}

const encodeSampling = (sampling: Sampling, thinking: Thinking, log: DropLog): JsonObject => {
  const { topK, topP } = sampling
  const keepsTopP = topP === undefined || !thinking.on || topP >= minThinkingTopP
  if (!keepsTopP) log.dropField("top_p")
  if (thinking.on && topK !== undefined) log.dropField("top_k")
  for (const [word, field] of Object.entries(foreignSampling)) {
    if (Object.hasOwn(sampling, word)) log.dropField(field)
  }
  return {
    ...encodeTemperature(sampling.temperature, thinking, log),
    ...(keepsTopP ? optional("top_p", topP) : {}),
    ...(thinking.on ? {} : optional("top_k", topK)),
    ...encodeStops(sampling.stop, log)
  }
}

const answerSchema = (asked: JsonObject, log: DropLog): JsonObject => {
  const { changed, schema } = fitAnswerSchema(asked)
  for (const keyword of changed) log.dropIn("outputSchema", keyword)
  return schema
}

const encodeOutput = (conversation: Conversation, thinking: Thinking, log: DropLog): JsonObject => {
  const own = conversation.wire === "messages"
  const format = conversation.outputFormat
  // The wire supports a schema only, not just any JSON.
  if (format?.type === "json") log.drop("outputFormat")
  const config = {
    ...(own ? objectOr(conversation.extras["output_config"]) : {}),
    ...(format?.type === "json_schema"
      ? { format: { type: "json_schema", schema: own ? format.schema : answerSchema(format.schema, log) } }
      : {}),
    ...optional("effort", thinking.effort)
  }
  return Object.keys(config).length === 0 ? {} : { output_config: config }
}

const encodeMetadata = (conversation: Conversation, log: DropLog): JsonObject => {
  const own = conversation.wire === "messages"
  if (!own && conversation.metadata !== null) log.dropField("metadata")
  const metadata = { ...optional("user_id", conversation.user), ...(own ? conversation.metadata : {}) }
  return Object.keys(metadata).length === 0 ? {} : { metadata }
}

/** Members only the client's own wire has. */
const encodeExtras = (conversation: Conversation, log: DropLog): JsonObject => {
  if (conversation.wire === "messages") {
    const { output_config: _config, ...extras } = conversation.extras
    return extras
  }
  const { cache_control: mark, ...others } = conversation.extras
  for (const key of Object.keys(others)) log.dropField(key)
  if (isObject(mark)) return { cache_control: mark }
  if (mark !== undefined) log.dropField("cache_control")
  return {}
}

/** Turns the gateway's own blocks of an earlier answer into words: their provider has no proof of them. */
const withoutMadeUp = (given: Conversation, log: DropLog): Conversation => {
  const told = withPlainContent(given, (part) => (isMadeUpPart(part) ? blockTexts(part) : null))
  if (told !== given) for (const name of told.bent ?? []) log.mapField(name)
  return withLinksInWords(
    told,
    ({ value }) => !lacksProof(value),
    () => log.map("citations")
  )
}

export const encodeRequest = (given: Conversation, options: EncodeOptions): EncodedRequest => {
  const log = makeDropLog(given.wire)
  const own = given.wire === "messages"
  const conversation = own ? withoutMadeUp(given, log) : given
  const spoken = encodeMessages(conversation, options.systemBetween === true, log)
  const thinking = encodeThinking(conversation, isArray(spoken["messages"]) ? spoken["messages"] : [], options, log)
  const body: JsonObject = {
    model: options.model,
    max_tokens: thinking.maxTokens,
    ...spoken,
    ...encodeTools(conversation, log),
    ...thinking.field,
    ...encodeSampling(fitSampling(conversation.sampling, own, options.model, log), thinking, log),
    ...encodeOutput(conversation, thinking, log),
    ...encodeMetadata(conversation, log),
    ...encodeExtras(conversation, log),
    ...(options.stream ? { stream: true } : {})
  }
  return { body, dropped: [...log.dropped], lost: [...log.lost], mapped: [...log.mapped] }
}
