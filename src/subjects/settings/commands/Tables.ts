/** Settings as names with dots and values, and changes of them as `name=value`. Pure. */
import * as Either from "effect/Either"
import * as Predicate from "effect/Predicate"

export interface Setting {
  /** Name such as `timeouts.totalMs`. */
  readonly name: string
  readonly value: unknown
}

const isGroup = (value: unknown): value is Readonly<Record<string, unknown>> =>
  Predicate.isRecord(value) && !Array.isArray(value)

/** The settings within a group, each with its whole name. Empty groups are settings themselves. */
export const settingsOf = (value: unknown, name = ""): ReadonlyArray<Setting> =>
  isGroup(value) && (name === "" || Object.keys(value).length > 0)
    ? Object.entries(value).flatMap(([key, inner]) => settingsOf(inner, name === "" ? key : `${name}.${key}`))
    : [{ name, value }]

/** A value on one line. */
export const valueText = (value: unknown): string => (typeof value === "string" ? value : JSON.stringify(value))

const at = (settings: unknown, path: ReadonlyArray<string>): unknown =>
  path.reduce<unknown>((value, key) => (isGroup(value) && Object.hasOwn(value, key) ? value[key] : undefined), settings)

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

/** The value that a text means, judged by the value that is there. The contract decides whether it fits. */
const valueOf = (text: string, current: unknown): unknown => {
  if (typeof current === "string") return text
  const value = parsed(text)
  if (Array.isArray(current) && !Array.isArray(value))
    return text === "" ? [] : text.split(",").map((each) => each.trim())
  return value
}

const put = (
  target: Readonly<Record<string, unknown>>,
  [key = "", ...rest]: ReadonlyArray<string>,
  value: unknown
): Readonly<Record<string, unknown>> => {
  const inner = target[key]
  return { ...target, [key]: rest.length === 0 ? value : put(isGroup(inner) ? inner : {}, rest, value) }
}

/** The part of the settings that changes say. Left: the name that is none of them. */
export const patchOf = (
  settings: unknown,
  changes: ReadonlyArray<readonly [name: string, text: string]>
): Either.Either<Readonly<Record<string, unknown>>, string> => {
  let patch: Readonly<Record<string, unknown>> = {}
  for (const [name, text] of changes) {
    const path = name.split(".")
    const current = at(settings, path)
    if (current === undefined) return Either.left(name)
    patch = put(patch, path, valueOf(text, current))
  }
  return Either.right(patch)
}
