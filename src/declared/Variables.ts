/** `${NAME}` in the values of a file: put in from the environment. `$${` stands for `${`. Pure. */
import { isArray, isObject, type Json, type JsonObject } from "../wire/json/Json.ts"

const reference = /\$\$\{|\$\{([A-Za-z_]\w*)\}/g

export interface Filled {
  readonly value: Json
  /** Names that the environment does not have, each once. */
  readonly unset: ReadonlyArray<string>
}

/** The value with its references replaced; keys of objects are left as they are. */
export const filled = (value: Json, environment: ReadonlyMap<string, string>): Filled => {
  const unset = new Set<string>()
  const text = (given: string): string =>
    given.replaceAll(reference, (whole, name: string | undefined) => {
      if (name === undefined) return "${"
      const found = environment.get(name)
      if (found === undefined || found === "") unset.add(name)
      return found ?? whole
    })
  const walk = (each: Json): Json => {
    if (typeof each === "string") return text(each)
    if (isArray(each)) return each.map(walk)
    if (!isObject(each)) return each
    return Object.fromEntries(Object.entries(each).map(([name, member]) => [name, walk(member ?? null)])) as JsonObject
  }
  return { value: walk(value), unset: [...unset] }
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
