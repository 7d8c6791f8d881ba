/** Long outputs as their beginning and end, the whole kept under an id that is between them. Pure, linear. */
import { isKept, isTelling } from "../rtk/Kept.ts"

export interface Shortening {
  /** Texts of so many characters stay. */
  readonly mostChars: number
}

export const usualShortening: Shortening = { mostChars: 8_000 }

const marker = /\n\[ccr: \d+ lines left out; whole output: raw-output\/[0-9a-z]{1,64}\]\n/

/** Most lines that are kept of the middle because something failed in them; the whole is kept. */
const mostKept = 400

/**
 * Null: the text stays. `keep` gives the id of the whole text, or null where it cannot be kept: then nothing is left out. Lines that say that
 * something failed, where or how much, and those with an address or a negation stay; when there are too many of them, the text stays.
 */
export const shortened = (
  text: string,
  { mostChars }: Shortening,
  keep: (raw: string) => string | null
): string | null => {
  if (text.length <= mostChars || marker.test(text)) return null
  const lines = text.split("\n")
  let head = 0
  for (let room = mostChars / 4; head < lines.length; head += 1) {
    room -= (lines[head]?.length ?? 0) + 1
    if (room < 0) break
  }
  let tail = lines.length
  for (let room = mostChars / 2; tail > head; tail -= 1) {
    room -= (lines[tail - 1]?.length ?? 0) + 1
    if (room < 0) break
  }
  const middle = lines.slice(head, tail)
  const kept = middle.filter((line) => isKept(line) || isTelling(line))
  if (kept.length > mostKept || kept.length === middle.length) return null
  const partOf = (id: string): string =>
    [
      ...lines.slice(0, head),
      ...kept,
      `[ccr: ${middle.length - kept.length} lines left out; whole output: raw-output/${id}]`,
      ...(tail < lines.length ? lines.slice(tail) : [""])
    ].join("\n")
  // An id has 24 characters; what would not become a quarter shorter stays, before anything is kept.
  if (partOf("x".repeat(24)).length > text.length * 0.75) return null
  const id = keep(text)
  return id === null ? null : partOf(id)
}
