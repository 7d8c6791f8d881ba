/** The setting `modelFallbacks`, compiled for look-ups: which model replaces an id that is not served. Pure. */

/** Ids longer than this are never mapped. */
const longestId = 512

const literals = (pattern: string): number => pattern.replaceAll("*", "").length

/** `*` stands for any text, also none. Each part is searched once, after the one before it. */
const matches = (pattern: string, id: string): boolean => {
  const [head = "", ...rest] = pattern.split("*")
  const tail = rest.pop()
  if (tail === undefined) return pattern === id
  if (!id.startsWith(head) || !id.endsWith(tail) || id.length < head.length + tail.length) return false
  const end = id.length - tail.length
  let at = head.length
  for (const part of rest) {
    const found = id.indexOf(part, at)
    if (found === -1 || found + part.length > end) return false
    at = found + part.length
  }
  return true
}

/** The exact id wins over patterns, and of these the one with the most letters; the first of equals. Null without an entry. */
export const makeModelFallbacks = (fallbacks: Readonly<Record<string, string>>): ((id: string) => string | null) => {
  const entries = Object.entries(fallbacks)
  if (entries.length === 0) return () => null
  const exact = new Map(entries)
  const patterns = entries
    .filter(([pattern]) => pattern.includes("*"))
    .toSorted(([one], [other]) => literals(other) - literals(one))
  return (id) => {
    if (id.length > longestId) return null
    return exact.get(id) ?? patterns.find(([pattern]) => matches(pattern, id))?.[1] ?? null
  }
}
