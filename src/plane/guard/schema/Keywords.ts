/**
 * The keywords of JSON Schema (2020-12, with those of draft 7 that have been renamed). Formats and annotations are not checked.
 *
 * https://json-schema.org/draft/2020-12/json-schema-validation
 */
import { isEqual } from "../../../wire/json/isEqual.ts"
import { isArray, isObject, type Json, type JsonObject, numberOr, stringOr } from "../../../wire/json/Json.ts"
import { type LinearPattern, stepsOf } from "../../../kernel/text/LinearPattern.ts"
import type { Budget } from "./Limits.ts"

/** Context that a keyword needs of the check around it. */
export interface Context {
  readonly budget: Budget
  readonly pattern: (source: string) => LinearPattern
  /** Checks a value inside; null when there is no problem. `step`: its name or index, absent for the value itself. */
  readonly check: (schema: Json | undefined, value: Json, step?: string | number) => Problem | null
}

/** Problem and its path: names and indexes from the outside in. Nothing of the value is in it. */
export interface Problem {
  readonly path: ReadonlyArray<string | number>
  readonly message: string
}

type Keyword<A> = (schema: JsonObject, value: A, context: Context) => string | Problem | null

const typeOf = (value: Json): string => {
  if (value === null) return "null"
  return isArray(value) ? "array" : typeof value
}

const hasType = (value: Json, type: Json): boolean => {
  // Gemini writes the names of types in capitals.
  const name = String(type).toLowerCase()
  return name === "integer" ? Number.isInteger(value) : typeOf(value) === name
}

/** Computes the cost of going through a value, in steps. */
const weightOf = (value: Json): number =>
  typeof value === "object" && value !== null ? 1 + JSON.stringify(value).length / 16 : 1

const ofAny: Keyword<Json> = (schema, value, { budget }) => {
  const { const: constant, enum: values, nullable, type } = schema
  const types = isArray(type) ? type : type === undefined ? [] : [type]
  const isNull = value === null && nullable === true
  if (types.length > 0 && !isNull && !types.some((each) => hasType(value, each))) return `must be ${types.join(" or ")}`
  if (isArray(values)) {
    budget.spend(values.length * weightOf(value))
    if (!isNull && !values.some((each) => isEqual(each, value))) return "must be one of the values of the enum"
  }
  if (constant === undefined) return null
  budget.spend(weightOf(value))
  return isEqual(constant, value) ? null : "must be the constant"
}

const ofNumber: Keyword<number> = (schema, value) => {
  const limit = (name: string): number | null => numberOr(schema[name])
  const [least, most, above, below, step] = [
    limit("minimum"),
    limit("maximum"),
    limit("exclusiveMinimum"),
    limit("exclusiveMaximum"),
    limit("multipleOf")
  ]
  if (least !== null && value < least) return `must be at least ${least}`
  if (most !== null && value > most) return `must be at most ${most}`
  if (above !== null && value <= above) return `must be above ${above}`
  if (below !== null && value >= below) return `must be below ${below}`
  return step !== null && step > 0 && !Number.isInteger(value / step) ? `must be a multiple of ${step}` : null
}

/** Characters as people count them. */
const charsOf = (text: string): number => {
  let chars = 0
  for (const _ of text) chars += 1
  return chars
}

const ofText: Keyword<string> = (schema, value, { budget, pattern }) => {
  const least = numberOr(schema["minLength"])
  const most = numberOr(schema["maxLength"])
  budget.spend(value.length / 64)
  if (least !== null && charsOf(value) < least) return `must have at least ${least} characters`
  if (most !== null && charsOf(value) > most) return `must have at most ${most} characters`
  const source = stringOr(schema["pattern"])
  if (source === null) return null
  const compiled = pattern(source)
  budget.match(stepsOf(compiled, value))
  return compiled.regex.test(value) ? null : "must match the pattern"
}

/** The JSON of a value with its members in order, so that equal values have equal texts. */
const canonical = (value: Json): string =>
  JSON.stringify(value, (_, member: unknown) =>
    isObject(member)
      ? Object.fromEntries(Object.entries(member).toSorted(([one], [other]) => (one < other ? -1 : 1)))
      : member
  )

const first = <A>(items: Iterable<A>, problemOf: (item: A) => Problem | null): Problem | null => {
  for (const item of items) {
    const problem = problemOf(item)
    if (problem !== null) return problem
  }
  return null
}

