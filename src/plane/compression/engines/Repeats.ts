/**
 * The same output of a tool again: a reference to the first one in its place. What becomes of a text depends on those before it alone, so
 * that turns that were sent stay as they were sent. Pure, linear.
 */

/** An output of a tool in the order of the conversation. */
export interface Repeatable {
  readonly text: string
  /** Number of the message in the conversation, from 0. */
  readonly turn: number
}

/** Shorter texts are not worth a reference. */
export const leastChars = 200

const referenceTo = (turn: number, chars: number): string =>
  `[same as the output of message ${turn + 1} above: ${chars} characters]`

/** Null: the text stays. A reference stands for a text of an earlier message of the same conversation, never for a later one. */
export const withoutRepeats = (outputs: ReadonlyArray<Repeatable>): ReadonlyArray<string | null> => {
  const first = new Map<string, number>()
  return outputs.map(({ text, turn }) => {
    if (text.length < leastChars) return null
    const known = first.get(text)
    if (known === undefined) {
      first.set(text, turn)
      return null
    }
    return known < turn ? referenceTo(known, text.length) : null
  })
}
