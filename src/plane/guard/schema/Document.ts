/** A schema with what its keywords refer to: places by pointer and anchor, compiled patterns. */
import * as Either from "effect/Either"
import { compileLinear, compileSteps, type LinearPattern } from "../../../kernel/text/LinearPattern.ts"
import { isArray, isObject, type Json, type JsonObject, stringOr } from "../../../wire/json/Json.ts"
import { maxPatternChars, maxSchemas, type Budget, Undecided } from "./Limits.ts"

export interface Document {
  readonly root: Json
  /** The schema that a `$ref` names. Throws `Undecided` where there is none. */
  readonly resolve: (ref: string) => Json
  /** Patterns run in linear time: look-arounds and references to groups are not supported. */
  readonly pattern: (source: string) => LinearPattern
}

/** Keywords that cannot be followed here: what they refer to is known only while checking. */
const unsupported = ["$dynamicRef", "$recursiveRef", "unevaluatedProperties", "unevaluatedItems"]

const decoded = (step: string): string => {
  try {
    return decodeURIComponent(step).replaceAll("~1", "/").replaceAll("~0", "~")
  } catch {
    throw new Undecided("A $ref of the schema is malformed.")
  }
}

const memberOf = (value: Json | undefined, step: string): Json | undefined => {
  if (isArray(value)) return /^\d{1,6}$/.test(step) ? value[Number(step)] : undefined
  return isObject(value) && Object.hasOwn(value, step) ? value[step] : undefined
}

/** Values that hold no schemas, whatever they look like. */
const data: ReadonlySet<string> = new Set(["const", "default", "enum", "example", "examples"])

/** Reads the whole schema once: its anchors, and whether it can be checked. */
const anchorsIn = (root: JsonObject): ReadonlyMap<string, JsonObject> => {
  const anchors = new Map<string, JsonObject>()
  const open: Array<Json> = [root]
  let seen = 0
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    seen += 1
    if (seen > maxSchemas) throw new Undecided(`The schema has more than ${maxSchemas} parts.`)
    if (isArray(next)) open.push(...next.filter((item) => typeof item === "object" && item !== null))
    if (!isObject(next)) continue
    const anchor = stringOr(next["$anchor"])
    if (anchor !== null) anchors.set(anchor, next)
    for (const name of Object.keys(next)) {
      const member = next[name]
      if (typeof member === "object" && member !== null && !data.has(name)) open.push(member)
    }
  }
  return anchors
}

/** Throws `Undecided` where the schema is too large. */
export const makeDocument = (root: JsonObject, budget: Pick<Budget, "match">): Document => {
  const anchors = anchorsIn(root)
  const patterns = new Map<string, LinearPattern>()

  const resolve = (ref: string): Json => {
    if (ref === "#") return root
    if (!ref.startsWith("#")) throw new Undecided("A $ref of the schema leads out of it.")
    const steps = ref.slice(1).split("/")
    const found =
      steps[0] === ""
        ? steps.slice(1).reduce<Json | undefined>((at, step) => memberOf(at, decoded(step)), root)
        : anchors.get(ref.slice(1))
    if (found === undefined) throw new Undecided("A $ref of the schema leads nowhere.")
    return found
  }

  const pattern = (source: string): LinearPattern => {
    const known = patterns.get(source)
    if (known !== undefined) return known
    if (source.length > maxPatternChars) throw new Undecided("A pattern of the schema is too long.")
    const compiled = compileLinear(source)
    if (Either.isLeft(compiled))
      throw new Undecided("A pattern of the schema cannot be matched in linear time, or costs too much.")
    budget.match(compiled.right.steps * compileSteps)
    patterns.set(source, compiled.right)
    return compiled.right
  }

  return { root, resolve, pattern }
}

/** Throws `Undecided` where the schema says more than is checked here. */
export const checkSupported = (schema: JsonObject): void => {
  const name = unsupported.find((keyword) => schema[keyword] !== undefined)
  if (name !== undefined) throw new Undecided(`The keyword ${name} of the schema is not checked.`)
}
