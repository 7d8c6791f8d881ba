/** What the names of Google's models tell about their rules. */

/** Generation 3 and later, and the names that always mean the newest. */
const third = /gemini-(?:[3-9]|\d{2})|gemini-(?:pro|flash|flash-lite)-latest/i
const thirdPro = /gemini-3-pro/i
const second = /gemini-2\.5/i
const secondPro = /gemini-2\.5-pro/i

const earlier = /gemini-[12](?![0-9])|gemma/i

/** A step of calls without the signature of its thoughts is refused. */
export const needsSignatures = (model: string): boolean => third.test(model)

/** The same for a client's own name of a model, which may stand for any. */
export const mayNeedSignatures = (model: string): boolean => !earlier.test(model)

/**
 * How a model is told to think.
 * - `level` by a word; it cannot be told not to
 * - `budget` by a number of tokens between the bounds; `offBudget` is the least it takes for "do not"
 * - `unknown` nothing is known: a budget is what most servers take
 */
export type ThinkingRule =
  | { readonly kind: "level"; readonly hasMedium: boolean }
  | { readonly kind: "budget"; readonly minBudget: number; readonly maxBudget: number; readonly offBudget: number }
  | { readonly kind: "unknown" }

/** How the model is told how much to think, budgets in tokens; `unknown` for a name of no known family. */
export const thinkingRule = (model: string): ThinkingRule => {
  if (third.test(model)) return { kind: "level", hasMedium: !thirdPro.test(model) }
  if (secondPro.test(model)) return { kind: "budget", minBudget: 128, maxBudget: 32_768, offBudget: 128 }
  if (second.test(model)) return { kind: "budget", minBudget: 512, maxBudget: 24_576, offBudget: 0 }
  return { kind: "unknown" }
}
