/**
 * Members that equal one of a wire's own but for the case of letters (`Messages`). Some programs read them as that member
 * (https://pkg.go.dev/encoding/json#Unmarshal), others leave them out: they are refused, so that a body has one reading.
 */
import { isArray, isObject, type Json, type JsonObject } from "./Json.ts"
import type { Members, ReadMembers } from "./Members.ts"

/** The known members of one place of a request. Where a place holds several kinds of objects, those of all kinds together. */
interface Place {
  /** By the name as it is spelled: the known members of its own value; null where those are not known. */
  readonly members: ReadonlyMap<string, Place | null>
  /** The spelled names by their folded form. */
  readonly folded: ReadonlyMap<string, string>
}

export interface SpellingOptions {
  /** The wire accepts both `generationConfig` and `generation_config`. Known members are in camelCase. */
  readonly takesSnakeCase?: boolean
  /** More members of the same places. */
  readonly also?: ReadMembers
}

/** A member of more than one reading: its path, and why it is refused. */
export interface Misspelt {
  readonly path: string
  readonly message: string
}

/** No member of a wire is as long. */
const maxKnownChars = 64

// To upper case and back: letters beyond ASCII that other programs fold to ASCII (U+017F, U+212A) become those letters.
const folded = (name: string): string => name.toUpperCase().toLowerCase()
// A leading underscore is part of the name.
const foldedCamel = (name: string): string => folded(name).replaceAll(/(?<!^)_/g, "")

const snakeStep = /(?<=[a-zA-Z0-9])_([a-z0-9])/g
const camelName = (name: string): string => name.replaceAll(snakeStep, (_, letter: string) => letter.toUpperCase())

const placesOf = (members: Members): ReadonlyArray<ReadMembers> => {
  if (members === true) return []
  if ("each" in members) return placesOf(members.each)
  return "of" in members ? [members.of] : Object.values(members.byType)
}

const placeOf = (kinds: ReadonlyArray<ReadMembers>, fold: (name: string) => string): Place => {
  const inner = new Map<string, Array<ReadMembers>>()
  for (const kind of kinds) {
    for (const [name, members] of Object.entries(kind)) {
      inner.set(name, [...(inner.get(name) ?? []), ...placesOf(members)])
    }
  }
  const members = new Map<string, Place | null>()
  const names = new Map<string, string>()
  for (const [name, places] of inner) {
    members.set(name, places.length === 0 ? null : placeOf(places, fold))
    names.set(fold(name), name)
  }
  return { members, folded: names }
}

/** Puts the name of the member or item around what was found in it. */
const within = (name: string, found: Misspelt | null): Misspelt | null =>
  found === null ? null : { path: `${name}.${found.path}`, message: found.message }

/** Makes the check of a wire's requests: the first member of more than one reading, or null. Linear in the members of known places. */
export const makeSpelling = (
  members: ReadMembers,
  { also = {}, takesSnakeCase = false }: SpellingOptions = {}
): ((body: JsonObject) => Misspelt | null) => {
  const fold = takesSnakeCase ? foldedCamel : folded
  const top = placeOf([members, also], fold)

  const isSpelt = (name: string, as: string): boolean => takesSnakeCase && camelName(name) === as

  /** Looks at a member that is not spelled as a known one. */
  const otherwiseSpelt = (place: Place, object: JsonObject, name: string): Misspelt | null => {
    const as = name.length > maxKnownChars ? undefined : place.folded.get(fold(name))
    if (as === undefined) return null
    if (!isSpelt(name, as)) return { path: name, message: `the member is spelled '${as}'` }
    if (object[as] !== undefined) return { path: name, message: `the same member is there as '${as}', send it once` }
    const inner = place.members.get(as) ?? null
    return inner === null ? null : within(name, inValue(inner, object[name]))
  }

  const inObject = (place: Place, object: JsonObject): Misspelt | null => {
    for (const name in object) {
      const inner = place.members.get(name)
      if (inner === null) continue
      if (inner === undefined) {
        const found = otherwiseSpelt(place, object, name)
        if (found !== null) return found
        continue
      }
      const value = object[name]
      const found = typeof value === "object" ? inValue(inner, value) : null
      if (found !== null) return within(name, found)
    }
    return null
  }

  const inValue = (place: Place, value: Json | undefined): Misspelt | null => {
    if (!isArray(value)) return isObject(value) ? inObject(place, value) : null
    for (let index = 0; index < value.length; index += 1) {
      const item = value[index]
      const found = typeof item === "object" ? inValue(place, item) : null
      if (found !== null) return within(String(index), found)
    }
    return null
  }

  return (body) => {
    const found = inObject(top, body)
    return found === null ? null : { path: found.path, message: `${found.path}: ${found.message}` }
  }
}
