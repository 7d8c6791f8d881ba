/** The setting `modelFallbacks`, compiled for look-ups: which model replaces an id that is not served. Pure. */

import { literals, wildcard } from "../../kernel/text/Wildcards.ts"

/** Ids longer than this are never mapped. */
const longestId = 512

/** The exact id wins over patterns, and of these the one with the most letters; the first of equals. Null without an entry. */
export const makeModelFallbacks = (fallbacks: Readonly<Record<string, string>>): ((id: string) => string | null) => {
  const entries = Object.entries(fallbacks)
  if (entries.length === 0) return () => null
  const exact = new Map(entries)
  const patterns = entries
    .filter(([pattern]) => pattern.includes("*"))
    .toSorted(([one], [other]) => literals(other) - literals(one))
    .map(([pattern, model]) => ({ fits: wildcard(pattern), model }))
  return (id) => {
    if (id.length > longestId) return null
    return exact.get(id) ?? patterns.find(({ fits }) => fits(id))?.model ?? null
  }
}
