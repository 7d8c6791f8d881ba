/** Changes to a file of a tool: the values set, and their undoing, which keeps later changes by others. Pure. */
import type { Json } from "../../../wire/json/Json.ts"
import { type Format, isUnreadable, type Path, unreadable, type Unreadable, valueAt } from "./formats/Format.ts"

export interface Edit {
  readonly path: Path
  readonly value: Json
  /** True when it is set only where no value is: it is needed by the file, and may be the user's own. */
  readonly unlessThere?: true
}

const equal = (left: Json | undefined, right: Json | undefined): boolean =>
  JSON.stringify(left) === JSON.stringify(right)

const isList = (value: Json): boolean => Array.isArray(value)

/** Describes why a path cannot be set: a value without members is in its place; null: it can. */
const obstacle = (root: Json, path: Path): string | null => {
  for (let length = 1; length < path.length; length += 1) {
    const here = valueAt(root, path.slice(0, length))
    if (here === undefined) return null
    const fits =
      typeof path[length] === "string" ? typeof here === "object" && here !== null && !isList(here) : isList(here)
    if (!fits) return `has something else at '${path.slice(0, length).map(nameOf).join(".")}'`
  }
  return null
}

const nameOf = (step: Path[number]): string => (typeof step === "string" ? step : step.is)

/** The text with a value put in. Editors of formats know texts that they cannot edit, such as a table within a line of TOML. */
const put = (format: Format, text: string, { path, value }: Edit): string | Unreadable => {
  const cannot = unreadable(`cannot be edited at '${path.map(nameOf).join(".")}'`)
  try {
    const after = format.set(text, path, value)
    const root = format.parse(after)
    return isUnreadable(root) || !equal(valueAt(root, path), value) ? cannot : after
  } catch {
    return cannot
  }
}

const within = (inner: Path, outer: Path): boolean =>
  inner.length >= outer.length && outer.every((step, at) => JSON.stringify(step) === JSON.stringify(inner[at]))

/** Selects the paths that were set before and that these edits do not concern. */
export const staleOf = (paths: ReadonlyArray<Path>, edits: ReadonlyArray<Edit>): ReadonlyArray<Path> => {
  const set = new Set(edits.map(({ path }) => JSON.stringify(path)))
  return paths.filter(
    (path) =>
      !set.has(JSON.stringify(path)) && !edits.some((edit) => within(edit.path, path) || within(path, edit.path))
  )
}

/** The text with all edits; the same text when they are there already. An empty text: the file is not there yet. */
export const applied = (format: Format, text: string, edits: ReadonlyArray<Edit>): string | Unreadable => {
  const root = format.parse(text)
  if (isUnreadable(root)) return root
  let now = text
  for (const { path, unlessThere, value } of edits) {
    const present = format.parse(now)
    if (isUnreadable(present)) return present
    const there = valueAt(present, path)
    if (equal(there, value) || (unlessThere === true && there !== undefined)) continue
    const problem = obstacle(present, path)
    const after = problem === null ? put(format, now, { path, value }) : unreadable(problem)
    if (isUnreadable(after)) return after
    now = after
  }
  return now
}

const isEmpty = (value: Json | undefined): boolean =>
  typeof value === "object" && value !== null && Object.keys(value).length === 0

/** Removes the parents that only held the removed member. */
const pruned = (format: Format, text: string, path: Path, former: Json): string => {
  let now = text
  for (let length = path.length - 1; length > 0; length -= 1) {
    const parent = path.slice(0, length)
    const root = format.parse(now)
    if (isUnreadable(root) || !isEmpty(valueAt(root, parent)) || valueAt(former, parent) !== undefined) return now
    now = format.remove(now, parent)
  }
  return now
}

/** The text with what was at the paths before; `former` is the text before the edits, empty where there was no file. */
export const reverted = (
  format: Format,
  text: string,
  former: string,
  edits: ReadonlyArray<Edit>
): string | Unreadable => {
  const before = format.parse(former)
  if (isUnreadable(before)) return before
  let now = text
  for (const { path } of edits.toReversed()) {
    const present = format.parse(now)
    if (isUnreadable(present)) return present
    const value = valueAt(before, path)
    if (equal(valueAt(present, path), value)) continue
    now = value === undefined ? pruned(format, format.remove(now, path), path, before) : format.set(now, path, value)
  }
  return now
}