const ofList: Keyword<ReadonlyArray<Json>> = (schema, value, { budget, check }) => {
  budget.spend(value.length)
  const { additionalItems, contains, items, prefixItems } = schema
  const least = numberOr(schema["minItems"])
  const most = numberOr(schema["maxItems"])
  if (least !== null && value.length < least) return `must have at least ${least} items`
  if (most !== null && value.length > most) return `must have at most ${most} items`
  if (schema["uniqueItems"] === true) {
    budget.spend(weightOf(value))
    if (new Set(value.map(canonical)).size < value.length) return "must not have the same item twice"
  }
  if (contains !== undefined) {
    const fitting = value.filter((item, index) => check(contains, item, index) === null).length
    const fewest = numberOr(schema["minContains"]) ?? 1
    const atMost = numberOr(schema["maxContains"]) ?? Infinity
    if (fitting < fewest || fitting > atMost) return "must contain other items"
  }
  const leading = isArray(prefixItems) ? prefixItems : isArray(items) ? items : []
  const others = isArray(items) ? additionalItems : items
  return first(value.entries(), ([index, item]) => check(index < leading.length ? leading[index] : others, item, index))
}

const countOf = (schema: JsonObject, names: ReadonlyArray<string>): string | null => {
  const least = numberOr(schema["minProperties"])
  const most = numberOr(schema["maxProperties"])
  if (least !== null && names.length < least) return `must have at least ${least} properties`
  return most !== null && names.length > most ? `must have at most ${most} properties` : null
}

const missingIn = (required: Json | undefined, value: JsonObject): string | null => {
  if (!isArray(required)) return null
  const missing = required.find((name) => !Object.hasOwn(value, String(name)))
  return missing === undefined ? null : `must have the property ${JSON.stringify(missing)}`
}

/** A member, by all schemas that are for its name. */
const ofMember = (
  schema: JsonObject,
  name: string,
  value: Json,
  { budget, check, pattern }: Context
): Problem | null => {
  const { additionalProperties, patternProperties, properties } = schema
  const own = isObject(properties) && Object.hasOwn(properties, name)
  const problem = own ? check(properties[name], value, name) : null
  if (problem !== null) return problem
  let isNamed = own
  if (isObject(patternProperties)) {
    for (const source of Object.keys(patternProperties)) {
      const compiled = pattern(source)
      budget.match(stepsOf(compiled, name))
      if (!compiled.regex.test(name)) continue
      isNamed = true
      const found = check(patternProperties[source], value, name)
      if (found !== null) return found
    }
  }
  if (isNamed || additionalProperties === undefined) return null
  if (additionalProperties === false) return { path: [name], message: "must not be there" }
  return check(additionalProperties, value, name)
}

const ofDependents = (schema: JsonObject, value: JsonObject, { check }: Context): string | Problem | null => {
  for (const keyword of ["dependentRequired", "dependentSchemas", "dependencies"]) {
    const dependents = schema[keyword]
    if (!isObject(dependents)) continue
    for (const name of Object.keys(dependents)) {
      if (!Object.hasOwn(value, name)) continue
      const dependent = dependents[name]
      const problem = isArray(dependent) ? missingIn(dependent, value) : check(dependent, value)
      if (problem !== null) return problem
    }
  }
  return null
}

const ofObject: Keyword<JsonObject> = (schema, value, context) => {
  const names = Object.keys(value)
  context.budget.spend(names.length)
  const { propertyNames } = schema
  return (
    countOf(schema, names) ??
    missingIn(schema["required"], value) ??
    (propertyNames === undefined ? null : first(names, (name) => context.check(propertyNames, name, name))) ??
    first(names, (name) => ofMember(schema, name, value[name] ?? null, context)) ??
    ofDependents(schema, value, context)
  )
}

const ofSchemas: Keyword<Json> = (schema, value, { check }) => {
  const { allOf, anyOf, if: condition, not, oneOf } = schema
  const passes = (each: Json): boolean => check(each, value) === null
  if (isArray(allOf)) {
    const problem = first(allOf, (each) => check(each, value))
    if (problem !== null) return problem
  }
  if (isArray(anyOf) && !anyOf.some(passes)) return "must match one of the schemas of anyOf"
  if (isArray(oneOf) && oneOf.filter(passes).length !== 1) return "must match exactly one of the schemas of oneOf"
  if (not !== undefined && passes(not)) return "must not match the schema of not"
  if (condition === undefined) return null
  return check(schema[passes(condition) ? "then" : "else"], value)
}

const at = (problem: string | Problem | null): Problem | null =>
  typeof problem === "string" ? { path: [], message: problem } : problem

/** Checks a value by the keywords of one schema. */
export const checkKeywords = (schema: JsonObject, value: Json, context: Context): Problem | null => {
  const ofType = (): string | Problem | null => {
    if (typeof value === "number") return ofNumber(schema, value, context)
    if (typeof value === "string") return ofText(schema, value, context)
    if (isArray(value)) return ofList(schema, value, context)
    return isObject(value) ? ofObject(schema, value, context) : null
  }
  return at(ofAny(schema, value, context) ?? ofType() ?? ofSchemas(schema, value, context))
}
