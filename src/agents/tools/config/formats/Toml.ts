/** TOML; comments and order are kept. A table that is not there yet becomes a section at the end. */
import { parse, patch, stringify } from "@decimalturn/toml-patch"
import type { Json } from "../../../../wire/json/Json.ts"
import { type Format, type Path, unreadable, type Unreadable, valueAt } from "./Format.ts"

type Table = Record<string, unknown>

const isTable = (value: unknown): value is Table =>
  typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof Date)

const parsed = (text: string): Json | Unreadable => {
  try {
    return parse(text) as Json
  } catch (error) {
    const message = error instanceof Error ? (error.message.split("\n")[0] ?? "") : ""
    return unreadable(`is no TOML: ${message}`)
  }
}

const names = (path: Path): ReadonlyArray<string> =>
  path.map((step) => {
    if (typeof step !== "string") throw new TypeError("Lists of tables are not edited.")
    return step
  })

const bare = (name: string): string => (/^[\w-]+$/.test(name) ? name : JSON.stringify(name))

const section = (text: string, path: ReadonlyArray<string>, value: Table): string => {
  const before = text === "" || text.endsWith("\n\n") ? text : text.endsWith("\n") ? `${text}\n` : `${text}\n\n`
  return `${before}[${path.map(bare).join(".")}]\n${stringify(value).trimEnd()}\n`
}

const parentOf = (root: Table, path: ReadonlyArray<string>): Table => {
  let at = root
  for (const name of path.slice(0, -1)) {
    const next = at[name]
    if (isTable(next)) at = next
    else {
      const made: Table = {}
      at[name] = made
      at = made
    }
  }
  return at
}

export const toml: Format = {
  parse: parsed,
  set: (text, path, value) => {
    const steps = names(path)
    if (isTable(value) && valueAt(parsed(text) as Json, path) === undefined) return section(text, steps, value)
    const root = parse(text) as Table
    parentOf(root, steps)[steps.at(-1) ?? ""] = value
    const after = patch(text, root)
    return after === "" || after.endsWith("\n") ? after : `${after}\n`
  },
  remove: (text, path) => {
    const steps = names(path)
    if (valueAt(parsed(text) as Json, path) === undefined) return text
    const root = parse(text) as Table
    delete parentOf(root, steps)[steps.at(-1) ?? ""]
    return patch(text, root)
  }
}
