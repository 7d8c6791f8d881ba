/** Reads what was typed into a form as the body that is sent. Fields are named by their path, with dots between the levels, as the API names them in errors. */
import { kindOf, readTyped } from "./fields.ts"
import type { FieldSchema } from "./operations.ts"

/** Texts by the path of a field. */
export type Texts = Readonly<Record<string, string>>

/** Fields whose stored value is taken away: null is sent. */
export type Cleared = ReadonlySet<string>

export interface Body {
  readonly value: Readonly<Record<string, unknown>>
  /** Problems by the path of a field. */
  readonly wrong: Readonly<Record<string, "number" | "json">>
}

export const pathOf = (parent: string, name: string): string => (parent === "" ? name : `${parent}.${name}`)

export const bodyOf = (schema: FieldSchema, texts: Texts, cleared: Cleared, parent = ""): Body => {
  const value: Record<string, unknown> = {}
  const wrong: Record<string, "number" | "json"> = {}
  for (const [name, member] of Object.entries(schema.properties ?? {})) {
    const path = pathOf(parent, name)
    if (cleared.has(path)) {
      value[name] = null
      continue
    }
    const kind = kindOf(member)
    if (kind._tag === "Group") {
      const inner = bodyOf(kind.schema, texts, cleared, path)
      if (Object.keys(inner.value).length > 0) value[name] = inner.value
      Object.assign(wrong, inner.wrong)
      continue
    }
    const typed = readTyped(kind, texts[path] ?? "")
    if (typed._tag === "Value") value[name] = typed.value
    if (typed._tag === "Wrong") wrong[path] = typed.message
  }
  return { value, wrong }
}
