/** Finds where a part of a prompt differs from the one it replaces, and how. Pure. */
import { isObject, type Json, objectOr } from "../../../wire/json/Json.ts"
import { firstLeaf } from "../diff/FirstLeaf.ts"
import { memberPath } from "../diff/Paths.ts"
import { commonChars, windowAt } from "../diff/Shown.ts"
import type { Segment } from "../prompt/Prompt.ts"
import type { ChainNode } from "./PromptChains.ts"

export interface PartDifference {
  readonly path: string
  readonly before: string | null
  readonly after: string | null
}

/** Characters shown of each side. */
const maxChars = 240

/** Writes a value as text: a text as it is, another value as JSON. */
const textOf = (value: Json | undefined): string | null =>
  value === undefined ? null : typeof value === "string" ? value : JSON.stringify(value)

const shown = (path: string, before: string | null, after: string | null): PartDifference => {
  const at = before === null || after === null ? 0 : commonChars(before, after)
  return {
    path,
    before: before === null ? null : windowAt(before, at, maxChars),
    after: after === null ? null : windowAt(after, at, maxChars)
  }
}

const parsed = ({ isCut, text }: ChainNode): Json | undefined => (isCut || text === "" ? undefined : JSON.parse(text))

const nameOf = (tool: Json | undefined): Json | undefined =>
  objectOr(tool)["name"] ?? objectOr(objectOr(tool)["function"])["name"] ?? undefined

const join = (path: string, leaf: string): string =>
  leaf === "" || leaf.startsWith("[") ? `${path}${leaf}` : `${path}.${leaf}`

/** The text of a block that stands alone in the body. */
const plainText = (value: Json): Json => (isObject(value) ? (value["text"] ?? value) : value)

/** Each level is written as JSON once more; no block of a message is nested deeper. */
const maxLevels = 12

/** Path of the leaf of `value` that has the character `at` of its JSON. */
const leafAt = (value: Json, at: number, path: string, levels = maxLevels): string => {
  if (typeof value !== "object" || value === null || levels === 0) return path
  let from = 1
  const entries: ReadonlyArray<readonly [string, Json | undefined]> = Object.entries(value)
  for (const [key, member] of entries) {
    if (member === undefined) continue
    const isList = Array.isArray(value)
    const start = from + (isList ? 0 : JSON.stringify(key).length + 1)
    const end = start + JSON.stringify(member).length
    if (at < end + 1) return leafAt(member, at - start, isList ? `${path}[${key}]` : memberPath(path, key), levels - 1)
    from = end + 1
  }
  return path
}

/** A part that is too long to be kept: the texts around the first character that differs, where that is in what was kept. */
const ofCut = (before: ChainNode, after: Segment): PartDifference => {
  const at = commonChars(before.text, after.text)
  const path = after.isText ? after.path : join(after.path, leafAt(after.value, at, ""))
  const now = windowAt(after.text, at, maxChars)
  return { path, before: at >= before.text.length ? null : windowAt(before.text, at, maxChars), after: now }
}

/** `before`: the part of the earlier prompt at this place; undefined: one of the two ended here. */
export const partDifference = (before: ChainNode | undefined, after: Segment | undefined): PartDifference | null => {
  if (after === undefined) return before === undefined ? null : shown(before.path, before.text, null)
  if (before === undefined) return shown(after.path, null, after.text)
  if (before.kind !== after.kind) {
    // The shorter list of tools, or of blocks of the system prompt, ended.
    const isOlder = before.kind === "tools" || (before.kind === "system" && after.kind === "message")
    return isOlder ? shown(before.path, before.text, null) : shown(after.path, null, after.text)
  }
  if (before.role !== after.role && before.text === after.text) return shown(after.path, before.role, after.role)
  if (before.isCut) return ofCut(before, after)
  const old = parsed(before)
  if (old === undefined || before.role !== after.role) return shown(after.path, before.text, after.text)
  if (before.kind === "tools" && nameOf(old) !== nameOf(after.value)) return shown(after.path, before.text, after.text)
  const leaf = firstLeaf(old, after.value, "")
  if (leaf === null) return shown(after.path, before.text, after.text)
  if (after.isText || before.isText) {
    const [one, other] = [before.isText ? plainText(old) : old, after.isText ? plainText(after.value) : after.value]
    if (after.isText && before.isText) return shown(after.path, textOf(one), textOf(other))
  }
  return shown(join(after.path, leaf.path), textOf(leaf.before), textOf(leaf.after))
}
