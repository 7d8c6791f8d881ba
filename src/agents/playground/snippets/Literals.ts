/** Foreign text as literals of shells and programs, which nothing in it can end or change. Pure. */
import { isArray, isObject, type Json } from "../../../wire/json/Json.ts"

/**
 * Pattern of characters that are invisible, or shown in another order than they are in: they could make a program look
 * like another one.
 */
const unseen = /[\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/g

const escaped = (text: string): string =>
  text.replace(unseen, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`)

/** A text as JSON, JavaScript, TypeScript and Python all read it: in double quotes. */
export const quoted = (text: string): string => escaped(JSON.stringify(text))

/** One word of a POSIX shell: between single quotes nothing has a meaning. Without NUL, which no argument can hold. */
export const shellWord = (text: string): string => `'${text.replaceAll("\0", "").replaceAll("'", `'\\''`)}'`

/** Literals of a language that are not texts. */
interface Language {
  readonly yes: string
  readonly no: string
  readonly nothing: string
  readonly minusZero: string
  readonly name: (text: string) => string
}

const json: Language = { yes: "true", no: "false", nothing: "null", minusZero: "-0", name: quoted }
// Between quotes alone it would set the prototype.
const script: Language = { ...json, name: (text) => (text === "__proto__" ? `["__proto__"]` : quoted(text)) }
// `-0` is an integer there, which has no sign.
const python: Language = { yes: "True", no: "False", nothing: "None", minusZero: "-0.0", name: quoted }

const written = (value: Json, language: Language, indent: string): string => {
  if (value === null) return language.nothing
  if (typeof value === "boolean") return value ? language.yes : language.no
  if (typeof value === "string") return quoted(value)
  if (typeof value === "number") return Object.is(value, -0) ? language.minusZero : JSON.stringify(value)
  const deeper = `${indent}  `
  const [open, close, items] = isArray(value)
    ? ["[", "]", value.map((item) => written(item, language, deeper))]
    : ["{", "}", members(value, language, deeper)]
  if (items.length === 0) return open + close
  return `${open}\n${deeper}${items.join(`,\n${deeper}`)}\n${indent}${close}`
}

const members = (value: Json, language: Language, indent: string): ReadonlyArray<string> =>
  isObject(value)
    ? Object.entries(value).flatMap(([name, member]) =>
        member === undefined ? [] : `${language.name(name)}: ${written(member, language, indent)}`
      )
    : []

/** `indent`: of the line it begins on, here and below. */
export const jsonLiteral = (value: Json, indent = ""): string => written(value, json, indent)

/** Writes a literal of JavaScript and TypeScript. */
export const scriptLiteral = (value: Json, indent = ""): string => written(value, script, indent)

export const pythonLiteral = (value: Json, indent = ""): string => written(value, python, indent)
