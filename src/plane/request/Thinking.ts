/** The setting `thinking-budget` on one request to one target. Pure. */
import type { ThinkingBudget } from "../../subjects/settings/entity/AccessSettings.ts"
import type { Conversation, ReasoningAsk } from "../../wire/canonical/Conversation.ts"

/**
 * Estimates the complexity of a request by the length of the last question, of the conversation, and its tools. From 0
 * to 1.
 */
const complexityOf = ({ messages, tools }: Conversation): number => {
  const question = messages.findLast(({ role }) => role === "user")
  const chars = (question?.parts ?? []).reduce((sum, part) => sum + (part.type === "text" ? part.text.length : 0), 0)
  const length = Math.min(chars / 4_000, 1)
  const turns = Math.min(messages.length / 20, 1)
  return Math.min(1, 0.6 * length + 0.2 * turns + (tools.length > 0 ? 0.2 : 0))
}

/** A short question gets a quarter of the budget, a long one with tools twice as much. */
const adaptiveBudget = (budget: number, conversation: Conversation): number =>
  Math.round(budget * (0.25 + 1.75 * complexityOf(conversation)))

const budgeted = (budgetTokens: number): ReasoningAsk =>
  budgetTokens === 0 ? { mode: "off" } : { mode: "budget", budgetTokens }

const custom = ({ customBudget, effortLevel }: ThinkingBudget): ReasoningAsk => {
  if (effortLevel === null) return budgeted(customBudget)
  return effortLevel === "none" ? { mode: "off" } : { mode: "effort", effort: effortLevel }
}

/**
 * The conversation as the setting has it. A target that is not known to think is asked to only where the client asks, too; a client that
 * turned thinking off keeps that.
 */
export const withThinking = (
  setting: ThinkingBudget,
  conversation: Conversation,
  canThink: boolean | null
): Conversation => {
  const { reasoning } = conversation
  if (setting.mode === "passthrough") return conversation
  if (setting.mode === "auto") return reasoning === null ? conversation : { ...conversation, reasoning: null }
  if (reasoning?.mode === "off" || canThink === false || (canThink === null && reasoning === null)) return conversation
  const ask = setting.mode === "custom" ? custom(setting) : budgeted(adaptiveBudget(setting.customBudget, conversation))
  const shown = reasoning?.summary === undefined ? {} : { summary: reasoning.summary }
  return { ...conversation, reasoning: { ...ask, ...shown } }
}
