/**
 * Homogeneous JSON arrays of objects as columns: names and types once, then one row of values for each object. They may be a whole text, are
 * inside other JSON, or behind lines of text; lines of one object each (NDJSON) are such an array, too. Lossless: values are written as they
 * were spelled, in their order, and everything else stays; only white space between values goes. Pure, linear.
 */
import { type Node, scan } from "./Scan.ts"

export const leastRows = 8
/** Members of an object. */
const mostColumns = 64

const marker = /\[headroom (\d+) (rows|lines)\]\n/

interface Block {
  readonly start: number
  readonly end: number
  readonly text: string
}

const isAlike = (names: ReadonlyArray<string>, others: ReadonlyArray<string>): boolean =>
  names.length === others.length && names.every((name, index) => name === others[index])

/** Names of the members that all have, in one order; null: they have not. */
const columnsOf = (rows: ReadonlyArray<Node>): ReadonlyArray<string> | null => {
  const names = rows[0]?.names ?? []
  if (rows.length < leastRows || names.length === 0 || names.length > mostColumns) return null
  return rows.every((row) => row.kind === "object" && isAlike(row.names, names)) ? names : null
}

/** The value as it is spelled, without the ends of lines inside it; in strings there are none. */
const spelled = (text: string, { end, kind, start }: Node): string => {
  const own = text.slice(start, end)
  return kind === "array" || kind === "object" ? own.replaceAll(/[\r\n]\s*/g, "") : own
}

/** Columns with less to say are not shorter: the marker and the kinds of values come with them. */
const leastSaved = 60

const blockOf = (text: string, rows: ReadonlyArray<Node>, unit: "rows" | "lines"): string | null => {
  const names = columnsOf(rows)
  if (names === null || names.join(":").length * (rows.length - 1) < leastSaved) return null
  const kinds = names.map(() => new Set<string>())
  const lines = rows.map(({ values }) => {
    for (const [index, value] of values.entries()) kinds[index]?.add(value.kind)
    return `[${values.map((value) => spelled(text, value)).join(",")}]`
  })
  const head = names.map((name, index) => `${name}:${[...(kinds[index] ?? [])].toSorted().join("|")}`).join(",")
  return [`[headroom ${rows.length} ${unit}]`, head, ...lines].join("\n")
}

/** The outermost arrays that become shorter as columns. */
const arraysIn = (text: string, node: Node, blocks: Array<Block>): void => {
  if (node.kind === "array") {
    const own = blockOf(text, node.values, "rows")
    if (own !== null && own.length < node.end - node.start) {
      blocks.push({ start: node.start, end: node.end, text: own })
      return
    }
  }
  for (const value of node.values) if (value.values.length > 0) arraysIn(text, value, blocks)
}

const isJson = (text: string): boolean => {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

const lineEnd = (text: string, from: number): number => {
  const end = text.indexOf("\n", from)
  return end < 0 ? text.length : end
}

/** Finds where a value may begin in the line; -1: nowhere. */
const startIn = (text: string, from: number, to: number): number => {
  const line = text.slice(from, to)
  const first = line.length - line.trimStart().length
  const sign = line.charAt(first)
  if (sign === "{" || sign === "[") return from + first
  const inside = line.search(/\{ *"|\[ *\{|\[$|\{$/)
  return inside < 0 ? -1 : from + inside
}

interface Lines {
  readonly rows: ReadonlyArray<Node>
  /** Position at which reading ended. */
  readonly end: number
}

/** Objects of the lines from this one on, each alone on its line and with the same members. */
const linesFrom = (text: string, first: Node): Lines => {
  const rows = [first]
  for (let at = lineEnd(text, first.end) + 1; at < text.length && text.charAt(at) === "{";) {
    const { end: read, node } = scan(text, at)
    if (node === null || !isAlike(node.names, first.names)) return { rows, end: read }
    const end = lineEnd(text, node.end)
    if (node.end > lineEnd(text, at) || text.slice(node.end, end).trim() !== "") return { rows, end: read }
    rows.push(node)
    at = end + 1
  }
  return { rows, end: rows.at(-1)?.end ?? 0 }
}

/** Most of a text that is read, by its length: values that begin and do not end are read more than once. */
const mostReadings = 4

const blocksIn = (text: string): ReadonlyArray<Block> => {
  const blocks: Array<Block> = []
  let left = text.length * mostReadings
  for (let at = 0; at < text.length && left > 0;) {
    const end = lineEnd(text, at)
    const from = at
    const start = startIn(text, from, end)
    at = end + 1
    if (start < 0) continue
    const { end: read, node } = scan(text, start)
    left -= read - start + 1
    if (node === null || node.values.length === 0) continue
    const isAlone =
      node.kind === "object" && start === from && node.end <= end && text.slice(node.end, end).trim() === ""
    const { end: linesEnd, rows } = isAlone ? linesFrom(text, node) : { rows: [], end: node.end }
    const lines = blockOf(text, rows, "lines")
    const last = rows.at(-1)
    if (
      lines !== null &&
      last !== undefined &&
      isJson(`[${rows.map((row) => text.slice(row.start, row.end)).join()}]`)
    ) {
      blocks.push({ start: node.start, end: last.end, text: lines })
      at = last.end + 1
      continue
    }
    left -= linesEnd - node.end
    const own: Array<Block> = []
    arraysIn(text, node, own)
    if (own.length > 0 && isJson(text.slice(node.start, node.end))) blocks.push(...own)
    at = Math.max(at, node.end)
  }
  return blocks
}

/** Hot: writes a tool's text as columns. Null: nothing in it becomes shorter as columns, or it has some already. */
export const columnar = (text: string): string | null => {
  if (!text.includes("{") || marker.test(text)) return null
  let out = ""
  let at = 0
  for (const { end, start, text: block } of blocksIn(text)) {
    out += text.slice(at, start) + block
    at = end
    // What follows begins on a line of its own.
    if (end < text.length) out += "\n"
  }
  if (at === 0) return null
  const result = out + text.slice(at)
  return result.length < text.length ? result : null
}

const rowOf = (names: ReadonlyArray<string>, line: string): string => {
  const { node } = scan(line, 0)
  const values = node?.values ?? []
  return `{${names.map((name, index) => `${name}:${line.slice(values[index]?.start, values[index]?.end)}`).join(",")}}`
}

/** The text that `columnar` made this of, but for the white space between values. */
export const decoded = (text: string): string => {
  let out = ""
  let rest = text
  for (let found = marker.exec(rest); found !== null; found = marker.exec(rest)) {
    const [start, count = "0", unit] = found
    out += rest.slice(0, found.index)
    const [head = "", ...lines] = rest.slice(found.index + start.length).split("\n")
    const names = Array.from(head.matchAll(/("(?:[^"\\]|\\.)*"):[a-z|]+/g), ([, name = '""']) => name)
    const rows = lines.slice(0, Number(count)).map((line) => rowOf(names, line))
    out += unit === "rows" ? `[${rows.join(",")}]` : rows.join("\n")
    rest = lines.slice(Number(count)).join("\n")
  }
  return out + rest
}
