/** Tool arguments and schemas: wires differ in text versus object and in what may be left out. */
import { isObject, type JsonObject, parseJson } from "../../json/Json.ts"

/** Argument text of a function call: `{}` for a call without arguments, never an empty text. */
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

/** Arguments for wires that accept objects only. Text that is not an object is kept under one name. */
export const argsAsObject = (args: string): JsonObject => argsObject(args) ?? { arguments: args }

/** A schema every provider accepts: an object type, with `properties` even when there are none. */
export const objectSchema = (schema: JsonObject | undefined): JsonObject => {
  if (schema === undefined) return { type: "object", properties: {} }
  if (schema["type"] === "object") return schema["properties"] === undefined ? { ...schema, properties: {} } : schema
  return schema["type"] === undefined || schema["type"] === null
    ? { properties: {}, ...schema, type: "object" }
    : schema
}
