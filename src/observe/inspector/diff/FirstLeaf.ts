/** The first place, in reading order, at which two JSON values differ. Pure. */
import { isArray, isObject, type Json, type JsonObject } from "../../../wire/json/Json.ts"
import { itemPath, memberPath } from "./Paths.ts"

/** Undefined: not there. */
export interface LeafDifference {
  readonly path: string
  readonly before: Json | undefined
  readonly after: Json | undefined
}

const ofLists = (before: ReadonlyArray<Json>, after: ReadonlyArray<Json>, path: string): LeafDifference | null => {
  const most = Math.min(before.length, after.length)
  for (let at = 0; at < most; at += 1) {
    const found = firstLeaf(before[at], after[at], itemPath(path, at))
    if (found !== null) return found
  }
  if (before.length === after.length) return null
  return { path: itemPath(path, most), before: before[most], after: after[most] }
}

const ofObjects = (before: JsonObject, after: JsonObject, path: string): LeafDifference | null => {
  const [olds, news] = [Object.keys(before), Object.keys(after)]
  for (let at = 0; at < Math.max(olds.length, news.length); at += 1) {
    const [old, now] = [olds[at], news[at]]
    if (old !== undefined && old === now) {
      const found = firstLeaf(before[old], after[old], memberPath(path, old))
      if (found !== null) return found
    } else if (now !== undefined && !Object.hasOwn(before, now)) {
      return { path: memberPath(path, now), before: undefined, after: after[now] }
    } else if (old !== undefined && !Object.hasOwn(after, old)) {
      return { path: memberPath(path, old), before: before[old], after: undefined }
      // The same members in another order are other bytes.
    } else return { path, before, after }
  }
  return null
}

/** Null when both are the same, members in the same order included. */
export const firstLeaf = (before: Json | undefined, after: Json | undefined, path: string): LeafDifference | null => {
  if (isArray(before) && isArray(after)) return ofLists(before, after, path)
  if (isObject(before) && isObject(after)) return ofObjects(before, after, path)
  return before === after ? null : { path, before, after }
}
