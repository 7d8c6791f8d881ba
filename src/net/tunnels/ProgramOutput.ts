/** Output of helper programs, as part of a sentence for people. */
import { harmless } from "../../kernel/text/TerminalText.ts"

const mostReadChars = 4_096
const mostShownChars = 200

/** Absolute paths of this machine are of no use elsewhere, and are not shown there. */
const paths = /(^|[\s"'([=])(?:\/|~\/|[A-Za-z]:\\)[^\s"')\]]+/g

/** One line, without paths, control characters and a full stop at its end; cut. */
export const shownWords = (text: string): string => {
  const line = harmless(text.slice(0, mostReadChars).trim())
    .replace(paths, "$1…")
    .replace(/[.\s]+$/, "")
  return line.length > mostShownChars ? `${line.slice(0, mostShownChars)}…` : line
}
