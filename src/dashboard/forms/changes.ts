/** Reads a form that was filled with what is stored: only what was changed is sent, and what takes it back is known. */
import { bodyOf, type Cleared, pathOf, type Texts } from "./body.ts"
import { isNullable, kindOf, textOf } from "./fields.ts"
import type { FieldSchema } from "./operations.ts"

export type Values = Readonly<Record<string, unknown>>

const isGroup = (value: unknown): value is Values =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** Texts that stand for stored values, by the path of each field. */
export const textsOf = (schema: FieldSchema, values: Values, parent = ""): Texts =>
  Object.fromEntries(
    Object.entries(schema.properties ?? {}).flatMap(([name, member]) => {
      const path = pathOf(parent, name)
      const kind = kindOf(member)
      const value = values[name]
      return kind._tag === "Group"
        ? Object.entries(textsOf(kind.schema, isGroup(value) ? value : {}, path))
        : [[path, textOf(kind, value)] as const]
    })
  )

/** Reads a field that is empty now and was not. */
const emptied = (member: FieldSchema): { readonly value: unknown } | "number" | "json" => {
  if (isNullable(member)) return { value: null }
  const kind = kindOf(member)
  if (kind._tag === "Text") return { value: "" }
  if (kind._tag === "Lines" || kind._tag === "Several") return { value: [] }
  return kind._tag === "Number" ? "number" : "json"
}

export interface Changes {
  /** Body that is sent; empty: nothing was changed. */
  readonly body: Values
  /** Problems by the path of a field. */
  readonly wrong: Readonly<Record<string, "number" | "json">>
}

const put = (body: Record<string, unknown>, path: ReadonlyArray<string>, value: unknown): void => {
  const [name = "", ...rest] = path
  if (rest.length === 0) {
    body[name] = value
    return
  }
  const inner = isGroup(body[name]) ? { ...body[name] } : {}
  put(inner, rest, value)
  body[name] = inner
}

interface Leaf {
  readonly path: string
  readonly parts: ReadonlyArray<string>
  readonly member: FieldSchema
}

const leavesOf = (schema: FieldSchema, parts: ReadonlyArray<string> = []): ReadonlyArray<Leaf> =>
  Object.entries(schema.properties ?? {}).flatMap(([name, member]) => {
    const kind = kindOf(member)
    const all = [...parts, name]
    return kind._tag === "Group" ? leavesOf(kind.schema, all) : [{ path: all.join("."), parts: all, member }]
  })

export interface Typed {
  readonly texts: Texts
  readonly cleared: Cleared
}

/** `whole` are members that a change replaces as a whole: all of them is sent when a part of them was changed. */
export const changesOf = (
  schema: FieldSchema,
  stored: Texts,
  { cleared, texts }: Typed,
  whole: ReadonlySet<string> = new Set()
): Changes => {
  const leaves = leavesOf(schema)
  const isChanged = ({ path }: Leaf): boolean => cleared.has(path) || (texts[path] ?? "") !== (stored[path] ?? "")
  const changedWholes = new Set(
    leaves.filter((leaf) => isChanged(leaf) && whole.has(leaf.parts[0] ?? "")).map(({ parts }) => parts[0])
  )
  const sent = leaves.filter((leaf) => isChanged(leaf) || changedWholes.has(leaf.parts[0]))
  const read = bodyOf(schema, Object.fromEntries(sent.map(({ path }) => [path, texts[path] ?? ""])), cleared)
  const body: Record<string, unknown> = { ...read.value }
  const wrong: Record<string, "number" | "json"> = { ...read.wrong }
  for (const leaf of sent) {
    if (cleared.has(leaf.path) || (texts[leaf.path] ?? "") !== "" || !isChanged(leaf)) continue
    const result = emptied(leaf.member)
    if (typeof result === "string") wrong[leaf.path] = result
    else put(body, leaf.parts, result.value)
  }
  return { body, wrong }
}

/** Returns what takes a change back: the stored values of what it named. Null where there is a secret among them: it cannot be read back. */
export const inverseOf = (schema: FieldSchema, values: Values, body: Values): Values | null => {
  const back: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(body)) {
    const member = schema.properties?.[name] ?? {}
    const kind = kindOf(member)
    if (kind._tag === "Text" && kind.isSecret) return null
    const before = values[name]
    if (kind._tag === "Group" && isGroup(value) && isGroup(before)) {
      const inner = inverseOf(kind.schema, before, value)
      if (inner === null) return null
      back[name] = inner
    } else {
      back[name] = before ?? null
    }
  }
  return back
}
