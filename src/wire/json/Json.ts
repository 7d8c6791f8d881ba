/** JSON as data, and checks that all wires share. Everything here is total: no throw, no copy. */
import { excessOf, scannedFrom } from "./Excess.ts"

export type Json = null | boolean | number | string | ReadonlyArray<Json> | JsonObject
export interface JsonObject {
  readonly [key: string]: Json | undefined
}

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value)

export const isArray = (value: unknown): value is ReadonlyArray<Json> => Array.isArray(value)

export const isPositiveInteger = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) > 0

/** The object itself, or an empty one. */
export const objectOr = (value: unknown): JsonObject => (isObject(value) ? value : {})

/** The string itself, or null. */
export const stringOr = (value: unknown): string | null => (typeof value === "string" ? value : null)

/** A finite number, or null. */
export const numberOr = (value: unknown): number | null =>
  typeof value === "number" && Number.isFinite(value) ? value : null

/** No real value has more levels; with some thousands `JSON.stringify` overflows the stack. */
export const maxDepth = 512

/** Checks whether objects and arrays are nested deeper than `levels`. */
export const isDeeper = (value: Json | undefined, levels: number): boolean => {
  if (typeof value !== "object" || value === null) return false
  if (levels === 0) return true
  if (isArray(value)) {
    for (const inner of value) if (typeof inner === "object" && isDeeper(inner, levels - 1)) return true
    return false
  }
  // No allocation, because every body is checked. Parsed JSON has own members only.
  for (const key in value) {
    const inner = value[key]
    if (typeof inner === "object" && isDeeper(inner, levels - 1)) return true
  }
  return false
}

/** Parses text; undefined when it is not JSON, or beyond the limits of `Excess.ts` or `maxDepth`. */
export const parseJson = (text: string): Json | undefined => {
  const excess = text.length >= scannedFrom ? excessOf(text) : null
  if (excess === "keys" || excess === "values") return undefined
  try {
    const value: Json = JSON.parse(text)
    // A level takes at least two characters, so short texts need no check.
    return text.length > 2 * maxDepth && isDeeper(value, maxDepth) ? undefined : value
  } catch {
    return undefined
  }
}

/** `{[key]: value}`, or nothing when the value is null or undefined: for optional members of exact types. */
export const optional = <K extends string, V>(key: K, value: V | null | undefined): { readonly [P in K]?: V } =>
  value === null || value === undefined ? {} : ({ [key]: value } as { readonly [P in K]?: V })

/** The members of `body` that are not in `known`; undefined when there is none. Nulls of unknown members are kept. */
export const extrasOf = (body: JsonObject, known: ReadonlySet<string>): JsonObject | undefined => {
  let extras: Record<string, Json | undefined> | undefined
  for (const key of Object.keys(body)) {
    if (known.has(key) || key === "__proto__") continue
    extras ??= {}
    extras[key] = body[key]
  }
  return extras
}

/** The same with `more` members; an empty object when there is none. Does not copy `body`, which may have many members. */
export const extrasWith = (
  body: JsonObject,
  known: ReadonlySet<string>,
  ...more: ReadonlyArray<JsonObject>
): JsonObject => Object.assign(extrasOf(body, known) ?? {}, ...more)

/** Checks whether a member is as good as absent: null, false, or empty. */
export const saysNothing = (value: Json | undefined): boolean =>
  value === undefined || value === null || value === "" || value === false || (isArray(value) && value.length === 0)
