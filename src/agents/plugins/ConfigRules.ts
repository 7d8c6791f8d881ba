/** Values of a plugin's configuration: checked by its schema, with defaults, secrets masked. Pure. */
import type { FieldProblem } from "../../contract/domain/Errors.ts"
import type { ConfigField, ConfigValue, ConfigValues } from "../../subjects/plugins/entity.ts"
import { closest } from "../../kernel/text/Closest.ts"
import { maskSecret } from "../../kernel/text/Masking.ts"

export type ConfigSchema = Readonly<Record<string, ConfigField>>

/** Most characters of one value. */
export const maxTextChars = 8_192

const numberProblem = ({ max, min }: ConfigField, value: unknown): string | null => {
  if (typeof value !== "number" || !Number.isFinite(value)) return "must be a number"
  if (min !== null && value < min) return `must be at least ${min}`
  return max !== null && value > max ? `must be at most ${max}` : null
}

const textProblem = ({ max, min }: ConfigField, value: unknown): string | null => {
  if (typeof value !== "string") return "must be a string"
  if (min !== null && value.length < min) return `must have at least ${min} characters`
  const most = Math.min(max ?? maxTextChars, maxTextChars)
  return value.length > most ? `must have at most ${most} characters` : null
}

/** Describes the problem of a value; null: none. */
export const problemOf = (field: ConfigField, value: unknown): string | null => {
  const problem =
    field.type === "boolean"
      ? typeof value === "boolean"
        ? null
        : "must be true or false"
      : field.type === "number"
        ? numberProblem(field, value)
        : field.type === "string"
          ? textProblem(field, value)
          : null
  if (problem !== null) return problem
  return field.enum === null || field.enum.some((choice) => choice === value)
    ? null
    : `must be one of ${field.enum.slice(0, 20).join(", ")}`
}

const entriesOf = (schema: ConfigSchema): ReadonlyArray<readonly [string, ConfigField]> => Object.entries(schema)

/** Computes the values that handlers see: the ones set, else the defaults; a field without either is absent. */
export const effective = (schema: ConfigSchema, set: ConfigValues): ConfigValues =>
  Object.fromEntries(
    entriesOf(schema).flatMap(([name, field]): ReadonlyArray<[string, ConfigValue]> => {
      const value = Object.hasOwn(set, name) ? set[name] : undefined
      if (value !== undefined && problemOf(field, value) === null) return [[name, value]]
      return field.default === null ? [] : [[name, field.default]]
    })
  )

/** Computes the values that routes show: null where there is neither a value nor a default. */
export const shown = (schema: ConfigSchema, set: ConfigValues): Readonly<Record<string, ConfigValue | null>> => {
  const values = effective(schema, set)
  return Object.fromEntries(
    entriesOf(schema).map(([name, field]) => {
      const value = values[name] ?? null
      return [name, field.secret && typeof value === "string" ? maskSecret(value) : value]
    })
  )
}

export type Changed =
  | { readonly _tag: "Set"; readonly values: ConfigValues }
  | { readonly _tag: "Wrong"; readonly problems: ReadonlyArray<FieldProblem> }

/**
 * Computes the values after a change. An absent value stays; null goes back to the default; a secret that is sent back as it was shown stays.
 */
export const change = (schema: ConfigSchema, set: ConfigValues, given: Readonly<Record<string, unknown>>): Changed => {
  const problems: Array<FieldProblem> = []
  const values: Record<string, ConfigValue> = Object.fromEntries(
    Object.entries(set).filter(([name]) => Object.hasOwn(schema, name))
  )
  for (const name of Object.keys(given)) {
    const field = Object.hasOwn(schema, name) ? schema[name] : undefined
    if (field === undefined) {
      const near = closest(name, Object.keys(schema), 1)[0]
      const hint = near === undefined ? "" : ` Did you mean '${near}'?`
      if (problems.length < 50) {
        problems.push({ field: `values.${name.slice(0, 60)}`, message: `is no field of this plugin.${hint}` })
      }
      continue
    }
    const value = given[name]
    if (value === null || value === undefined) {
      delete values[name]
      continue
    }
    const before = values[name]
    if (field.secret && typeof before === "string" && value === maskSecret(before)) continue
    const problem = problemOf(field, value)
    if (problem === null) values[name] = value as ConfigValue
    else problems.push({ field: `values.${name}`, message: problem })
  }
  return problems.length === 0 ? { _tag: "Set", values } : { _tag: "Wrong", problems }
}

/** Selects the values of a former version that the schema still takes. */
export const kept = (schema: ConfigSchema, set: ConfigValues): ConfigValues =>
  Object.fromEntries(
    Object.entries(set).filter(([name, value]) => {
      const field = Object.hasOwn(schema, name) ? schema[name] : undefined
      return field !== undefined && problemOf(field, value) === null
    })
  )

/** Splits the values into plain and secret ones. */
export const parted = (
  schema: ConfigSchema,
  set: ConfigValues
): { readonly plain: ConfigValues; readonly secret: ConfigValues } => {
  const isSecret = (name: string): boolean => schema[name]?.secret === true
  const entries = Object.entries(set)
  return {
    plain: Object.fromEntries(entries.filter(([name]) => !isSecret(name))),
    secret: Object.fromEntries(entries.filter(([name]) => isSecret(name)))
  }
}
