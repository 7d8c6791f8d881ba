/**
 * Canonical conversation → chat completions request.
 *
 * https://developers.openai.com/api/reference/resources/chat/subresources/completions/methods/create
 */
import type { Dialect } from "../../contract/domain/Dialect.ts"
import type { Conversation, OutputFormat, ReasoningAsk, Sampling } from "../canonical/Conversation.ts"
import { type DropLog, makeDropLog } from "../canonical/DropLog.ts"
import { isOpenAiReasoning } from "../canonical/ModelFamily.ts"
import { effortOfBudget } from "../canonical/ReasoningBudget.ts"
import { type JsonObject, objectOr, optional } from "../json/Json.ts"
import type { EncodedRequest, EncodeOptions } from "../WireCodec.ts"
import { hasReasoningWords, withoutReasoningWords } from "./ClientReasoning.ts"
import { asksForFunctions, messagesAsFunctions } from "./LegacyFunctions.ts"
import { encodeMessages } from "./MessageEncode.ts"
import { encodeTools } from "./Tools.ts"

/** The wire's own limit on stop strings. */
const maxStops = 4
/** Providers refuse longer end-user ids. */
const maxUserChars = 64

const refusedByReasoning = {
  temperature: "temperature",
  topP: "top_p",
  presencePenalty: "presence_penalty",
  frequencyPenalty: "frequency_penalty",
  logprobs: "logprobs",
  topLogprobs: "top_logprobs",
  logitBias: "logit_bias"
} as const satisfies Partial<Record<keyof Sampling, string>>

const encodeSampling = (sampling: Sampling, own: boolean, fixed: boolean, log: DropLog): JsonObject => {
  const stops = sampling.stop
  const topK = own ? optional("top_k", sampling.topK) : {}
  if (sampling.topK !== undefined && !own) log.dropField("top_k")
  // Only for clients of other wires, which cannot know that the model refuses these.
  if (fixed && !own) {
    if (stops !== undefined) log.drop("stop")
    for (const [word, field] of Object.entries(refusedByReasoning))
      if (Object.hasOwn(sampling, word)) log.dropField(field)
    return optional("seed", sampling.seed)
  }
  if (stops !== undefined && stops.length > maxStops && !own) log.drop("stop")
  const kept = own ? stops : stops?.slice(0, maxStops)
  return {
    ...optional("temperature", sampling.temperature),
    ...optional("top_p", sampling.topP),
    ...topK,
    ...optional("seed", sampling.seed),
    ...optional("presence_penalty", sampling.presencePenalty),
    ...optional("frequency_penalty", sampling.frequencyPenalty),
    ...optional("stop", kept),
    ...optional("logprobs", sampling.logprobs),
    ...optional("top_logprobs", sampling.topLogprobs),
    ...optional("logit_bias", sampling.logitBias)
  }
}

const encodeFormat = (format: OutputFormat | null): JsonObject => {
  if (format === null) return {}
  if (format.type === "json") return { response_format: { type: "json_object" } }
  return {
    response_format: {
      type: "json_schema",
      // The wire requires a name; it has no effect.
      json_schema: {
        name: format.name ?? "answer",
        schema: format.schema,
        ...optional("description", format.description),
        ...optional("strict", format.strict)
      }
    }
  }
}

const efforts = new Set(["minimal", "low", "medium", "high", "xhigh"])

const encodeReasoning = (ask: ReasoningAsk | null, options: EncodeOptions, own: boolean, log: DropLog): JsonObject => {
  if (ask === null) return {}
  if (ask.inOwnWords !== undefined && own) return {}
  if (own) return ask.mode === "off" ? { reasoning_effort: "none" } : optional("reasoning_effort", ask.effort)
  if (ask.mode === "off") return {}
  // `adaptive` needs no field: a model that cannot reason would refuse it.
  if (options.reasoning === false || (ask.mode === "adaptive" && options.reasoning !== true)) {
    log.drop("reasoning")
    return {}
  }
  if (ask.effort !== undefined && efforts.has(ask.effort)) return { reasoning_effort: ask.effort }
  if (ask.effort !== undefined) {
    log.map("reasoning")
    return { reasoning_effort: "high" }
  }
  if (ask.budgetTokens === undefined) return {}
  log.map("reasoning")
  return { reasoning_effort: effortOfBudget(ask.budgetTokens) }
}

const encodeUser = (user: string | null, own: boolean, log: DropLog): JsonObject => {
  if (user === null || own || user.length <= maxUserChars) return optional("user", user)
  log.drop("user")
  return {}
}

/** Removes the client's own settings for reasoning where the gateway asks for something else instead. */
const ownExtras = ({ extras, reasoning }: Conversation): Conversation["extras"] =>
  reasoning === null || reasoning.inOwnWords !== undefined || !hasReasoningWords(extras)
    ? extras
    : withoutReasoningWords(extras)

/** Members only the client's own wire has. */
const encodeExtras = (conversation: Conversation, log: DropLog): JsonObject => {
  if (conversation.wire === "chat") {
    const { stream_options: _options, ...extras } = ownExtras(conversation)
    return { ...optional("metadata", conversation.metadata), ...extras }
  }
  for (const key of Object.keys(conversation.extras)) log.dropField(key)
  if (conversation.metadata !== null) log.dropField("metadata")
  return {}
}

export const takesStreamOptions = (dialect: Dialect | undefined): boolean => (dialect?.streamOptions ?? null) === null

export const encodeRequest = (conversation: Conversation, options: EncodeOptions): EncodedRequest => {
  const log = makeDropLog(conversation.wire)
  const own = conversation.wire === "chat"
  const fixed = isOpenAiReasoning(options.model)
  const limit = conversation.maxOutputTokens
  const functions = own && asksForFunctions(conversation.extras)
  const spoken = encodeMessages(conversation, options, log)
  const streamOptions = own ? objectOr(conversation.extras["stream_options"]) : {}
  const body: JsonObject = {
    model: options.model,
    messages: functions ? messagesAsFunctions(spoken) : spoken,
    ...(functions ? {} : encodeTools(conversation, options.openAiTools === true, log)),
    ...(limit === null ? {} : { [fixed ? "max_completion_tokens" : "max_tokens"]: limit }),
    ...encodeSampling(conversation.sampling, own, fixed, log),
    ...encodeFormat(conversation.outputFormat),
    ...encodeReasoning(conversation.reasoning, options, own, log),
    ...encodeUser(conversation.user, own, log),
    ...(conversation.candidates > 1 ? { n: conversation.candidates } : {}),
    ...encodeExtras(conversation, log),
    // Usage is always requested, for the usage log; the client gets it only when it asked for it.
    ...(options.stream ? { stream: true } : {}),
    ...(options.stream && takesStreamOptions(options.dialect)
      ? { stream_options: { ...streamOptions, include_usage: true } }
      : {})
  }
  return { body, dropped: [...log.dropped], lost: [...log.lost], mapped: [...log.mapped] }
}
