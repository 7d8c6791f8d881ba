/** Whether, and under which name, an endpoint of the chat wire takes the reasoning of earlier turns back. */
import type { Dialect } from "../../domain/Dialect.ts"

/**
 * Models whose makers want the reasoning of a turn with tool calls back wherever they are served:
 * https://api-docs.deepseek.com/guides/thinking_mode,
 * https://platform.kimi.ai/docs/guide/use-kimi-k2-thinking-model,
 * https://github.com/ValueCell-ai/ClawX/discussions/1040.
 */
const families = /deepseek|kimi|mimo/i

export const wantsReasoningBack = (model: string, dialect?: Dialect): boolean =>
  dialect?.reasoningHistory?.is !== "refused" && families.test(model)

/** Null: the endpoint is not known to take it. */
export const reasoningMember = (
  model: string,
  dialect: Dialect | undefined
): "reasoning_content" | "reasoning" | null => {
  const documented = dialect?.reasoningHistory?.is
  if (documented !== undefined) return documented === "refused" ? null : documented
  return families.test(model) ? "reasoning_content" : null
}
