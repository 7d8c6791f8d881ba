/** Lays out help: headings, and lists of a name and a text that is wrapped beside it. */
import { stripVTControlCharacters } from "node:util"

/** No help is wider. */
export const mostColumns = 100
const leastText = 24
const indent = "  "

/** A text in lines of at most `width` characters, broken between words. A longer word stays whole. */
export const wrap = (text: string, width: number): ReadonlyArray<string> => {
  const lines: Array<string> = []
  let line = ""
  for (const word of text.split(/\s+/).filter((each) => each !== "")) {
    if (line !== "" && line.length + 1 + word.length > width) {
      lines.push(line)
      line = word
    } else {
      line = line === "" ? word : `${line} ${word}`
    }
  }
  return line === "" ? lines : [...lines, line]
}

export interface Page {
  readonly width: number
  readonly bold: (text: string) => string
}

export const heading = (page: Page, text: string): string => page.bold(text)

/** Names in a column of their own and texts beside them; below them where the screen is too narrow for both. */
export const list = (
  page: Page,
  entries: ReadonlyArray<readonly [name: string, text: string]>
): ReadonlyArray<string> => {
  const longest = Math.max(0, ...entries.map(([name]) => stripVTControlCharacters(name).length))
  const room = page.width - indent.length - longest - 2
  return entries.flatMap(([name, text]) => {
    if (room < leastText) return [`${indent}${name}`, ...wrap(text, page.width - 6).map((line) => `      ${line}`)]
    const [first = "", ...others] = wrap(text, room)
    const gap = " ".repeat(longest - stripVTControlCharacters(name).length + 2)
    return [
      `${indent}${name}${gap}${first}`.trimEnd(),
      ...others.map((line) => `${indent}${" ".repeat(longest + 2)}${line}`)
    ]
  })
}

export const examples = (page: Page, lines: ReadonlyArray<string>): ReadonlyArray<string> =>
  lines.length === 0
    ? []
    : ["", heading(page, "Examples"), ...lines.map((line) => `${indent}gateway ${line}`.trimEnd())]
