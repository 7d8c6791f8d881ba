/** Text that comes in pieces, made safe for terminals piece by piece. Pure. */
import { harmlessLines } from "../../../../kernel/text/TerminalText.ts"

export interface SafeText {
  /** Text that may be shown now. */
  readonly shown: string
  /** The end of the text so far that means something only with what follows: the first half of a pair. */
  readonly held: string
}

const openEnd = /[\r\ud800-\udbff]$/

/** One more piece. `held` is that of the piece before. */
export const safely = (held: string, piece: string): SafeText => {
  const text = held + piece
  const rest = openEnd.exec(text)?.[0] ?? ""
  return { shown: whole(text.slice(0, text.length - rest.length)), held: rest }
}

const whole = (text: string): string => harmlessLines(text.replaceAll("\r\n", "\n"))

/** Returns the text that was held at the end. */
export const lastOf = (held: string): string => (held === "" ? "" : "?")
