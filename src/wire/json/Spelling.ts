/**
 * Members that equal one of a wire's own but for the case of letters (`Messages`). Some programs read them as that member
 * (https://pkg.go.dev/encoding/json#Unmarshal), others leave them out: they are refused, so that a body has one reading.
 */
import { isArray, isObject, type Json, type JsonObject } from "./Json.ts"
import type { Members, ReadMembers } from "./Members.ts"

/** The known members of one place of a request. Where a place holds several kinds of objects, those of all kinds together. */
interface Place {
  /** Known names, by folded name. */
  readonly known: ReadonlyMap<string, string>
  readonly inner: ReadonlyMap<string, Place>
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
  const known = new Map<string, string>()
  const within = new Map<string, Array<ReadMembers>>()
  for (const kind of kinds) {
    for (const [name, members] of Object.entries(kind)) {
      known.set(fold(name), name)
      const inner = placesOf(members)
      if (inner.length > 0) within.set(name, [...(within.get(name) ?? []), ...inner])
    }
  }
  const inner = new Map([...within].map(([name, places]): [string, Place] => [name, placeOf(places, fold)]))
  return { known, inner }
}

/** Makes the check of a wire's requests: the first member of more than one reading, or null. Linear in the members of known places. */
export const makeSpelling = (
  members: ReadMembers,
  { also = {}, takesSnakeCase = false }: SpellingOptions = {}
): ((body: JsonObject) => Misspelt | null) => {
  const fold = takesSnakeCase ? foldedCamel : folded
  const top = placeOf([members, also], fold)

  /** The known member that the name stands for; undefined for one that is not known. */
  const meant = ({ known }: Place, name: string): string | undefined =>
    name.length > maxKnownChars ? undefined : known.get(fold(name))

  const isSpelt = (name: string, as: string): boolean => name === as || (takesSnakeCase && camelName(name) === as)

  const inObject = (place: Place, object: JsonObject, path: string): Misspelt | null => {
    for (const name in object) {
      const as = meant(place, name)
      if (as === undefined) continue
      const own = path === "" ? name : `${path}.${name}`
      if (!isSpelt(name, as)) return { path: own, message: `${own}: the member is spelled '${as}'` }
      if (name !== as && object[as] !== undefined) {
        return { path: own, message: `${own}: the same member is there as '${as}', send it once` }
      }
      const inner = place.inner.get(as)
      const found = inner === undefined ? null : inValue(inner, object[name], own)
      if (found !== null) return found
    }
    return null
  }

  const inValue = (place: Place, value: Json | undefined, path: string): Misspelt | null => {
    if (isObject(value)) return inObject(place, value, path)
    if (!isArray(value)) return null
    for (let index = 0; index < value.length; index += 1) {
      const item = value[index]
      const found = typeof item === "object" ? inValue(place, item, `${path}.${index}`) : null
      if (found !== null) return found
    }
    return null
  }

  return (body) => inObject(top, body, "")
}
