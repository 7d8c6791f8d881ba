/** Tool arguments and schemas, where wires differ in text versus object and in what may be left out. */
import { isObject, type JsonObject, parseJson } from "../json/Json.ts"

/** Argument text of a function call: a call without arguments is `{}`, never an empty text. */
export const argsText = (args: unknown): string => {
  if (args === undefined || args === null || args === "") return "{}"
  return typeof args === "string" ? args : JSON.stringify(args)
}

/** The arguments as an object; null when the model wrote something else (a cut or broken text). */
export const argsObject = (args: string): JsonObject | null => {
  if (args.trim() === "") return {}
  const parsed = parseJson(args)
  return isObject(parsed) ? parsed : null
}

/** Arguments for wires that take objects only. Text that is no object is kept whole, under one name. */
export const argsAsObject = (args: string): JsonObject => argsObject(args) ?? { arguments: args }

/** A schema every provider takes: an object type, with its properties named even when there are none. */
export const objectSchema = (schema: JsonObject | undefined): JsonObject => {
  if (schema === undefined) return { type: "object", properties: {} }
  if (schema["type"] === "object") return schema["properties"] === undefined ? { ...schema, properties: {} } : schema
  return schema["type"] === undefined || schema["type"] === null
    ? { properties: {}, ...schema, type: "object" }
    : schema
}

const idAlphabet = /[^a-zA-Z0-9_-]/g

/**
 * Rewrites tool-call ids for wires with a narrow alphabet: the same id always gets the same name, and two ids never share one.
 */
export const makeIdRewriter = (): ((id: string) => string) => {
  const given = new Map<string, string>()
  const taken = new Set<string>()
  return (id) => {
    const known = given.get(id)
    if (known !== undefined) return known
    const base = id.replaceAll(idAlphabet, "_") || "call"
    let name = base
    for (let n = 2; taken.has(name); n += 1) name = `${base}_${n}`
    given.set(id, name)
    taken.add(name)
    return name
  }
}
