/**
 * Members that are repeated in their object. JSON does not forbid them, and programs differ in which one they read: the first, the last, all
 * (https://www.rfc-editor.org/rfc/rfc8259#section-4).
 */
import { isArray, type Json } from "./Json.ts"

/** Counts the members of all objects in the value. Its depth was bounded before. */
export const membersIn = (value: Json | undefined): number => {
  if (typeof value !== "object" || value === null) return 0
  let count = 0
  if (isArray(value)) {
    for (const inner of value) if (typeof inner === "object") count += membersIn(inner)
    return count
  }
  // No allocation, because every body is counted. Parsed JSON has own members only.
  for (const key in value) {
    count += 1
    const inner = value[key]
    if (typeof inner === "object") count += membersIn(inner)
  }
  return count
}

const quote = 34
const backslash = 92

/** Characters of a name in a path. */
export const maxNameChars = 64

/** Index just after the string that opens at `open`, in JSON that was parsed before. */
const afterString = (text: string, open: number): number => {
  let at = open + 1
  while (text.charCodeAt(at) !== quote) at += text.charCodeAt(at) === backslash ? 2 : 1
  return at + 1
}

interface Level {
  /** Names so far; null in an array. */
  readonly names: Set<string> | null
  /** Path of the object or array. */
  readonly path: string
  /** The name of the current member; null before its colon. */
  name: string | null
  index: number
}

const pathIn = ({ index, name, names, path }: Level): string => {
  const own = names === null ? String(index) : (name ?? "").slice(0, maxNameChars)
  return path === "" ? own : `${path}.${own}`
}

/** Path of the first repeated member (`messages.0.role`) in a text that is JSON and has one. */
export const repeatedMember = (text: string): string => {
  const levels: Array<Level> = []
  let at = 0
  while (at < text.length) {
    const level = levels.at(-1)
    switch (text[at]) {
      case '"': {
        const end = afterString(text, at)
        if (level !== undefined && level.names !== null && level.name === null) {
          level.name = String(JSON.parse(text.slice(at, end)))
          if (level.names.has(level.name)) return pathIn(level)
          level.names.add(level.name)
        }
        at = end
        continue
      }
      case "{":
      case "[":
        levels.push({
          names: text[at] === "{" ? new Set() : null,
          path: level === undefined ? "" : pathIn(level),
          name: null,
          index: 0
        })
        break
      case "}":
      case "]":
        levels.pop()
        break
      case ",":
        if (level !== undefined) {
          level.name = null
          level.index += 1
        }
        break
      default:
    }
    at += 1
  }
  return "body"
}
