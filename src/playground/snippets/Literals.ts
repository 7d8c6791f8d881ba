/** Foreign text as literals of shells and programs, which nothing in it can end or change. Pure. */
import { isArray, isObject, type Json } from "../../wire/json/Json.ts"

/** Not seen, or shown in another order than they stand in: they could make a program look like another one. */
const unseen = /[\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/g

const escaped = (text: string): string =>
  text.replace(unseen, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`)

/** A text as JSON, JavaScript, TypeScript and Python all read it: in double quotes. */
export const quoted = (text: string): string => escaped(JSON.stringify(text))

/** One word of a POSIX shell: between single quotes nothing has a meaning. Without NUL, which no argument can hold. */
export const shellWord = (text: string): string => `'${text.replaceAll("\0", "").replaceAll("'", `'\\''`)}'`

interface Words {
  readonly yes: string
  readonly no: string
  readonly nothing: string
}

const ofJson: Words = { yes: "true", no: "false", nothing: "null" }
const ofPython: Words = { yes: "True", no: "False", nothing: "None" }

const written = (value: Json, words: Words, indent: string): string => {
  if (value === null) return words.nothing
  if (typeof value === "boolean") return value ? words.yes : words.no
  if (typeof value === "string") return quoted(value)
  if (typeof value === "number") return JSON.stringify(value)
  const deeper = `${indent}  `
  const [open, close, items] = isArray(value)
    ? ["[", "]", value.map((item) => written(item, words, deeper))]
    : ["{", "}", members(value, words, deeper)]
  if (items.length === 0) return open + close
  return `${open}\n${deeper}${items.join(`,\n${deeper}`)}\n${indent}${close}`
}

const members = (value: Json, words: Words, indent: string): ReadonlyArray<string> =>
  isObject(value)
    ? Object.entries(value).flatMap(([name, member]) =>
        member === undefined ? [] : `${quoted(name)}: ${written(member, words, indent)}`
      )
    : []

/** JSON, which JavaScript and TypeScript read too. `indent`: of the line it begins on. */
export const jsonLiteral = (value: Json, indent = ""): string => written(value, ofJson, indent)

export const pythonLiteral = (value: Json, indent = ""): string => written(value, ofPython, indent)
