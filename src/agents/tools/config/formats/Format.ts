/** Editing the text of a configuration file at paths, with everything else kept as it is: comments, order, foreign keys. Pure. */
import type { Json } from "../../../../wire/json/Json.ts"

/** The element of a list whose member has a value: set appends it where there is none. */
export interface ElementStep {
  readonly member: string
  readonly is: string
}

/** Path from the root of the document; a text is the name of a member. */
export type Path = ReadonlyArray<string | ElementStep>

/** The file is not in its format, so that it cannot be edited. `message` is a part of a sentence: "is no JSON: …". */
export interface Unreadable {
  readonly _tag: "Unreadable"
  readonly message: string
}

export const unreadable = (message: string): Unreadable => ({ _tag: "Unreadable", message })

export const isUnreadable = (value: unknown): value is Unreadable =>
  typeof value === "object" && value !== null && "_tag" in value && value._tag === "Unreadable"

export interface Format {
  /** The value of the whole text; an empty text is an empty object. */
  readonly parse: (text: string) => Json | Unreadable
  /** Sets a value; only for texts that `parse` reads. */
  readonly set: (text: string, path: Path, value: Json) => string
  /** Removes the value at the path; the text as it is when there is none. */
  readonly remove: (text: string, path: Path) => string
}

const isMap = (value: Json | undefined): value is { readonly [key: string]: Json } =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const indexIn = (list: ReadonlyArray<Json>, { is, member }: ElementStep): number =>
  list.findIndex((element) => isMap(element) && element[member] === is)

const stepInto = (value: Json | undefined, step: string | ElementStep): Json | undefined => {
  if (typeof step === "string") return isMap(value) ? value[step] : undefined
  return Array.isArray(value) ? (value as ReadonlyArray<Json>)[indexIn(value as ReadonlyArray<Json>, step)] : undefined
}

/** Finds the value at a path; undefined: none. */
export const valueAt = (value: Json | undefined, path: Path): Json | undefined =>
  path.reduce<Json | undefined>(stepInto, value)

/** The path with indices in the place of elements; one behind the last where there is no such element. */
export const indexed = (value: Json, path: Path): Array<string | number> => {
  const steps: Array<string | number> = []
  let at: Json | undefined = value
  for (const step of path) {
    if (typeof step === "string") steps.push(step)
    else {
      const list: ReadonlyArray<Json> = Array.isArray(at) ? (at as ReadonlyArray<Json>) : []
      const index = indexIn(list, step)
      steps.push(index === -1 ? list.length : index)
    }
    at = stepInto(at, step)
  }
  return steps
}
