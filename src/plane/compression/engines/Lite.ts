/** The engine `lite`: white space that says nothing, and lines that repeat the line before them. Code keeps its form. Pure. */
import type { Engine } from "../Engine.ts"

const fence = /^ {0,3}(?:```|~~~)/

/** Copies of a line that are left, so that a repetition can still be seen. */
const mostAlike = 2
/** Shorter lines are not worth it: brackets, rules. */
const leastLineChars = 12

/** Blanks at the end of lines, empty lines beyond one, and lines that come a third time in a row. */
export const lite = (text: string): string => {
  const out: Array<string> = []
  let isCode = false
  let alike = 0
  for (const raw of text.replaceAll("\r\n", "\n").split("\n")) {
    const line = isCode ? raw : raw.trimEnd()
    if (fence.test(line)) isCode = !isCode
    const last = out.at(-1)
    alike = line === last ? alike + 1 : 1
    const isEmptyAgain = !isCode && line === "" && last === ""
    const isRepeated = !isCode && line.length >= leastLineChars && alike > mostAlike
    if (!isEmptyAgain && !isRepeated) out.push(line)
  }
  const joined = out.join("\n")
  return joined.trim() === "" ? text : joined
}

export const liteEngine: Engine = {
  name: "lite",
  compress: ({ text }) => {
    const smaller = lite(text)
    return smaller.length < text.length ? smaller : null
  }
}
