/**
 * A memo for taps: most events of an answer differ from the one before in their text only. After such an event was parsed, the next one
 * with the same bytes around its text need not be. This is exact, because the text must be free of quotes, escapes, line ends and
 * non-ASCII bytes: then it can only be the content of that one JSON string.
 */

export interface PlainDelta {
  /** The text when `bytes[start, end)` has the stored shape; empty when it must be parsed. */
  readonly match: (bytes: Buffer, start: number, end: number) => string
  /** Stores the shape of a parsed event that carries `text` and nothing else. */
  readonly learn: (bytes: Buffer, start: number, end: number, text: string) => void
}

// oxlint-disable-next-line no-control-regex -- control characters end the memo
const special = /["\\\u0000-\u001f\u0080-\u00ff]/

export const makePlainDelta = (member: string): PlainDelta => {
  const opening = `"${member}":"`
  let prefix = ""
  let suffix = ""
  return {
    match: (bytes, start, end) => {
      const textLength = end - start - prefix.length - suffix.length
      if (textLength <= 0 || prefix === "") return ""
      const block = bytes.toString("latin1", start, end)
      if (!block.startsWith(prefix) || !block.endsWith(suffix)) return ""
      const text = block.slice(prefix.length, prefix.length + textLength)
      return special.test(text) ? "" : text
    },
    learn: (bytes, start, end, text) => {
      const block = bytes.toString("latin1", start, end)
      const open = block.indexOf(opening)
      // The member occurs twice, so the shape is ambiguous.
      if (open < 0 || block.indexOf(opening, open + 1) >= 0) return
      // The text has no line end: with one at its end, a chunk of this shape is one whole event.
      if (!block.endsWith("\n")) return
      const textStart = open + opening.length
      const close = textStart + text.length
      if (special.test(text) || !block.startsWith(`${text}"`, textStart)) return
      prefix = block.slice(0, textStart)
      suffix = block.slice(close)
    }
  }
}
