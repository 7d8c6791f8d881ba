/** Names of the headers about limits, in lower case. Waits and quotas are read from the same ones. */

export type LimitPart = "limit" | "remaining" | "reset"

/** Units that Anthropic limits per minute. */
export const anthropicLimits = ["requests", "tokens", "input-tokens", "output-tokens"] as const
export const anthropicLimit = (limit: string, part: LimitPart): string => `anthropic-ratelimit-${limit}-${part}`

/** The windows of an Anthropic subscription; without one, all of them together. */
export const anthropicPlanWindows = ["5h", "7d"] as const
export const anthropicPlan = (
  part: "status" | "reset" | "utilization" | "representative-claim",
  window: (typeof anthropicPlanWindows)[number] | null = null
): string => `anthropic-ratelimit-unified${window === null ? "" : `-${window}`}-${part}`

/** The windows of a Codex subscription. */
export const codexPlanWindows = ["primary", "secondary"] as const
export const codexPlan = (
  window: (typeof codexPlanWindows)[number],
  part: "used-percent" | "window-minutes" | "reset-after-seconds" | "reset-at"
): string => `x-codex-${window}-${part}`
export const codexPlanType = "x-codex-plan-type"

/** Units that `x-ratelimit-*` limits; the empty one is a single limit for all. */
export const commonLimits = ["requests", "tokens"] as const
export const commonWindows = ["minute", "hour", "day"] as const
export const commonLimit = (part: LimitPart, limit = ""): string => `x-ratelimit-${part}${limit && `-${limit}`}`
