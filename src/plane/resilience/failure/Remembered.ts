/**
 * The words of an upstream as they are remembered: they are shown to other callers and kept in the database, so that what the caller of
 * the failed request wrote is taken out. Upstreams quote prompts in part, and in other spacing and encoding.
 */
import { plainForm } from "../../../kernel/text/TextForms.ts"
import { type CallerText, foldedBody, folded } from "./Echo.ts"

/** Letters and digits in a row, whatever is between them. A shorter run may well be the provider's own words. */
const leastRun = 12
/** Longer messages are cut: this is read by people. */
const maxChars = 2_000
const filterSize = 65_536

interface Letters {
  readonly text: string
  /** Position of each letter in the message. */
  readonly places: ReadonlyArray<number>
}

const lettersOf = (message: string): Letters => {
  const places: Array<number> = []
  let text = ""
  let at = 0
  for (const char of message) {
    const letters = folded(char)
    for (let count = 0; count < letters.length; count += 1) places.push(at)
    text += letters
    at += char.length
  }
  return { text, places }
}

/** Hashes the four characters from `at` on. */
const hashAt = (text: string, at: number): number =>
  (((text.charCodeAt(at) * 31 + text.charCodeAt(at + 1)) * 31 + text.charCodeAt(at + 2)) * 31 +
    text.charCodeAt(at + 3)) &
  (filterSize - 1)

/** Marks the letters in a run that `sent` has, too. Linear in both. */
const marksOf = ({ text }: Letters, sent: string): Uint8Array => {
  const runs = new Map<string, Array<number>>()
  const filter = new Uint8Array(filterSize)
  for (let at = 0; at + leastRun <= text.length; at += 1) {
    const run = text.slice(at, at + leastRun)
    const places = runs.get(run)
    if (places === undefined) runs.set(run, [at])
    else places.push(at)
    filter[hashAt(text, at)] = 1
  }
  const marks = new Uint8Array(text.length)
  for (let at = 0; at + leastRun <= sent.length; at += 1) {
    if (filter[hashAt(sent, at)] === 0) continue
    const run = sent.slice(at, at + leastRun)
    for (const place of runs.get(run) ?? []) marks.fill(1, place, place + leastRun)
    // Found once is enough, and a text that repeats itself is not looked up again and again.
    runs.delete(run)
  }
  return marks
}

const masked = (message: string, { places }: Letters, marks: Uint8Array): string => {
  let out = ""
  let from = 0
  for (let at = 0; at < marks.length; at += 1) {
    if (marks[at] === 0) continue
    let end = at
    while (end + 1 < marks.length && marks[end + 1] === 1) end += 1
    out += `${message.slice(from, places[at])}…`
    const last = places[end] ?? 0
    from = last + String.fromCodePoint(message.codePointAt(last) ?? 0).length
    at = end
  }
  return out + message.slice(from)
}

/** Removes the text that the caller sent; for a request too large to be searched nothing of the message is kept. */
export const remembered = (message: string, sent: CallerText): string => {
  const plain = plainForm(message.slice(0, maxChars))
  const letters = lettersOf(plain)
  if (letters.text.length < leastRun) return message.slice(0, maxChars)
  const own = foldedBody(sent)
  if (own === null) return "its words are not kept, because they may repeat those of a very large request"
  const marks = marksOf(letters, own)
  return marks.includes(1) ? masked(plain, letters, marks) : message.slice(0, maxChars)
}
