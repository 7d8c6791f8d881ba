/**
 * Reasoning efforts ↔ thinking budgets, as Google maps them for its own chat completions endpoint.
 *
 * https://ai.google.dev/gemini-api/docs/openai#thinking
 */

const budgets: Readonly<Record<string, number>> = {
  minimal: 1024,
  low: 1024,
  medium: 8192,
  high: 24_576,
  xhigh: 32_768,
  max: 32_768
}

/** Budget in tokens for an effort; unknown efforts count as medium. */
export const budgetOfEffort = (effort: string): number => budgets[effort] ?? 8192

/** The effort nearest to a budget in tokens. */
export const effortOfBudget = (budgetTokens: number): "low" | "medium" | "high" =>
  budgetTokens <= 2048 ? "low" : budgetTokens <= 12_288 ? "medium" : "high"
