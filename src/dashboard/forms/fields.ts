/** Chooses how a member of a body is asked for, by its schema, and reads what was typed. */
import type { FieldSchema } from "./operations.ts"

export type FieldKind =
  | { readonly _tag: "Text"; readonly isSecret: boolean; readonly isLong: boolean; readonly isVeryLong: boolean }
  | { readonly _tag: "Number"; readonly isWhole: boolean }
  | { readonly _tag: "Choice"; readonly choices: ReadonlyArray<string> }
  | { readonly _tag: "Yes" }
  | { readonly _tag: "Lines"; readonly isNumbers: boolean }
  | { readonly _tag: "Several"; readonly choices: ReadonlyArray<string> }
  | { readonly _tag: "Group"; readonly schema: FieldSchema }
  /** Anything else is typed as JSON. */
  | { readonly _tag: "Json" }

const longFrom = 500
/** Prompts and the like. */
const veryLongFrom = 4_000

const typesOf = ({ type }: FieldSchema): ReadonlyArray<string> =>
  type === undefined ? [] : typeof type === "string" ? [type] : type

const textsOf = (schema: FieldSchema): ReadonlyArray<string> | null => {
  const values = schema.enum?.filter((value) => value !== null)
  return values !== undefined && values.length > 0 && values.every((value) => typeof value === "string") ? values : null
}

/** A schema of which nothing but null is left out: `anyOf` with one other branch is that branch. */
const plain = (schema: FieldSchema): FieldSchema => {
  const others = schema.anyOf?.filter((branch) => branch.type !== "null") ?? []
  const [only] = others
  return others.length === 1 && only !== undefined ? { ...only, ...schema, ...(only as object) } : schema
}

/** Checks whether null may be sent, which takes away what is stored. */
export const isNullable = (schema: FieldSchema): boolean =>
  typesOf(schema).includes("null") || (schema.anyOf?.some((branch) => branch.type === "null") ?? false)

/** Yes or no, which may be written as 1 and 0, too. */
const isYes = ({ anyOf = [] }: FieldSchema): boolean =>
  anyOf.some(({ type }) => type === "boolean") &&
  anyOf.every(
    ({ enum: values, type }) => type === "boolean" || type === "null" || values?.every((one) => one === 0 || one === 1)
  )

const listKind = (items: FieldSchema): FieldKind => {
  const choices = textsOf(items)
  if (choices !== null) return { _tag: "Several", choices }
  const [type] = typesOf(items)
  if (type === "string") return { _tag: "Lines", isNumbers: false }
  return type === "number" || type === "integer" ? { _tag: "Lines", isNumbers: true } : { _tag: "Json" }
}

export const kindOf = (given: FieldSchema): FieldKind => {
  const schema = plain(given)
  const choices = textsOf(schema)
  if (choices !== null) return { _tag: "Choice", choices }
  if (isYes(schema)) return { _tag: "Yes" }
  const types = typesOf(schema).filter((type) => type !== "null")
  if (types.length !== 1) return { _tag: "Json" }
  switch (types[0]) {
    case "string":
      return {
        _tag: "Text",
        isSecret: schema.writeOnly === true || schema.format === "password",
        isLong: (schema.maxLength ?? 0) > longFrom,
        isVeryLong: (schema.maxLength ?? 0) >= veryLongFrom
      }
    case "integer":
    case "number":
      return { _tag: "Number", isWhole: types[0] === "integer" }
    case "boolean":
      return { _tag: "Yes" }
    case "array":
      return listKind(schema.items ?? {})
    case "object":
      return schema.properties !== undefined && Object.keys(schema.properties).length > 0
        ? { _tag: "Group", schema }
        : { _tag: "Json" }
    default:
      return { _tag: "Json" }
  }
}

/** A value that was typed: absent, or what is sent. `Wrong` cannot be sent. */
export type Typed =
  | { readonly _tag: "Absent" }
  | { readonly _tag: "Value"; readonly value: unknown }
  | { readonly _tag: "Wrong"; readonly message: "number" | "json" }

const value = (of: unknown): Typed => ({ _tag: "Value", value: of })

const numberOf = (text: string): Typed =>
  text.trim() === "" || Number.isNaN(Number(text)) ? { _tag: "Wrong", message: "number" } : value(Number(text))

const linesOf = (text: string): ReadonlyArray<string> =>
  text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "")

const jsonOf = (text: string): Typed => {
  try {
    return value(JSON.parse(text))
  } catch {
    return { _tag: "Wrong", message: "json" }
  }
}

/** Reads what was typed into a field of a kind; nothing typed is absent. */
export const readTyped = (kind: FieldKind, text: string): Typed => {
  if (text === "") return { _tag: "Absent" }
  switch (kind._tag) {
    case "Text":
    case "Choice":
      return value(text)
    case "Number":
      return numberOf(text)
    case "Yes":
      return value(text === "true")
    case "Several":
      return value(linesOf(text))
    case "Lines": {
      const lines = linesOf(text)
      if (!kind.isNumbers) return value(lines)
      const numbers = lines.map(numberOf)
      return numbers.find(({ _tag }) => _tag === "Wrong") ?? value(lines.map(Number))
    }
    case "Group":
    case "Json":
      return jsonOf(text)
  }
}

/** The text of a field that stands for a value. */
export const textOf = (kind: FieldKind, of: unknown): string => {
  if (of === undefined || of === null) return ""
  if (kind._tag === "Lines" || kind._tag === "Several") return Array.isArray(of) ? of.join("\n") : ""
  return kind._tag === "Json" || kind._tag === "Group" ? JSON.stringify(of, null, 2) : String(of)
}
