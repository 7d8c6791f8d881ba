/** Patterns in which `*` stands for any text, also for none. Compared without regard to case and without regular expressions. Pure. */

/** More of them say nothing that fewer cannot say. */
export const maxStars = 8
export const maxPatternChars = 253

/** Describes why a text is no pattern; null when it is one. */
export const problemOf = (pattern: string): string | null => {
  if (pattern === "") return "A pattern must not be empty."
  if (pattern.length > maxPatternChars) return `A pattern has at most ${maxPatternChars} characters.`
  if (!/^[\x21-\x7e]+$/.test(pattern)) return "A pattern has visible ASCII characters only."
  return pattern.split("*").length - 1 > maxStars ? `A pattern has at most ${maxStars} '*'.` : null
}

export interface Glob {
  readonly pattern: string
  readonly matches: (text: string) => boolean
}

/**
 * Compiles a pattern. The texts between the stars are found one after the other, each as early as it comes: there is no
 * backtracking.
 */
export const globOf = (pattern: string): Glob => {
  const parts = pattern.toLowerCase().split("*")
  const [first = ""] = parts
  const last = parts.at(-1) ?? ""
  const between = parts.slice(1, -1).filter((part) => part !== "")
  const matches = (given: string): boolean => {
    const text = given.toLowerCase()
    if (parts.length === 1) return text === first
    if (text.length < first.length + last.length || !text.startsWith(first) || !text.endsWith(last)) return false
    const end = text.length - last.length
    let at = first.length
    for (const part of between) {
      const found = text.indexOf(part, at)
      if (found === -1 || found + part.length > end) return false
      at = found + part.length
    }
    return true
  }
  return { pattern, matches }
}
