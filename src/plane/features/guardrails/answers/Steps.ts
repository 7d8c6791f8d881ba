/** Work on texts in steps, so that a long one can be done between other work. Pure. */

/** Work that may be left off after each `yield`. */
export type Steps<A> = Generator<void, A, void>

/** Does all of it now. */
export const allOf = <A>(steps: Steps<A>): A => {
  for (;;) {
    const next = steps.next()
    if (next.done === true) return next.value
  }
}

/** Says after how much work a step is over; `most`: characters. */
export class Meter {
  readonly #most: number
  #done = 0

  constructor(most: number) {
    this.#most = most
  }

  /** True: the step is over, and the next one begins with this. */
  isOver(chars: number): boolean {
    this.#done += chars + contextChars
    if (this.#done <= this.#most) return false
    this.#done = chars + contextChars
    return true
  }
}

/** Most characters that are looked at again with each text: the context of the open part, and that. */
const contextChars = 320

/** Parts of a text of at most so many characters. */
export const windowsOf = function* (text: string, chars: number): Generator<string, void, void> {
  for (let at = 0; at < text.length; at += chars) yield text.slice(at, at + chars)
}
