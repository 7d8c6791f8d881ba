/** `${NAME}` in the values of a file: put in from the environment. `$${` stands for `${`. Pure. */
import { isArray, isObject, type Json, type JsonObject } from "../../wire/json/Json.ts"

const reference = /\$\$\{|\$\{([A-Za-z_]\w*)\}/g

/** Path of a value in a file: names of members and places in lists. */
export type Path = ReadonlyArray<string | number>

/** A reference to a variable that has no value. */
export interface Gap {
  readonly path: Path
  /** Name of the variable. */
  readonly name: string
}

export interface Filled {
  readonly value: Json
  /** Gaps in the order of the file. */
  readonly gaps: ReadonlyArray<Gap>
}

/** The value with its references replaced; keys of objects are left as they are. A variable that is empty counts as not set. */
export const filled = (value: Json, environment: ReadonlyMap<string, string>): Filled => {
  const gaps: Array<Gap> = []
  /** Path of the walk. */
  const path: Array<string | number> = []
  const text = (given: string): string =>
    given.replaceAll(reference, (whole, name: string | undefined) => {
      if (name === undefined) return "${"
      const found = environment.get(name)
      if (found === undefined || found === "") gaps.push({ path: [...path], name })
      return found ?? whole
    })
  const within = (step: string | number, member: Json): Json => {
    path.push(step)
    const done = walk(member)
    path.pop()
    return done
  }
  const walk = (each: Json): Json => {
    if (typeof each === "string") return text(each)
    if (isArray(each)) return each.map((member, at) => within(at, member))
    if (!isObject(each)) return each
    return Object.fromEntries(
      Object.entries(each).map(([name, member]) => [name, within(name, member ?? null)])
    ) as JsonObject
  }
  return { value: walk(value), gaps }
}

/** A value that must not be read as a reference. */
export const escaped = (text: string): string => text.replaceAll("${", () => "$${")

/** `OPENAI_WORK_API_KEY` of the parts `openai` and `work`. */
export const variableOf = (...parts: ReadonlyArray<string>): string =>
  `${parts
    .join("_")
    .replaceAll(/[^\dA-Za-z]+/g, "_")
    .replaceAll(/^_+|_+$/g, "")
    .toUpperCase()}_API_KEY`.replace(/^(\d)/, "_$1")
