/** Patterns of names of models with OpenAI's settings for reasoning, used where no catalogue has the answer. */

const openAiReasoning = /(?:^|\/)(?:o[1-9]|gpt-5)(?![a-z])/i

/** OpenAI's reasoning models: they refuse `max_tokens`, sampling, stop strings and log probabilities. */
export const isOpenAiReasoning = (model: string): boolean => openAiReasoning.test(model)

/** `claude-opus-4-6`, `claude-4.6-opus`, `anthropic.claude-sonnet-4-5-v1`; a date is not a minor version. */
const claudeVersion = /claude-(?:[a-z]+-)?(\d)(?:[-.](\d)(?!\d))?(?!\d)/i

/** The version of a Claude model as a number (4.6); null for another model, or a name without one. */
export const claudeVersionOf = (model: string): number | null => {
  const found = claudeVersion.exec(model)
  return found === null ? null : Number(found[1]) + Number(found[2] ?? 0) / 10
}

const systemFamily = /claude-(?:(?:opus|fable|mythos)-|\d(?:[-.]\d)?-(?:opus|fable|mythos))/i

/**
 * Checks whether a Claude model accepts system messages between turns: Opus from 4.8 on, Fable and Mythos
 * (https://platform.claude.com/docs/en/build-with-claude/mid-conversation-system-messages). Null for an unknown model.
 */
export const takesSystemBetween = (model: string): boolean | null => {
  const version = claudeVersionOf(model)
  if (version !== null) return version >= 4.8 && systemFamily.test(model)
  return /claude-(?:fable|mythos)/i.test(model) ? true : null
}
