/** Patterns in which `*` stands for any text, also none. Pure, and linear in the length of the text. */

/** Counts the characters of a pattern that are not `*`: the more, the narrower it is. */
export const literals = (pattern: string): number => pattern.replaceAll("*", "").length

/** A test for a pattern. Each part is searched once, after the one before it. */
export const wildcard = (pattern: string): ((text: string) => boolean) => {
  const [head = "", ...rest] = pattern.split("*")
  const tail = rest.pop()
  if (tail === undefined) return (text) => pattern === text
  const parts = rest.filter((part) => part !== "")
  return (text) => {
    if (!text.startsWith(head) || !text.endsWith(tail) || text.length < head.length + tail.length) return false
    const end = text.length - tail.length
    let at = head.length
    for (const part of parts) {
      const found = text.indexOf(part, at)
      if (found === -1 || found + part.length > end) return false
      at = found + part.length
    }
    return true
  }
}

/** A test for a list of patterns: whether any of them fits. Exact ones are looked up, however many there are. */
export const anyWildcard = (patterns: ReadonlyArray<string>): ((text: string) => boolean) => {
  const exact = new Set(patterns.filter((pattern) => !pattern.includes("*")))
  const tests = patterns.filter((pattern) => pattern.includes("*")).map(wildcard)
  return (text) => exact.has(text) || tests.some((fits) => fits(text))
}
