/** Lays what was typed over a value that is stored. Only what was touched is read; the rest stays as it is. Pure. */
import { pathOf, type Texts } from "./body.ts"
import { isNullable, kindOf, readTyped, textOf } from "./fields.ts"
import type { FieldSchema } from "./operations.ts"

export interface Edited {
  readonly value: Readonly<Record<string, unknown>>
  /** Problems by the path of a field. */
  readonly wrong: Readonly<Record<string, "number" | "json" | "needed">>
}

/** Meaning of an emptied field: that it is not set, or that it is empty. */
export type WhenEmpty = "absent" | "empty"

type Members = Readonly<Record<string, unknown>>

const membersOf = (value: unknown): Members =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Members) : {}

/** Texts of all fields of a value. */
export const textsOf = (schema: FieldSchema, value: unknown, parent = ""): Texts => {
  const members = membersOf(value)
  return Object.fromEntries(
    Object.entries(schema.properties ?? {}).flatMap(([name, member]) => {
      const kind = kindOf(member)
      const path = pathOf(parent, name)
      return kind._tag === "Group"
        ? Object.entries(textsOf(kind.schema, members[name], path))
        : [[path, textOf(kind, members[name])]]
    })
  )
}

type Read = { readonly value: unknown } | "absent" | "number" | "json" | "needed"

const readField = (schema: FieldSchema, text: string, whenEmpty: WhenEmpty): Read => {
  const kind = kindOf(schema)
  const typed = readTyped(kind, text)
  if (typed._tag === "Value") return { value: typed.value }
  if (typed._tag === "Wrong") return typed.message
  if (whenEmpty === "absent") return "absent"
  if (kind._tag === "Lines" || kind._tag === "Several") return { value: [] }
  return isNullable(schema) ? { value: null } : "needed"
}

interface Result {
  readonly members: Record<string, unknown>
  readonly wrong: Record<string, "number" | "json" | "needed">
}

const laidOver = (schema: FieldSchema, value: unknown, typed: Texts, whenEmpty: WhenEmpty, parent: string): Result => {
  const members: Record<string, unknown> = { ...membersOf(value) }
  const wrong: Result["wrong"] = {}
  for (const [name, member] of Object.entries(schema.properties ?? {})) {
    const path = pathOf(parent, name)
    const kind = kindOf(member)
    if (kind._tag === "Group") {
      if (!Object.keys(typed).some((each) => each.startsWith(`${path}.`))) continue
      const inner = laidOver(kind.schema, members[name], typed, whenEmpty, path)
      Object.assign(wrong, inner.wrong)
      if (whenEmpty === "absent" && Object.keys(inner.members).length === 0) delete members[name]
      else members[name] = inner.members
      continue
    }
    const text = typed[path]
    if (text === undefined) continue
    const read = readField(member, text, whenEmpty)
    if (typeof read === "object") members[name] = read.value
    else if (read === "absent") delete members[name]
    else wrong[path] = read
  }
  return { members, wrong }
}

/** The value with what was typed; fields that no schema names stay as they are. */
export const editedOf = (schema: FieldSchema, value: unknown, typed: Texts, whenEmpty: WhenEmpty): Edited => {
  const { members, wrong } = laidOver(schema, value, typed, whenEmpty, "")
  return { value: members, wrong }
}

/** Empties a field, and all fields in it, in what was typed. */
export const emptied = (typed: Texts, texts: Texts, path: string): Texts => ({
  ...typed,
  ...Object.fromEntries(
    Object.keys({ ...texts, [path]: "" })
      .filter((each) => each === path || each.startsWith(`${path}.`))
      .map((each) => [each, ""])
  )
})
