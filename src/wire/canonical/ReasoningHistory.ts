/** Decides whether an endpoint of the chat wire accepts the reasoning of earlier turns, and under which name. */
import type { Dialect } from "../../contract/domain/Dialect.ts"

/**
 * Models that need the reasoning of a turn with tool calls back, whatever the provider:
 * https://api-docs.deepseek.com/guides/thinking_mode,
 * https://platform.kimi.ai/docs/guide/use-kimi-k2-thinking-model,
 * https://github.com/ValueCell-ai/ClawX/discussions/1040.
 */
const families = /deepseek|kimi|mimo/i

export const wantsReasoningBack = (model: string, dialect?: Dialect): boolean =>
  dialect?.reasoningHistory?.is !== "refused" && families.test(model)

/** Null: the endpoint is not known to accept it. */
export const reasoningMember = (
  model: string,
  dialect: Dialect | undefined
): "reasoning_content" | "reasoning" | null => {
  const documented = dialect?.reasoningHistory?.is
  if (documented !== undefined) return documented === "refused" ? null : documented
  return families.test(model) ? "reasoning_content" : null
}
