/**
 * Thinking of the messages wire, and the limits that come with it: a budget of at least 1024 and below `max_tokens`, no forced tool, and
 * (with a fixed budget) a thinking block at the beginning of the turn whose results are being sent.
 *
 * https://platform.claude.com/docs/en/build-with-claude/extended-thinking
 */
import type { Conversation, ReasoningAsk } from "../canonical/Conversation.ts"
import type { DropLog } from "../canonical/DropLog.ts"
import { claudeVersionOf } from "../canonical/ModelFamily.ts"
import { budgetOfEffort, effortOfBudget } from "../canonical/ReasoningBudget.ts"
import { isArray, isObject, type Json, type JsonObject, optional } from "../json/Json.ts"
import type { EncodeOptions } from "../WireCodec.ts"

/**
 * Output limit sent when neither the client nor the catalogue has one: every model of this wire since 2024 supports it.
 */
const defaultMaxTokens = 8192
/** The wire's own minimum. */
const minBudgetTokens = 1024
/** The largest share of the output limit for thinking; the rest is for the answer. */
const maxShare = 0.8

/** Way in which thinking is configured for a model: a budget, adaptive with an effort, either, or unknown. */
type Manner = "budget" | "either" | "adaptive" | "unknown"

const mannerOf = (model: string): Manner => {
  const version = claudeVersionOf(model)
  if (version === null || version < 3.7) return "unknown"
  // From 4.7 on a budget is refused.
  return version < 4.6 ? "budget" : version < 4.7 ? "either" : "adaptive"
}

/** Checks whether a model refuses all sampling settings, as those since 4.7 do. */
export const refusesSampling = (model: string): boolean => mannerOf(model) === "adaptive"

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

const thinks = (block: Json | undefined): boolean => {
  const type = typeOf(block)
  return type === "thinking" || type === "redacted_thinking"
}

const isWaiting = (message: Json | undefined): boolean => typeOf(blocksOf(message)[0]) === "tool_result"

/**
 * Checks whether the turn waits for tool results and does not begin with thinking. A loop of calls is one turn of the assistant, which
 * must begin with thinking; its later answers need not: https://platform.claude.com/docs/en/build-with-claude/extended-thinking
 */
const turnWithoutThinking = (messages: ReadonlyArray<Json>): boolean => {
  let at = messages.length - 1
  if (!isWaiting(messages[at])) return false
  for (; isWaiting(messages[at]); at -= 2) if (thinks(blocksOf(messages[at - 1])[0])) return false
  return true
}

/** The history of a client of the same wire is as the provider wrote it, unless signatures of another account were removed. */
const isUntouched = ({ leftOut, wire }: Conversation): boolean => wire === "messages" && (leftOut ?? []).length === 0

const limitOf = (conversation: Conversation, options: EncodeOptions, log: DropLog): number | null => {
  const { maxOutputTokens } = conversation
  const limit = options.maxOutputTokens
  if (maxOutputTokens !== null && limit !== null && maxOutputTokens > limit) {
    log.map("maxOutputTokens")
    return limit
  }
  return maxOutputTokens ?? limit
}

/** A budget below the limit; null when not even the minimum is. A client's own budget that fits is kept. */
const fitBudget = (wanted: number, maxTokens: number, own: boolean): number | null => {
  if (own && wanted >= minBudgetTokens && wanted < maxTokens) return wanted
  const room = Math.max(Math.floor(maxTokens * maxShare), minBudgetTokens)
  const budget = Math.min(Math.max(wanted, minBudgetTokens), room)
  return budget < maxTokens ? budget : null
}

const off = (limit: number | null, effort: string | null = null): Thinking => ({
  on: false,
  maxTokens: limit ?? defaultMaxTokens,
  field: {},
  effort
})

/** Summary kinds of other wires, which all map to the one kind of this wire. */
const summaries = new Set(["auto", "concise", "detailed"])

const displayOf = ({ summary }: ReasoningAsk): JsonObject =>
  optional("display", summary !== undefined && summaries.has(summary) ? "summarized" : summary)

const budgeted = (ask: ReasoningAsk, limit: number | null, own: boolean, log: DropLog): Thinking => {
  const wanted = ask.budgetTokens ?? budgetOfEffort(ask.effort ?? "medium")
  const maxTokens = limit ?? defaultMaxTokens + wanted
  const budget = fitBudget(wanted, maxTokens, own)
  if (budget === null) {
    log.drop("reasoning")
    return off(limit)
  }
  if (budget !== ask.budgetTokens) log.map("reasoning")
  const field = { thinking: { type: "enabled", budget_tokens: budget, ...displayOf(ask) } }
  return { on: true, maxTokens, field, effort: null }
}

const effortOf = (ask: ReasoningAsk, manner: Manner): string | null => {
  if (ask.effort === undefined && ask.budgetTokens !== undefined) return effortOfBudget(ask.budgetTokens)
  if (ask.effort === undefined) return ask.mode === "effort" ? "medium" : null
  return ask.effort === "xhigh" && manner === "adaptive" ? "xhigh" : (efforts[ask.effort] ?? "medium")
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
  const manner = mannerOf(options.model)
  if (ask.mode === "adaptive" && manner === "unknown" && options.reasoning !== true) {
    // `adaptive` needs no field: a model that cannot think would refuse it.
    log.drop("reasoning")
    return off(limit)
  }
  const adaptive = manner === "adaptive" || (manner === "either" && ask.mode !== "budget")
  if (forced || (!adaptive && !isUntouched(conversation) && turnWithoutThinking(messages))) {
    log.drop("reasoning")
    return off(limit)
  }
  if (!adaptive) return { ...budgeted(ask, limit, own, log), effort: ownEffort }
  if (ask.mode === "budget") log.map("reasoning")
  const effort = own && ask.mode !== "budget" ? ownEffort : effortOf(ask, manner)
  if (!own && ask.mode === "effort" && effort !== ask.effort) log.map("reasoning")
  const field = { thinking: { type: "adaptive", ...displayOf(ask) } }
  return { on: true, maxTokens: limit ?? defaultMaxTokens * 4, field, effort }
}
