/** `configSchema` of a manifest: what the owner may set, and what a form of it needs. Pure. */
import type { ConfigField, ConfigValue } from "../../../subjects/plugins/entity.ts"
import { problemOf } from "../ConfigRules.ts"
import type { Fields } from "./Fields.ts"

export const maxConfigFields = 64
const keyPattern = /^[A-Za-z][A-Za-z0-9_-]{0,63}$/
/** Names that mean something on every JavaScript object. */
const reserved: ReadonlySet<string> = new Set(["constructor", "prototype", "toString", "valueOf", "hasOwnProperty"])
const maxChoices = 200
const types = ["string", "number", "boolean", "select"] as const

const isScalar = (value: unknown): value is ConfigValue =>
  typeof value === "string" || typeof value === "boolean" || (typeof value === "number" && Number.isFinite(value))

const choicesOf = (fields: Fields, type: ConfigField["type"]): ConfigField["enum"] => {
  if (fields.value("enum") === undefined) {
    if (type === "select") fields.problem("enum", "is missing: a select needs what can be chosen")
    return null
  }
  if (type === "boolean") {
    fields.problem("enum", "has no meaning for a boolean")
    return null
  }
  const list = fields.list("enum", maxChoices)
  const fits = (value: unknown): value is string | number =>
    type === "number"
      ? typeof value === "number" && Number.isFinite(value)
      : typeof value === "string" || (type === "select" && typeof value === "number" && Number.isFinite(value))
  const choices = list.filter(fits)
  if (list.length === 0 || choices.length !== list.length) {
    fields.problem("enum", `must be a list of ${type === "number" ? "numbers" : "strings"}, and not empty`)
  }
  return choices
}

const boundsOf = (fields: Fields, type: ConfigField["type"]): Pick<ConfigField, "min" | "max"> => {
  const least = type === "string" ? 0 : -Number.MAX_VALUE
  const rule = { min: least, max: Number.MAX_VALUE, whole: type === "string" }
  if (type === "boolean" || type === "select") {
    for (const name of ["min", "max"]) {
      if (fields.value(name) !== undefined) fields.problem(name, `has no meaning for a ${type}`)
    }
    return { min: null, max: null }
  }
  const min = fields.number("min", rule)
  const max = fields.number("max", rule)
  if (min !== null && max !== null && min > max) fields.problem("min", "must not be more than max")
  return { min, max }
}

const fieldOf = (fields: Fields): ConfigField | null => {
  fields.only(["type", "default", "min", "max", "enum", "description", "secret"])
  const type = types.find((each) => each === fields.value("type"))
  if (type === undefined) {
    fields.problem("type", `must be one of ${types.join(", ")}`)
    return null
  }
  const secret = fields.boolean("secret", false)
  if (secret && type !== "string") fields.problem("secret", "only a string can be secret")
  const field: ConfigField = {
    type,
    default: null,
    ...boundsOf(fields, type),
    enum: choicesOf(fields, type),
    description: fields.text("description", 1_000),
    secret
  }
  const given = fields.value("default")
  if (given === undefined) return field
  if (secret) {
    fields.problem("default", "a secret has no default: it would be in the files")
    return field
  }
  const problem = problemOf(field, given)
  if (problem !== null) fields.problem("default", problem)
  return isScalar(given) ? { ...field, default: given } : field
}

export const readConfigSchema = (manifest: Fields): Readonly<Record<string, ConfigField>> => {
  const schema = manifest.object("configSchema", "must be an object of fields")
  if (schema === null) return {}
  const names = schema.names()
  if (names.length > maxConfigFields) {
    manifest.problem("configSchema", `must have at most ${maxConfigFields} fields`)
    return {}
  }
  const read: Record<string, ConfigField> = {}
  for (const name of names) {
    if (!keyPattern.test(name) || reserved.has(name)) {
      schema.problem(name.slice(0, 60), "is no name of a field: letters, digits, - and _, a letter first")
      continue
    }
    const fields = schema.object(name, "must be an object with a type")
    if (fields === null) {
      if (schema.value(name) === undefined) schema.problem(name, "must be an object with a type")
      continue
    }
    const field = fieldOf(fields)
    if (field !== null) read[name] = field
  }
  return read
}
