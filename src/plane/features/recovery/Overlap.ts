/**
 * Models that go on with a text often repeat its last words first. Where the begin of a continuation is, letter for letter, the end of
 * what was sent, it is left out once. Nothing else is ever changed.
 */

/** Longest repetition that is looked for. */
export const maxOverlapChars = 200
/** Shorter matches are taken for chance ("the the" is a slip, "ha ha" is not). */
export const minOverlapChars = 10

const hasWord = /[\p{L}\p{N}]/u
const isBlank = /^\s*$/

/** Rules and dots repeat by nature. */
const isRepetition = (overlap: string): boolean => overlap.length >= minOverlapChars && hasWord.test(overlap)

export interface OverlapTrimmer {
  /** Text that is sure not to be a repetition; empty while it may still be one. */
  readonly push: (text: string) => string
  /** The text is over: what was held back and is no repetition. */
  readonly end: () => string
  /** Something was left out. */
  readonly hasTrimmed: () => boolean
}

/** `blanksCut`: the target was not shown the white space at the end of what was sent, and may write it again. */
export const makeOverlapTrimmer = (sent: string, blanksCut: boolean): OverlapTrimmer => {
  const tail = sent.slice(-maxOverlapChars)
  let pending: string | null = ""
  let trimmed = 0

  const counts = (overlap: string): boolean => isRepetition(overlap) || (blanksCut && isBlank.test(overlap))

  /** The longest end of what was sent that `text` begins with. */
  const overlapOf = (text: string): number => {
    for (let length = Math.min(text.length, tail.length); length > 0; length -= 1) {
      const begin = text.slice(0, length)
      if (tail.endsWith(begin) && counts(begin)) return length
    }
    return 0
  }

  /** More text could make a longer match. */
  const isOpen = (text: string): boolean => {
    for (let length = text.length + 1; length <= tail.length; length += 1) {
      if (tail.startsWith(text, tail.length - length)) return true
    }
    return false
  }

  const release = (text: string): string => {
    pending = null
    trimmed = overlapOf(text)
    return text.slice(trimmed)
  }

  return {
    push: (text) => {
      if (pending === null) return text
      pending += text
      return isOpen(pending) ? "" : release(pending)
    },
    end: () => (pending === null ? "" : release(pending)),
    hasTrimmed: () => trimmed > 0
  }
}
