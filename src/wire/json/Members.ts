/**
 * Declares which nested members of a request a wire's decoder reads. Other members cannot be translated, so they are named as dropped.
 * The decoders themselves handle unknown members of the top level.
 */
import { isArray, isObject, type Json, type JsonObject, stringOr } from "./Json.ts"

/**
 * - `true` the member is read with all its content
 * - `each` a list of such values, or a single one
 * - `of` an object with these members; `byType` one whose members depend on its `type` (other types are reported elsewhere as a whole)
 */
export type Members =
  | true
  | { readonly each: Members }
  | { readonly of: ReadMembers }
  | { readonly byType: Readonly<Record<string, ReadMembers>> }

export type ReadMembers = Readonly<Record<string, Members>>

/** Members that are read with all their content. A text may hold several names with spaces between them. */
export const read = (...names: ReadonlyArray<string>): ReadMembers =>
  Object.fromEntries(names.flatMap((name) => name.split(" ")).map((name) => [name, true as const]))

/** Limit of the names, because clients can send any number of unknown members. */
const maxNames = 64

/** The default type, where a message may leave it out. */
const message = "message"

const saysNothing = (value: Json | undefined): boolean =>
  value === null || value === undefined || (typeof value === "object" && Object.keys(value).length === 0)

const typeOf = (object: JsonObject): string => stringOr(object["type"]) ?? (object["role"] === undefined ? "" : message)

/** The same as a member of a conversation; empty when everything is read. */
export const nestedOf = (...given: Parameters<typeof unreadMembers>): { readonly nested?: ReadonlyArray<string> } => {
  const nested = unreadMembers(...given)
  return nested.length === 0 ? {} : { nested }
}

/** Names of the members that are not read, without indexes: `messages.content.document.context`. `spell`: the wire's own spelling. */
export const unreadMembers = (
  top: ReadMembers,
  body: JsonObject,
  spell: (object: JsonObject) => JsonObject = (object) => object
): ReadonlyArray<string> => {
  const found = new Set<string>()
  const walkMembers = (known: ReadMembers, source: JsonObject, at: string): void => {
    for (const [key, value] of Object.entries(spell(source))) {
      const next = Object.hasOwn(known, key) ? known[key] : undefined
      if (next !== undefined) walk(next, value, `${at}.${key}`)
      else if (!saysNothing(value) && found.size < maxNames) found.add(`${at}.${key}`)
    }
  }
  const walk = (node: Members, value: Json | undefined, at: string): void => {
    if (node === true) return
    if ("each" in node) {
      if (isArray(value)) for (const item of value) walk(node.each, item, at)
      else walk(node.each, value, at)
    } else if (!isObject(value)) return
    else if ("of" in node) walkMembers(node.of, value, at)
    else {
      const type = typeOf(value)
      const known = Object.hasOwn(node.byType, type) ? node.byType[type] : undefined
      if (known !== undefined) walkMembers(known, value, type === message ? at : `${at}.${type}`)
    }
  }
  for (const [key, members] of Object.entries(top)) walk(members, body[key], key)
  return [...found]
}
