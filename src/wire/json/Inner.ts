/**
 * Members of a request's inner objects that the gateway does not know. They are taken off when the request is read, and put back where it is written
 * anew for the same wire; elsewhere `Members` names them. For objects of which a request has one: those in lists carry theirs themselves.
 */
import { extrasOf, isObject, type JsonObject } from "./Json.ts"

/** The objects by their places (`response_format.json_schema`), each with the members that its wire's decoder reads. */
export type InnerObjects = Readonly<Record<string, ReadonlySet<string>>>

export interface Inner {
  readonly path: ReadonlyArray<string>
  readonly members: JsonObject
  /** The object has nothing else: it is written for them alone. */
  readonly isAll: boolean
}

type Spell = (object: JsonObject) => JsonObject

const asItIs: Spell = (object) => object

/** As a member of a conversation; empty where everything is known. `spell`: the wire's own spelling. */
export const innerOf = (
  objects: InnerObjects,
  body: JsonObject,
  spell: Spell = asItIs
): { readonly inner?: ReadonlyArray<Inner> } => {
  const found: Array<Inner> = []
  for (const [place, known] of Object.entries(objects)) {
    const path = place.split(".")
    let object: JsonObject | null = body
    for (const name of path) {
      const next: unknown = object === null ? null : spell(object)[name]
      object = isObject(next as JsonObject) ? (next as JsonObject) : null
    }
    if (object === null) continue
    const spelt = spell(object)
    const members = extrasOf(spelt, known)
    if (members === undefined) continue
    found.push({ path, members, isAll: Object.keys(members).length === Object.keys(spelt).length })
  }
  return found.length === 0 ? {} : { inner: found }
}

const put = (
  object: JsonObject,
  [name = "", ...rest]: ReadonlyArray<string>,
  { isAll, members }: Inner
): JsonObject => {
  const there = object[name]
  // What was left out on the way stays out.
  if (!isObject(there) && (!isAll || (there !== undefined && there !== null))) return object
  const inside = isObject(there) ? there : {}
  const changed = rest.length === 0 ? { ...members, ...inside } : put(inside, rest, { path: rest, members, isAll })
  return changed === inside ? object : { ...object, [name]: changed }
}

/** A request of the same wire with them. */
export const withInner = (body: JsonObject, inner: ReadonlyArray<Inner> | undefined): JsonObject =>
  (inner ?? []).reduce((sum, each) => put(sum, each.path, each), body)
