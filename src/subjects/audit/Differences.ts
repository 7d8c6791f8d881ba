/**
 * Compares an object before and after a change, field by field, for the audit log. No secret gets in: fields that hold one are told as changed without their
 * values, and so are long texts; of an address only its beginning is kept. Pure.
 */
import type { FieldChange } from "./entity.ts"

/** Limits of what a row keeps of one change. */
export const differenceLimits = { fields: 40, textChars: 120, listEntries: 20, pathChars: 200, depth: 8 }

/** Names by which fields hold secrets wherever they stand, beside those that the contract marks. */
const secretName =
  /(?:secret|password|passwd|token|credential|cookie|authorization|private|signature|api-?_?key|shared-?_?key)(?!s?(?:s?Enabled|Count|Limit|Ids?)$)/iu

const address = /^[a-z][a-z\d+.-]*:\/\/(?:[^/?#@\s]*@)?([^/?#\s]+)/iu

type Flat = ReadonlyMap<string, unknown>

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const idOf = (value: unknown): string | null => {
  if (!isRecord(value)) return null
  const { id, key, name } = value
  return [id, key, name].find((each): each is string => typeof each === "string") ?? null
}

/** The members of a list by their ids; null: they have none, and the list is one value. */
const byId = (list: ReadonlyArray<unknown>): ReadonlyArray<readonly [string, unknown]> | null => {
  const named = list.map((entry) => [idOf(entry), entry] as const)
  return list.length > 0 && named.every(([id]) => id !== null)
    ? named.map(([id, entry]) => [id ?? "", entry] as const)
    : null
}

/** The values of an object by their paths. */
const flatten = (value: unknown, path: string, depth: number, into: Map<string, unknown>): Map<string, unknown> => {
  const members = Array.isArray(value) ? byId(value) : isRecord(value) ? Object.entries(value) : null
  if (members === null || members.length === 0 || depth >= differenceLimits.depth) return into.set(path, value)
  for (const [name, member] of members) flatten(member, path === "" ? name : `${path}.${name}`, depth + 1, into)
  return into
}

/** A text as it may be kept: of an address its beginning; undefined: it is too long. */
const keptText = (text: string): string | undefined => {
  const host = address.exec(text)?.[1]
  if (host !== undefined)
    return `${text.slice(0, text.indexOf("://"))}://${host.slice(0, differenceLimits.textChars)}/…`
  return text.length > differenceLimits.textChars ? undefined : text
}

/** A value as it may be kept; undefined: it may not. */
const kept = (value: unknown): unknown => {
  if (typeof value === "string") return keptText(value)
  if (typeof value === "number" || typeof value === "boolean" || value === null) return value
  if (isRecord(value)) return Object.keys(value).length === 0 ? value : undefined
  if (!Array.isArray(value) || value.length > differenceLimits.listEntries) return undefined
  const entries = value.map((entry) => (typeof entry === "object" && entry !== null ? undefined : kept(entry)))
  return entries.includes(undefined) ? undefined : entries
}

const isSame = (left: unknown, right: unknown): boolean =>
  left === right || JSON.stringify(left) === JSON.stringify(right)

const isSecret = (path: string, secrets: ReadonlySet<string>): boolean =>
  path.split(".").some((name) => secrets.has(name) || secretName.test(name))

const changeOf = (path: string, before: Flat, after: Flat, secrets: ReadonlySet<string>): FieldChange => {
  const field = path.slice(0, differenceLimits.pathChars)
  if (isSecret(path, secrets)) return { field, hidden: true }
  const values = [before, after].map((of) => (of.has(path) ? { value: kept(of.get(path)) } : null))
  if (values.some((each) => each !== null && each.value === undefined)) return { field, hidden: true }
  const [was, is] = values
  return {
    field,
    ...(was === null || was === undefined ? {} : { before: was.value }),
    ...(is === null || is === undefined ? {} : { after: is.value })
  }
}

/** Fields that are different; undefined stands for an object that is not there. `secrets`: names of fields whose values are not kept. */
export const differences = (
  before: unknown,
  after: unknown,
  secrets: ReadonlySet<string>
): ReadonlyArray<FieldChange> => {
  const was: Flat = before === undefined ? new Map() : flatten(before, "", 0, new Map())
  const is: Flat = after === undefined ? new Map() : flatten(after, "", 0, new Map())
  const changes: Array<FieldChange> = []
  for (const path of new Set([...was.keys(), ...is.keys()])) {
    if (path === "" || (was.has(path) === is.has(path) && isSame(was.get(path), is.get(path)))) continue
    if (path === "updatedAt" || path.endsWith(".updatedAt")) continue
    if (changes.length >= differenceLimits.fields) break
    changes.push(changeOf(path, was, is, secrets))
  }
  return changes
}
