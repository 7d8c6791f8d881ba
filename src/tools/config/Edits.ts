/** Changes to a file of a tool: what is set, and how it is taken back while what others changed since stays. Pure. */
import type { Json } from "../../wire/json/Json.ts"
import { type Format, isUnreadable, type Path, type Unreadable, valueAt } from "./formats/Format.ts"

export interface Edit {
  readonly path: Path
  readonly value: Json
}

const equal = (left: Json | undefined, right: Json | undefined): boolean =>
  JSON.stringify(left) === JSON.stringify(right)

/** The text with all edits; the same text when they are there already. An empty text: the file is not there yet. */
export const applied = (format: Format, text: string, edits: ReadonlyArray<Edit>): string | Unreadable => {
  const root = format.parse(text)
  if (isUnreadable(root)) return root
  let now = text
  for (const { path, value } of edits) {
    const present = format.parse(now)
    if (isUnreadable(present)) return present
    if (!equal(valueAt(present, path), value)) now = format.set(now, path, value)
  }
  return now
}

const isEmpty = (value: Json | undefined): boolean =>
  typeof value === "object" && value !== null && Object.keys(value).length === 0

/** Without the parents that only held what is gone. */
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

/** The text with what stood at the paths before; `former` is the text before the edits, empty where there was no file. */
export const takenBack = (
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
