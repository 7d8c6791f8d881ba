/**
 * Canonical conversation → responses request.
 *
 * https://developers.openai.com/api/reference/resources/responses/methods/create
 */
import type { Conversation, OutputFormat, Sampling } from "../canonical/Conversation.ts"
import { type DropLog, makeDropLog } from "../canonical/DropLog.ts"
import { withPlainContent } from "../canonical/ForeignContent.ts"
import { isOpenAiReasoning } from "../canonical/ModelFamily.ts"
import { effortOfBudget } from "../canonical/ReasoningBudget.ts"
import { isArray, type Json, type JsonObject, optional } from "../json/Json.ts"
import type { EncodedRequest, EncodeOptions } from "../WireCodec.ts"
import { encodeInputMessages } from "./ItemEncode.ts"
import { itemTexts } from "./ItemTexts.ts"
import { logprobsInclude } from "./RequestDecode.ts"
import { isMadeUpPart } from "./Searches.ts"
import { encodeTools } from "./Tools.ts"

/** The wire's own minimum of the output limit. */
const minOutputTokens = 16
/** Providers refuse longer end-user ids. */
const maxUserChars = 64

const foreignSampling = {
  topK: "top_k",
  seed: "seed",
  presencePenalty: "presence_penalty",
  frequencyPenalty: "frequency_penalty",
  logitBias: "logit_bias"
} as const satisfies Partial<Record<keyof Sampling, string>>

/** Members with the same name and meaning on the chat wire. */
const sharedWithChat = [
  "store",
  "service_tier",
  "prompt_cache_key",
  "prompt_cache_retention",
  "safety_identifier"
] as const

const encodeSampling = (sampling: Sampling, drops: boolean, log: DropLog): JsonObject => {
  if (sampling.stop !== undefined) log.drop("stop")
  for (const [word, field] of Object.entries(foreignSampling)) {
    if (Object.hasOwn(sampling, word)) log.dropField(field)
  }
  if (drops && sampling.temperature !== undefined) log.dropField("temperature")
  if (drops && sampling.topP !== undefined) log.dropField("top_p")
  return drops ? {} : { ...optional("temperature", sampling.temperature), ...optional("top_p", sampling.topP) }
}

/** Reasoning models refuse them. */
const encodeLogprobs = (
  { logprobs, topLogprobs }: Sampling,
  drops: boolean,
  log: DropLog
): { readonly field: JsonObject; readonly include: ReadonlyArray<Json> } => {
  if (!drops) {
    return { field: optional("top_logprobs", topLogprobs), include: logprobs === true ? [logprobsInclude] : [] }
  }
  if (logprobs === true) log.dropField("logprobs")
  if (topLogprobs !== undefined) log.dropField("top_logprobs")
  return { field: {}, include: [] }
}

const encodeLimit = ({ maxOutputTokens }: Conversation, own: boolean, log: DropLog): JsonObject => {
  if (maxOutputTokens === null) return {}
  if (own || maxOutputTokens >= minOutputTokens) return { max_output_tokens: maxOutputTokens }
  log.map("maxOutputTokens")
  return { max_output_tokens: minOutputTokens }
}

const encodeFormat = (format: OutputFormat | null): JsonObject => {
  if (format === null) return {}
  if (format.type === "json") return { format: { type: "json_object" } }
  return {
    format: {
      type: "json_schema",
      // The wire requires a name; it has no effect.
      name: format.name ?? "answer",
      schema: format.schema,
      ...optional("description", format.description),
      ...optional("strict", format.strict)
    }
  }
}

const efforts = new Set(["minimal", "low", "medium", "high", "xhigh"])
const summaries = new Set(["auto", "concise", "detailed"])

/** The reasoning settings of a client of another wire, as `effort` and `summary`. Empty when the model cannot reason. */
const encodeForeignReasoning = (conversation: Conversation, options: EncodeOptions, log: DropLog): JsonObject => {
  const ask = conversation.reasoning
  if (ask === null || ask.mode === "off") return {}
  if (options.reasoning === false || (ask.mode === "adaptive" && options.reasoning !== true)) {
    log.drop("reasoning")
    return {}
  }
  // Wires with budgets show the reasoning by default; on this wire it must be requested.
  const shown = ask.mode === "effort" ? ask.summary !== undefined : true
  const wanted = ask.summary !== undefined && summaries.has(ask.summary) ? ask.summary : "auto"
  const summary = shown && ask.summary !== "omitted" ? { summary: wanted } : {}
  if (ask.effort !== undefined && efforts.has(ask.effort)) return { effort: ask.effort, ...summary }
  if (ask.effort === undefined && ask.budgetTokens === undefined) return summary
  log.map("reasoning")
  return { effort: ask.budgetTokens === undefined ? "high" : effortOfBudget(ask.budgetTokens), ...summary }
}

