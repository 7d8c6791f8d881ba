/**
 * Reads the ways in which clients of this wire ask for reasoning besides `reasoning_effort`, in the terms of the servers they were
 * written for:
 *
 * - `reasoning {effort, max_tokens, enabled, exclude}`, `include_reasoning`: https://openrouter.ai/docs/use-cases/reasoning-tokens
 * - `thinking {type, budget_tokens}`: https://docs.litellm.ai/docs/reasoning_content, https://api-docs.deepseek.com/guides/thinking_mode
 * - `enable_thinking`, `thinking_budget`: https://www.alibabacloud.com/help/en/model-studio/deep-thinking
 * - `chat_template_kwargs {enable_thinking, thinking}`: https://docs.vllm.ai/en/latest/features/reasoning_outputs.html
 * - `extra_body.google.thinking_config`: https://ai.google.dev/gemini-api/docs/openai
 *
 * On this wire they go on as they came. Pure.
 */
import type { Conversation, ReasoningAsk } from "../canonical/Conversation.ts"
import { isObject, type Json, type JsonObject, objectOr, optional, stringOr } from "../json/Json.ts"

/** Members of the request with such words. */
const words = [
  "reasoning",
  "include_reasoning",
  "thinking",
  "thinking_budget",
  "enable_thinking",
  "chat_template_kwargs",
  "extra_body",
  "google"
] as const

const isTokens = (value: Json | undefined): value is number =>
  typeof value === "number" && Number.isSafeInteger(value) && value >= 0

const ofBudget = (budgetTokens: number): ReasoningAsk =>
  budgetTokens === 0 ? { mode: "off" } : { mode: "budget", budgetTokens }

const ofEffort = (effort: string): ReasoningAsk => (effort === "none" ? { mode: "off" } : { mode: "effort", effort })

const ofSwitch = (value: Json | undefined): ReasoningAsk | null =>
  typeof value === "boolean" ? { mode: value ? "adaptive" : "off" } : null

const effortIn = (value: Json | undefined): ReasoningAsk | null => {
  const effort = stringOr(value)
  return effort === null || effort === "" ? null : ofEffort(effort)
}

const ofReasoning = (value: Json | undefined): ReasoningAsk | null => {
  const { effort, enabled, max_tokens: budget } = objectOr(value)
  if (enabled === false) return { mode: "off" }
  return effortIn(effort) ?? (isTokens(budget) ? ofBudget(budget) : ofSwitch(enabled))
}

const ofThinking = (value: Json | undefined): ReasoningAsk | null => {
  const { budget_tokens: budget, type } = objectOr(value)
  switch (type) {
    case "disabled":
      return { mode: "off" }
    case "adaptive":
    case "auto":
      return { mode: "adaptive" }
    case "enabled":
      return isTokens(budget) ? ofBudget(budget) : { mode: "adaptive" }
    default:
      return null
  }
}

/** Some clients send the member of `extra_body` by itself. */
const thinkingConfig = (body: JsonObject): JsonObject => {
  const google = objectOr(body["extra_body"])["google"] ?? body["google"]
  return objectOr(objectOr(google)["thinking_config"])
}

const ofGoogle = ({ thinking_budget: budget, thinking_level: level }: JsonObject): ReasoningAsk | null => {
  if (budget === -1) return { mode: "adaptive" }
  if (isTokens(budget)) return ofBudget(budget)
  const effort = stringOr(level)
  return effort === null ? null : ofEffort(effort.toLowerCase())
}

/** Reads the form in which reasoning is shown; absent where nothing is said. */
const summaryIn = (body: JsonObject): Pick<ReasoningAsk, "summary"> => {
  const { exclude, summary } = objectOr(body["reasoning"])
  const { include_thoughts: thoughts } = thinkingConfig(body)
  if (exclude === true || body["include_reasoning"] === false || thoughts === false) return { summary: "omitted" }
  if (thoughts === true) return { summary: "auto" }
  return optional("summary", stringOr(summary))
}

/** A qualified switch is weaker than a number or a level. */
const strength = { off: 3, budget: 2, effort: 1, adaptive: 0 } as const

/**
 * Combines what all members together ask for; null where they ask for nothing. "Off" wins over all else; a budget over a level, a level over a
 * mere switch.
 */
export const reasoningAsk = (body: JsonObject): ReasoningAsk | null => {
  const template = objectOr(body["chat_template_kwargs"])
  const budget = body["thinking_budget"]
  const asks = Object.entries({
    reasoning_effort: effortIn(body["reasoning_effort"]),
    reasoning: ofReasoning(body["reasoning"]),
    thinking: ofThinking(body["thinking"]) ?? ofSwitch(body["thinking"]),
    include_reasoning: body["include_reasoning"] === true ? ofSwitch(true) : null,
    thinking_budget: isTokens(budget) ? ofBudget(budget) : null,
    enable_thinking: ofSwitch(body["enable_thinking"]),
    chat_template_kwargs: ofSwitch(template["enable_thinking"]) ?? ofSwitch(template["thinking"]),
    extra_body: ofGoogle(thinkingConfig(body))
  }).flatMap(([member, ask]) => (ask === null ? [] : [{ member, ask }]))
  const strongest = asks.toSorted((one, other) => strength[other.ask.mode] - strength[one.ask.mode])[0]
  if (strongest === undefined) return null
  const { ask, member } = strongest
  return { ...ask, ...(ask.mode === "off" ? {} : summaryIn(body)), inOwnWords: member }
}

/** Hot: a request without such words has nothing to read. */
export const hasReasoningWords = (body: JsonObject): boolean => words.some((word) => body[word] !== undefined)

const unreadGoogle = ({ thinking_config: _config, ...others }: JsonObject): JsonObject | undefined =>
  Object.keys(others).length === 0 ? undefined : others

/** The member without what is read of it; undefined where nothing is left. */
const unread = (word: (typeof words)[number], value: Json | undefined): Json | undefined => {
  if (!isObject(value)) return undefined
  if (word === "chat_template_kwargs") {
    const { enable_thinking: _enable, thinking: _thinking, ...rest } = value
    return Object.keys(rest).length === 0 ? undefined : rest
  }
  if (word === "google") return unreadGoogle(value)
  if (word !== "extra_body") return undefined
  const { google, ...rest } = value
  const left = { ...rest, ...optional("google", unreadGoogle(objectOr(google))) }
  return Object.keys(left).length === 0 ? undefined : left
}

/** Members of the request without those words that have become the conversation's reasoning. */
export const withoutReasoningWords = (extras: Conversation["extras"]): Conversation["extras"] => {
  const left: Record<string, Json | undefined> = { ...extras }
  delete left["reasoning_effort"]
  for (const word of words) {
    const rest = unread(word, left[word])
    if (rest === undefined) delete left[word]
    else left[word] = rest
  }
  return left
}
