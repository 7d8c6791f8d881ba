/**
 * Statements of the store as Postgres takes them. They are written so that both engines understand them (docs/contributing/adding.md); what is left
 * is done here, by the text: numbered places for parameters, and no hints to SQLite's planner.
 */
import { LruMap } from "../../../kernel/collections/LruMap.ts"

/** Texts in quotes and bodies of functions, which stay as they are, a place of a parameter, or a hint. */
const parts =
  /'(?:[^']|'')*'|"(?:[^"]|"")*"|\$\$[\s\S]*?\$\$|\?|\$\d+|\b(?:NOT INDEXED|INDEXED BY \w+)\b|(?<=(?:AND|OR|WHERE|\() ?)\+(?=[a-z_])|\bLIKE\b|\bjson_group_array\(json_array(?=\()|\bjson_(?:array|group_array)(?=\()/g

const isKept = /^['"$]/
/** Parts of a statement are numbered each for itself, and their parameters are in the order of the places. */
const isPlace = /^\$\d+$/

const known = new LruMap<string, string>({ capacity: 500 })

/**
 * Other names of functions and operators: a list of values, and of the rows of a group. SQLite's LIKE takes no account of the case of A to Z, and ILIKE of no
 * other letters, as texts have the collation "C".
 */
const names: Readonly<Record<string, string>> = {
  LIKE: "ILIKE",
  json_array: "json_texts",
  json_group_array: "json_agg",
  "json_group_array(json_array": "json_agg(json_build_array"
}

const begin = "BEGIN ISOLATION LEVEL SERIALIZABLE"

const rewritten = (text: string): string => {
  if (text === "BEGIN IMMEDIATE") return begin
  let places = 0
  return text.replaceAll(parts, (part) => {
    if (part === "?" || isPlace.test(part)) return `$${++places}`
    const other = names[part]
    if (other !== undefined) return other
    return isKept.test(part) ? part : ""
  })
}

/** Hot: the text for Postgres. */
export const forPostgres = (text: string): string => {
  const before = known.get(text)
  if (before !== undefined) return before
  const now = rewritten(text)
  // Longer ones have a place for each of many values and are seldom the same.
  if (text.length <= 20_000) known.set(text, now)
  return now
}

/** Hot: Postgres keeps no NUL in a text; the sign for what cannot be shown stands in its place. */
export const storable = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(storable)
  return typeof value === "string" && value.includes("\0") ? value.replaceAll("\0", "\u{fffd}") : value
}
