/** Replaces values anywhere in a JSON text and keeps every other character: numbers, spacing and escapes stay as they were written. */
import { skipSpace, skipString, skipValue } from "./TopLevelSplice.ts"

/** Names of members and indexes of items, from the outside in. */
export type Path = ReadonlyArray<string | number>

/** A value and its new JSON text. */
export interface ValueEdit {
  readonly path: Path
  readonly json: string
}

/** The edits below a value, by name or index. */
interface Branch {
  json: string | null
  readonly below: Map<string, Branch>
}

const branch = (): Branch => ({ json: null, below: new Map() })

const treeOf = (edits: ReadonlyArray<ValueEdit>): Branch => {
  const root = branch()
  for (const { json, path } of edits) {
    let at = root
    for (const step of path) {
      const key = String(step)
      const known = at.below.get(key)
      if (known === undefined) at.below.set(key, (at = branch()))
      else at = known
    }
    at.json = json
  }
  return root
}

/** The name that the string literal at `[from, to)` stands for. */
const nameAt = (text: string, from: number, to: number): string => {
  const literal = text.slice(from, to)
  return literal.includes("\\") ? String(JSON.parse(literal)) : literal.slice(1, -1)
}

/**
 * `text` is JSON that `JSON.parse` reads; edits of values that are not there have no effect. A member that occurs twice is replaced both
 * times, because parsers differ on which one counts. Linear; recursion goes as deep as the paths.
 */
export const spliceValues = (text: string, edits: ReadonlyArray<ValueEdit>): string => {
  if (edits.length === 0) return text
  let out = ""
  let copied = 0

  /** A number that is the whole text has nothing behind it. */
  const endOf = (from: number): number => {
    const end = skipValue(text, from)
    return end < 0 ? text.length : end
  }

  /** Index just after the value at `from`. */
  const walk = (from: number, node: Branch): number => {
    if (node.json !== null) {
      out += text.slice(copied, from) + node.json
      copied = endOf(from)
      return copied
    }
    if (node.below.size > 0 && text[from] === "{") return members(from, node)
    return node.below.size > 0 && text[from] === "[" ? items(from, node) : endOf(from)
  }

  const members = (open: number, node: Branch): number => {
    let at = skipSpace(text, open + 1)
    while (text[at] === '"') {
      const nameEnd = skipString(text, at)
      const below = node.below.get(nameAt(text, at, nameEnd))
      const valueAt = skipSpace(text, skipSpace(text, nameEnd) + 1)
      at = skipSpace(text, below === undefined ? skipValue(text, valueAt) : walk(valueAt, below))
      if (text[at] === ",") at = skipSpace(text, at + 1)
    }
    return at + 1
  }

  const items = (open: number, node: Branch): number => {
    let at = skipSpace(text, open + 1)
    for (let index = 0; at < text.length && text[at] !== "]"; index += 1) {
      const below = node.below.get(String(index))
      at = skipSpace(text, below === undefined ? skipValue(text, at) : walk(at, below))
      if (text[at] === ",") at = skipSpace(text, at + 1)
    }
    return at + 1
  }

  walk(skipSpace(text, text.startsWith("\ufeff") ? 1 : 0), treeOf(edits))
  return out + text.slice(copied)
}
