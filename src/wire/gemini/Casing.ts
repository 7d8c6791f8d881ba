/** The wire accepts both spellings of a member, `generationConfig` and `generation_config`. */
import { isArray, isObject, type Json, type JsonObject } from "../json/Json.ts"

// A leading underscore is part of the name.
const snakeStep = /(?<=[a-zA-Z0-9])_([a-z0-9])/g

/**
 * The object with its members in camelCase; the same object when they already are. One level only: the client's own keys (arguments,
 * results, properties of a schema) are not members of the wire.
 */
export const camel = (object: JsonObject): JsonObject => {
  const keys = Object.keys(object)
  if (!keys.some((key) => key.includes("_"))) return object
  const renamed: Record<string, Json | undefined> = {}
  for (const key of keys) {
    const name = key.replaceAll(snakeStep, (_, letter: string) => letter.toUpperCase())
    if (key === "__proto__" || (name !== key && object[name] !== undefined)) continue
    renamed[name] = object[key]
  }
  return renamed
}

/** A repeated member: Google's servers accept a single object as a list of one. */
export const listOf = (value: Json | undefined): ReadonlyArray<Json> | undefined =>
  isArray(value) ? value : isObject(value) ? [value] : undefined
