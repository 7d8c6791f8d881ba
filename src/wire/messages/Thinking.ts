/**
 * Thinking of the messages wire, and the limits that hang on it: a budget of at least 1024 and below `max_tokens`, no forced
 * tool, and (with a fixed budget) a thinking block in front of the call whose result is being sent.
 */
import type { Conversation, ReasoningAsk } from "../canonical/Conversation.ts"
import type { DropLog } from "../canonical/DropLog.ts"
import { budgetOfEffort } from "../canonical/ReasoningBudget.ts"
import { isArray, isObject, type Json, type JsonObject, optional } from "../json/Json.ts"
import type { EncodeOptions } from "../WireCodec.ts"

/** Sent when neither the client nor the catalogue knows a limit: every model of this wire since 2024 can write so much. */
export const defaultMaxTokens = 8192
const minBudget = 1024
/** Of the output limit, what thinking may take: the rest is for the answer. */
const maxShare = 0.8

/** Families that decide for themselves how much to think, and take an effort word. */
const adaptiveFamily = /claude-[a-z]+-(?:4[-.][6-9](?!\d)|[5-9])/i
const efforts: Readonly<Record<string, string>> = {
  minimal: "low",
  low: "low",
  medium: "medium",
  high: "high",
  xhigh: "high",
  max: "max"
}

export interface Thinking {
  readonly on: boolean
  readonly maxTokens: number
  /** `thinking`; absent when off. */
  readonly field: JsonObject
  /** Goes into `output_config`. */
  readonly effort: string | null
}

const blocksOf = (message: Json | undefined): ReadonlyArray<Json> => {
  const content = isObject(message) ? message["content"] : undefined
  return isArray(content) ? content : []
}

const typeOf = (block: Json | undefined): Json | undefined => (isObject(block) ? block["type"] : undefined)

/** The turn waits for tool results, and its call has no thinking block in front of it. */
const callWithoutThinking = (messages: ReadonlyArray<Json>): boolean => {
  if (typeOf(blocksOf(messages.at(-1))[0]) !== "tool_result") return false
  const first = typeOf(blocksOf(messages.at(-2))[0])
  return first !== "thinking" && first !== "redacted_thinking"
}

const limitOf = (conversation: Conversation, options: EncodeOptions, log: DropLog): number | null => {
  const { maxOutputTokens } = conversation
  const limit = options.maxOutputTokens
  if (maxOutputTokens !== null && limit !== null && maxOutputTokens > limit) {
    log.map("maxOutputTokens")
    return limit
  }
  return maxOutputTokens ?? limit
}

/** The budget that fits below the limit; null when not even the smallest does. */
const fitBudget = (wanted: number, maxTokens: number): number | null => {
  const room = Math.max(Math.floor(maxTokens * maxShare), minBudget)
  const budget = Math.min(Math.max(wanted, minBudget), room)
  return budget < maxTokens ? budget : null
}

const off = (limit: number | null, effort: string | null = null): Thinking => ({
  on: false,
  maxTokens: limit ?? defaultMaxTokens,
  field: {},
  effort
})

const budgeted = (ask: ReasoningAsk, limit: number | null, log: DropLog): Thinking => {
  const wanted = ask.budgetTokens ?? budgetOfEffort(ask.effort ?? "medium")
  const maxTokens = limit ?? defaultMaxTokens + wanted
  const budget = fitBudget(wanted, maxTokens)
  if (budget === null) {
    log.drop("reasoning")
    return off(limit)
  }
  if (budget !== wanted) log.map("reasoning")
  const field = { thinking: { type: "enabled", budget_tokens: budget, ...optional("display", ask.summary) } }
  return { on: true, maxTokens, field, effort: null }
}

export const encodeThinking = (
  conversation: Conversation,
  messages: ReadonlyArray<Json>,
  options: EncodeOptions,
  log: DropLog
): Thinking => {
  const limit = limitOf(conversation, options, log)
  const ask = conversation.reasoning
  const own = conversation.wire === "messages"
  if (ask === null) return off(limit)
  const ownEffort = own ? (ask.effort ?? null) : null
  if (ask.mode === "off") return { ...off(limit, ownEffort), field: own ? { thinking: { type: "disabled" } } : {} }
  if (own && ask.mode === "effort") return off(limit, ownEffort)
  if (options.reasoning === false) {
    log.drop("reasoning")
    return off(limit)
  }
  const choice = conversation.toolChoice
  const forced =
    choice?.type === "required" || choice?.type === "tool" || (choice?.type === "allowed" && choice.mode === "required")
  const adaptive = ask.mode === "adaptive" || (ask.mode === "effort" && adaptiveFamily.test(options.model))
  if (forced || (!adaptive && callWithoutThinking(messages))) {
    log.drop("reasoning")
    return off(limit)
  }
  if (!adaptive) return { ...budgeted(ask, limit, log), effort: ownEffort }
  const effort = own ? ownEffort : (efforts[ask.effort ?? "medium"] ?? "medium")
  if (!own && effort !== ask.effort) log.map("reasoning")
  const field = { thinking: { type: "adaptive", ...optional("display", ask.summary) } }
  return { on: true, maxTokens: limit ?? defaultMaxTokens * 4, field, effort }
}
