/** Rules of Google's models, by their names. */

/** Generation 3 and later, and the aliases of the newest models. */
const third = /gemini-(?:[3-9]|\d{2})|gemini-(?:pro|flash|flash-lite)-latest/i
const thirdPro = /gemini-3-pro/i
const second = /gemini-2\.5/i
const secondPro = /gemini-2\.5-pro/i

/** The model refuses a step of calls without a signature (https://ai.google.dev/gemini-api/docs/thought-signatures). */
export const needsSignatures = (model: string): boolean => third.test(model)

/**
 * Rule by which thinking is configured (https://ai.google.dev/gemini-api/docs/thinking).
 * - `level` by a level; it cannot be turned off
 * - `budget` by a number of tokens between the bounds; `offBudget` turns it off, or is the minimum where that is not possible
 * - `unknown` a budget, which most servers accept
 */
export type ThinkingRule =
  | { readonly kind: "level"; readonly hasMedium: boolean }
  | { readonly kind: "budget"; readonly minBudget: number; readonly maxBudget: number; readonly offBudget: number }
  | { readonly kind: "unknown" }

/** The rule of a model, budgets in tokens; `unknown` for an unknown family. */
export const thinkingRule = (model: string): ThinkingRule => {
  if (third.test(model)) return { kind: "level", hasMedium: !thirdPro.test(model) }
  if (secondPro.test(model)) return { kind: "budget", minBudget: 128, maxBudget: 32_768, offBudget: 128 }
  if (second.test(model)) return { kind: "budget", minBudget: 512, maxBudget: 24_576, offBudget: 0 }
  return { kind: "unknown" }
}