const encodeReasoning = (conversation: Conversation, options: EncodeOptions, log: DropLog): JsonObject => {
  const ask = conversation.reasoning
  if (conversation.wire !== "responses") return encodeForeignReasoning(conversation, options, log)
  if (ask === null) return {}
  return {
    ...optional("effort", ask.mode === "off" ? "none" : ask.effort),
    ...optional("summary", ask.summary)
  }
}

const encodeUser = (user: string | null, own: boolean, log: DropLog): JsonObject => {
  if (user === null || own || user.length <= maxUserChars) return optional("user", user)
  log.drop("user")
  return {}
}

/** Members of a client of another wire: those shared with chat are sent, the others are named as dropped. */
const encodeForeignExtras = (conversation: Conversation, log: DropLog): JsonObject => {
  const chat = conversation.wire === "chat"
  const shared: ReadonlyArray<string> = chat ? sharedWithChat : []
  for (const key of Object.keys(conversation.extras)) {
    if (!shared.includes(key) && !(chat && key === "verbosity")) log.dropField(key)
  }
  if (!chat && conversation.metadata !== null) log.dropField("metadata")
  return {
    // Providers of this wire store answers by default; those of other wires do not.
    store: false,
    ...(chat ? optional("metadata", conversation.metadata) : {}),
    ...Object.fromEntries(
      shared.flatMap((key) => (Object.hasOwn(conversation.extras, key) ? [[key, conversation.extras[key]]] : []))
    )
  }
}

/** The client's own members; those named `text.…` and `reasoning.…` are put back into their objects. */
const encodeOwnExtras = (conversation: Conversation): JsonObject => {
  const { include: _include, ...extras } = conversation.extras
  const flat = Object.entries(extras).filter(([key]) => !key.startsWith("text.") && !key.startsWith("reasoning."))
  return { ...Object.fromEntries(flat), ...optional("metadata", conversation.metadata) }
}

const nested = ({ extras, wire }: Conversation, member: "text" | "reasoning"): JsonObject => {
  if (wire === "chat" && member === "text") return optional("verbosity", extras["verbosity"])
  if (wire !== "responses") return {}
  const prefix = `${member}.`
  return Object.fromEntries(
    Object.entries(extras).flatMap(([key, value]) =>
      key.startsWith(prefix) ? [[key.slice(prefix.length), value]] : []
    )
  )
}

const member = (name: string, value: JsonObject): JsonObject =>
  Object.keys(value).length === 0 ? {} : { [name]: value }

const encodeInclude = (conversation: Conversation, reasons: boolean, more: ReadonlyArray<Json>): JsonObject => {
  const own = conversation.wire === "responses"
  const asked = own && isArray(conversation.extras["include"]) ? conversation.extras["include"] : []
  // Without it the reasoning could not be sent back later, because the provider does not store it.
  const include = [...asked, ...(reasons && !own ? ["reasoning.encrypted_content"] : []), ...more]
  return include.length === 0 ? {} : { include }
}

/** Searches that the gateway has made up items for go back in words: no upstream knows their ids. */
const withoutMadeUp = (given: Conversation, log: DropLog): Conversation => {
  const told = withPlainContent(given, (part) => (isMadeUpPart(part) ? itemTexts(part) : null))
  if (told !== given) for (const name of told.bent ?? []) log.mapField(name)
  return told
}

export const encodeRequest = (given: Conversation, options: EncodeOptions): EncodedRequest => {
  const log = makeDropLog(given.wire)
  const own = given.wire === "responses"
  const conversation = own ? withoutMadeUp(given, log) : given
  const reasoning = encodeReasoning(conversation, options, log)
  const reasons = Object.keys(reasoning).length > 0
  // Only for clients of other wires, which cannot know that the model refuses these.
  const drops = !own && isOpenAiReasoning(options.model)
  const logprobs = encodeLogprobs(conversation.sampling, drops, log)
  const body: JsonObject = {
    model: options.model,
    ...encodeInputMessages(conversation, log),
    ...encodeTools(conversation, log),
    ...encodeLimit(conversation, own, log),
    ...encodeSampling(conversation.sampling, drops, log),
    ...logprobs.field,
    ...member("text", { ...encodeFormat(conversation.outputFormat), ...nested(conversation, "text") }),
    ...member("reasoning", { ...reasoning, ...nested(conversation, "reasoning") }),
    ...encodeInclude(conversation, reasons, logprobs.include),
    ...encodeUser(conversation.user, own, log),
    ...(own ? encodeOwnExtras(conversation) : encodeForeignExtras(conversation, log)),
    ...(options.stream ? { stream: true } : {})
  }
  return { body, dropped: [...log.dropped], lost: [...log.lost], mapped: [...log.mapped] }
}
