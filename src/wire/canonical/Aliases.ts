/**
 * Replacements for names and ids that a wire refuses. A replacement depends on the original alone, so that definitions, calls, results
 * and later turns agree; two originals never share one, and none equals an original in use.
 */

/** Rule for the names or ids that a wire accepts. */
export interface WordLimit {
  /** Matched against the whole word. */
  readonly pattern: RegExp
  readonly maxChars: number
  /** Makes a replacement where only one form is accepted; absent: from the beginning of the original. */
  readonly make?: (word: string, attempt: number) => string
}

/** FNV-1a, 32 bits: distinguishes long words with the same beginning. */
export const hashOf = (text: string): string => {
  let hash = 0x811c9dc5
  for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193)
  return (hash >>> 0).toString(16).padStart(8, "0")
}

/** Letters, digits, `_` and `-`: what every wire accepts. */
export const plainWord = (word: string): string => word.replaceAll(/[^a-zA-Z0-9_-]/g, "_")

/** Nine letters or digits: 46 bits of two hashes, so that the ids of one conversation do not collide. */
export const nineLettersOrDigits: WordLimit = {
  pattern: /^[a-zA-Z0-9]{9}$/,
  maxChars: 9,
  make: (word, attempt) => {
    const high = Number.parseInt(hashOf(`${attempt}:${word}`), 16) % 0x4000
    const low = Number.parseInt(hashOf(`${word}:${attempt}`), 16)
    return (high * 0x1_0000_0000 + low).toString(36).padStart(9, "0").slice(-9)
  }
}

const aliasOf = (word: string, attempt: number, { make, maxChars, pattern }: WordLimit): string => {
  if (make !== undefined) return make(word, attempt)
  const hash = hashOf(attempt === 0 ? word : `${attempt}:${word}`)
  const begin = (text: string): string => `${text.slice(0, maxChars - hash.length - 1)}_${hash}`
  const alias = begin(plainWord(word))
  // Some wires do not accept a leading digit or dash.
  return pattern.test(alias) ? alias : begin(`_${plainWord(word)}`)
}

/** The words that need a replacement, with the replacement. */
export const aliasesOf = (words: Iterable<string>, limit: WordLimit): ReadonlyMap<string, string> => {
  const all = new Set(words)
  const taken = new Set<string>()
  const refused: Array<string> = []
  for (const word of all) {
    if (word.length <= limit.maxChars && limit.pattern.test(word)) taken.add(word)
    else refused.push(word)
  }
  const aliases = new Map<string, string>()
  for (const word of refused) {
    let alias = aliasOf(word, 0, limit)
    for (let attempt = 1; taken.has(alias); attempt += 1) alias = aliasOf(word, attempt, limit)
    taken.add(alias)
    aliases.set(word, alias)
  }
  return aliases
}
