import { isArray, isObject, type Json } from "./Json.ts"

/** Checks whether two values are the same JSON; members may be in any order. */
export const isEqual = (left: Json | undefined, right: Json | undefined): boolean => {
  if (isArray(left)) {
    return isArray(right) && left.length === right.length && left.every((item, at) => isEqual(item, right[at]))
  }
  if (!isObject(left)) return left === right
  if (!isObject(right)) return false
  const names = Object.keys(left)
  return (
    names.length === Object.keys(right).length &&
    names.every((name) => Object.hasOwn(right, name) && isEqual(left[name], right[name]))
  )
}
