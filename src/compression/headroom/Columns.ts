/**
 * Homogeneous JSON arrays of objects as columns: names and types once, then one row of values for each object. Lossless: the values are JSON
 * and their order is that of the array and of its first object. Pure, linear.
 */
import * as Predicate from "effect/Predicate"

export const leastRows = 8
/** Members of an object. */
const mostColumns = 64

type Row = Readonly<Record<string, unknown>>

const start = "[headroom "

/** `__proto__` as a name would be lost when objects are made of it. */
const namesOf = (row: Row): ReadonlyArray<string> | null => {
  const names = Object.keys(row)
  return names.length === 0 || names.length > mostColumns || names.includes("__proto__") ? null : names
}

/** Null: not all are objects with the same members in the same order. */
const columnsOf = (rows: ReadonlyArray<unknown>): ReadonlyArray<string> | null => {
  const [first] = rows
  if (rows.length < leastRows || !Predicate.isRecord(first) || Array.isArray(first)) return null
  const names = namesOf(first)
  if (names === null) return null
  const isAlike = rows.every((row) => {
    if (!Predicate.isRecord(row) || Array.isArray(row)) return false
    const own = Object.keys(row)
    return own.length === names.length && own.every((name, index) => name === names[index])
  })
  return isAlike ? names : null
}

const typeOf = (value: unknown): string => (value === null ? "null" : Array.isArray(value) ? "array" : typeof value)

const typesOf = (rows: ReadonlyArray<Row>, name: string): string =>
  [...new Set(rows.map((row) => typeOf(row[name])))].toSorted().join("|")

const isRow = (row: unknown): row is Row => Predicate.isRecord(row)

/**
 * Hot: on texts that are a JSON array. Null: the text is none, its objects differ, or columns would not be shorter. Numbers that another
 * program would read otherwise, such as integers beyond 2^53, leave the text as it is.
 */
export const columnar = (text: string): string | null => {
  const trimmed = text.trim()
  if (!trimmed.startsWith("[") || !trimmed.endsWith("]") || trimmed.startsWith(start)) return null
  let value: unknown
  try {
    value = JSON.parse(trimmed)
  } catch {
    return null
  }
  if (!Array.isArray(value)) return null
  const names = columnsOf(value)
  if (names === null) return null
  const rows = value.filter(isRow)
  const head = names.map((name) => `${JSON.stringify(name)}:${typesOf(rows, name)}`).join(",")
  const lines = rows.map((row) => JSON.stringify(names.map((name) => row[name])))
  const result = [`${start}${rows.length} rows]`, head, ...lines].join("\n")
  // Not what is written otherwise than it is read: `1e2`, `1.0`, a number too large, a name that is there twice.
  return result.length < text.length && numbersOf(trimmed) === numbersOf(JSON.stringify(value)) ? result : null
}

/** The text without space between its tokens, strings included as they are read. */
const numbersOf = (json: string): string => {
  const parts: Array<string> = []
  const tokens = /"(?:[^"\\]|\\.)*"|-?\d[-+.0-9eE]*/g
  for (const [token] of json.matchAll(tokens)) parts.push(token.startsWith('"') ? String(JSON.parse(token)) : token)
  return parts.join("\n")
}

/** The value that a text of `columnar` stands for; null when it is none. */
export const decoded = (text: string): ReadonlyArray<unknown> | null => {
  const [first = "", head = "", ...lines] = text.split("\n")
  const count = /^\[headroom (\d+) rows\]$/.exec(first)?.[1]
  if (count === undefined || Number(count) !== lines.length) return null
  const names = Array.from(head.matchAll(/("(?:[^"\\]|\\.)*"):[a-z|]+/g), ([, name = '""']) => String(JSON.parse(name)))
  return lines.map((line) => {
    const values: unknown = JSON.parse(line)
    return Object.fromEntries(names.map((name, index) => [name, Array.isArray(values) ? values[index] : undefined]))
  })
}
