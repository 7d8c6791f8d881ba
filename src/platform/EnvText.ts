/**
 * The settings file of the data folder, `<DATA_DIR>/.env`: one `NAME='value'` per line. Its name, and how it is read and written. A line that
 * cannot be read is a problem with its number: a setting that is left out without a word could be the one that closes the gateway.
 */
import { join } from "node:path"
import { isBlank } from "./EnvValue.ts"

export const envFile = (folder: string): string => join(folder, ".env")

export interface LineProblem {
  /** Number of the line, from 1. */
  readonly line: number
  /** A sentence without its full stop. It holds no part of a value, which may be a secret. */
  readonly problem: string
}

export interface EnvContent {
  readonly values: ReadonlyMap<string, string>
  readonly problems: ReadonlyArray<LineProblem>
}

/** `NAME=value`, `export NAME=value`, and `NAME: value` as in YAML. */
const assignment = /^\s*(?:export\s+)?([A-Za-z_][\w.-]*)(?:\s*=|:(?=\s|$))[^\S\n]*/
/** A line within a quoted value that sets a variable of its own: the quote before it was left open. */
const setsAnother = /\n[^\S\n]*(?:export[^\S\n]+)?([A-Z_][A-Z0-9_]{2,})=(?!=*[^\S\n]*(?:\n|$))/
const curly = /^[\u2018\u2019\u201c\u201d]/
const longestName = 200

/** Longest file that is read. */
export const maxEnvCharacters = 1_048_576

const withoutComment = (text: string): string => {
  if (text.startsWith("#")) return ""
  const at = text.search(/\s#/)
  return (at === -1 ? text : text.slice(0, at)).trim()
}

interface Value {
  readonly value: string
  /** Position at which the rest of the text begins. */
  readonly end: number
}

const lineEnd = (text: string, from: number): number => {
  const at = text.indexOf("\n", from)
  return at === -1 ? text.length : at
}

/** The value in quotes that begins at `start`, or what is wrong with it. */
const quotedValue = (text: string, start: number, lastOf: (quote: string) => number): Value | string => {
  const quote = text[start] ?? ""
  if (lastOf(quote) <= start) return `the quote (${quote}) is not closed`
  const close = text.indexOf(quote, start + 1)
  const inner = text.slice(start + 1, close)
  const another = setsAnother.exec(inner)?.[1]
  if (another !== undefined) return `the quote (${quote}) is not closed before the line that sets ${another}`
  const end = lineEnd(text, close)
  const rest = text.slice(close + 1, end).trim()
  if (rest !== "" && !rest.startsWith("#")) return `there is more behind the closing quote (${quote})`
  return { value: quote === '"' ? inner.replaceAll(String.raw`\n`, "\n") : inner, end }
}

const quotes = ["'", '"', "`"]

const bareValue = (text: string, start: number): Value | string => {
  const end = lineEnd(text, start)
  const value = withoutComment(text.slice(start, end))
  return curly.test(value) ? "the value is in curly quotes; use straight ones" : { value, end }
}

/** Reads the values of a file's text. A blank value does not replace an earlier one. */
export const read = (given: string): EnvContent => {
  if (given.length > maxEnvCharacters) {
    return {
      values: new Map(),
      problems: [{ line: 1, problem: `the file is longer than ${maxEnvCharacters} characters` }]
    }
  }
  if (/[\0\uFFFD]/.test(given)) {
    const line = given.slice(0, given.search(/[\0\uFFFD]/)).split(/\r\n|\r|\n/).length
    return { values: new Map(), problems: [{ line, problem: "the file is no text in UTF-8; save it as UTF-8" }] }
  }
  const text = given.replace(/^\uFEFF/, "").replaceAll(/\r\n?/g, "\n")
  const values = new Map<string, string>()
  const problems: Array<LineProblem> = []
  const last = new Map(quotes.map((quote) => [quote, text.lastIndexOf(quote)]))
  const lastOf = (quote: string): number => last.get(quote) ?? -1
  let line = 1
  for (let at = 0; at < text.length;) {
    const end = lineEnd(text, at)
    const whole = text.slice(at, end)
    let next = end
    if (whole.trim() !== "" && !whole.trimStart().startsWith("#")) {
      const [beginning, name = ""] = assignment.exec(whole) ?? []
      if (beginning === undefined || name.length > longestName) {
        problems.push({ line, problem: "it is neither NAME=value nor a comment that begins with #" })
      } else {
        const start = at + beginning.length
        const found = quotes.includes(text[start] ?? "") ? quotedValue(text, start, lastOf) : bareValue(text, start)
        if (typeof found === "string") problems.push({ line, problem: `${name} cannot be read: ${found}` })
        else {
          if (!isBlank(found.value) || !values.has(name)) values.set(name, found.value)
          next = found.end
        }
      }
    }
    line += text.slice(at, next + 1).split("\n").length - 1
    at = next + 1
  }
  return { values, problems }
}

/** The values of a file's text, without those of lines that cannot be read. */
export const parse = (text: string): ReadonlyMap<string, string> => read(text).values

/** A line that reads back as the same value; null when no quote of the format can hold it. */
export const line = (name: string, value: string): string | null => {
  const quote = quotes.find((mark) => !value.includes(mark))
  // Inside double quotes the format turns `\n` into a line break.
  if (quote === undefined || (quote === '"' && value.includes(String.raw`\n`))) return null
  const written = `${name}=${quote}${value}${quote}`
  // Line breaks of another system, and lines that look like settings, would not come back as they were.
  return parse(written).get(name) === value ? written : null
}

/** Values of the file that were put into the environment of this process. */
let entered: ReadonlyMap<string, string> = new Map()

/** Puts a file's values below those that the environment has. What an earlier file put there gives way first. */
export const enter = (values: ReadonlyMap<string, string>): void => {
  for (const [name, value] of entered) if (process.env[name] === value) delete process.env[name]
  entered = new Map([...values].filter(([name, value]) => !isBlank(value) && isBlank(process.env[name] ?? "")))
  for (const [name, value] of entered) process.env[name] = value
}

/**
 * Checks whether a variable of this process has its value from the file, and not from the program that started the
 * process.
 */
export const isEntered = (name: string): boolean => {
  const value = entered.get(name)
  return value !== undefined && process.env[name] === value
}
