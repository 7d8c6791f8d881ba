/**
 * Finds personal data in a text that comes in pieces. What can still become a finding is left open; everything before it is settled and
 * is never looked at again, except as the context of what follows. A class, because one is made for each string of an answer.
 */
import type { Finding, TextGuard } from "./TextGuard.ts"

/** Settled text that is kept, so that a detector sees what is before a finding. */
const contextChars = 64

/** Size of the open part, in characters, from which it is looked at again only when enough of it can be settled. */
const muchOpenChars = 2_048

const isWorth = (settled: number, open: number): boolean => settled > (open > muchOpenChars ? open / 16 : 0)

export type OnFinding = (start: number, end: number, finding: Finding) => void

export class Matcher {
  readonly #guard: TextGuard
  readonly #found: OnFinding
  /** Context, then what is open. */
  #text = ""
  /** Positions in the source of the characters of `#text`; null where they follow one another from `#base`. */
  #places: Array<number> | null
  #base: number
  /** Position of the source's end. */
  #end: number
  /** Position at which the open part of `#text` begins. */
  #open = 0

  /** `base`: where the text begins in its source. `isMapped`: its characters have places of their own there (escapes). */
  constructor(guard: TextGuard, base: number, isMapped: boolean, found: OnFinding) {
    this.#guard = guard
    this.#found = found
    this.#base = base
    this.#end = base
    this.#places = isMapped ? [] : null
  }

  /** Adds text, which is at `places` of the source and ends at `end`. */
  add(text: string, places: ReadonlyArray<number> | null, end: number): void {
    this.#text += text
    this.#end = end
    if (this.#places !== null && places !== null) for (const place of places) this.#places.push(place)
  }

  /** Settles what can be. `isOver`: nothing follows, or what does is another text for the client. */
  settle(isOver: boolean): void {
    const text = this.#text
    if (this.#open === text.length) return
    const { find, longestMatchChars, openFrom } = this.#guard
    let open = isOver ? text.length : Math.max(this.#open, openFrom(text), text.length - longestMatchChars)
    if (!isOver && !isWorth(open - this.#open, text.length - this.#open)) return
    const findings = find(text)
    for (const { end, start } of findings) if (start < open && end > open) open = Math.max(this.#open, start)
    for (const finding of findings) {
      if (finding.start >= open) break
      if (finding.end <= this.#open) continue
      // What was settled before it became a finding has gone out.
      this.#found(this.#at(Math.max(finding.start, this.#open)), this.#at(finding.end), finding)
    }
    this.#open = open
    this.#trim()
  }

  /** Returns the position at which the open part begins in the source. */
  openAt(): number {
    return this.#at(this.#open)
  }

  #at(index: number): number {
    if (index >= this.#text.length) return this.#end
    return this.#places === null ? this.#base + index : (this.#places[index] ?? this.#end)
  }

  #trim(): void {
    const excess = this.#open - contextChars
    // Not for each piece: copying is work, too.
    if (excess < contextChars) return
    // A word that is cut looks like another one.
    const blank = this.#text.slice(excess, this.#open).search(/\s/)
    const cut = blank < 0 ? excess : excess + blank
    this.#text = this.#text.slice(cut)
    this.#places = this.#places?.slice(cut) ?? null
    this.#base += cut
    this.#open -= cut
  }
}
