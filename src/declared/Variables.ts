/** `${NAME}` in the values of a file: put in from the environment. `$${` stands for `${`. Pure. */
import { isArray, isObject, type Json, type JsonObject } from "../wire/json/Json.ts"

const reference = /\$\$\{|\$\{([A-Za-z_]\w*)\}/g

/** Where in a file a value stands: names of members and places in lists. */
export type Path = ReadonlyArray<string | number>

/** A reference to a variable that has no value. */
export interface Gap {
  readonly path: Path
  /** Of the variable. */
  readonly name: string
}

export interface Filled {
  readonly value: Json
  /** In the order of the file. */
  readonly gaps: ReadonlyArray<Gap>
}

/** The value with its references replaced; keys of objects are left as they are. A variable that is empty counts as not set. */
export const filled = (value: Json, environment: ReadonlyMap<string, string>): Filled => {
  const gaps: Array<Gap> = []
  const text = (given: string, path: Path): string =>
    given.replaceAll(reference, (whole, name: string | undefined) => {
      if (name === undefined) return "${"
      const found = environment.get(name)
      if (found === undefined || found === "") gaps.push({ path, name })
      return found ?? whole
    })
  const walk = (each: Json, path: Path): Json => {
    if (typeof each === "string") return text(each, path)
    if (isArray(each)) return each.map((member, at) => walk(member, [...path, at]))
    if (!isObject(each)) return each
    return Object.fromEntries(
      Object.entries(each).map(([name, member]) => [name, walk(member ?? null, [...path, name])])
    ) as JsonObject
  }
  return { value: walk(value, []), gaps }
}

/** A value that must not be read as a reference. */
export const escaped = (text: string): string => text.replaceAll("${", "$${")

/** `OPENAI_WORK_API_KEY` of the parts `openai` and `work`. */
export const variableOf = (...parts: ReadonlyArray<string>): string =>
  `${parts
    .join("_")
    .replaceAll(/[^\dA-Za-z]+/g, "_")
    .replaceAll(/^_+|_+$/g, "")
    .toUpperCase()}_API_KEY`.replace(/^(\d)/, "_$1")
