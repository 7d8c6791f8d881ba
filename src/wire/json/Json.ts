/** JSON as data, and the few hand checks that all wires share. Everything here is total: no throw, no copy. */

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

/** Parses text; undefined when it is no JSON. */
export const parseJson = (text: string): Json | undefined => {
  try {
    return JSON.parse(text)
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
