/**
 * Checks a value against a JSON schema. The schema is interpreted, never compiled to code, with a budget of steps: whatever a client sends as
 * its schema and a model as its answer, a check ends soon.
 */
import { isObject, type Json, type JsonObject, stringOr } from "../../../wire/json/Json.ts"
import { checkSupported, makeDocument } from "./Document.ts"
import { checkKeywords, type Context, type Problem } from "./Keywords.ts"
import { Budget, maxDepth, Undecided } from "./Limits.ts"

/** `undecided`: nothing can be said, and why. */
export type Verdict =
  | { readonly _tag: "Valid" }
  | { readonly _tag: "Invalid"; readonly message: string }
  | { readonly _tag: "Undecided"; readonly reason: string }

/** Names that are shown are cut: they may be the model's. */
const maxPathChars = 200

const messageOf = ({ message, path }: Problem): string => {
  const place = path.map((step) => (typeof step === "number" ? `[${step}]` : `.${step}`)).join("")
  return `${place === "" ? "the value" : place.slice(0, maxPathChars)} ${message}`
}

export const checkSchema = (schema: JsonObject, value: Json): Verdict => {
  try {
    const budget = new Budget()
    const { pattern, resolve } = makeDocument(schema, budget)

    const check = (part: Json | undefined, within: Json, depth: number): Problem | null => {
      if (part === undefined || part === true) return null
      if (part === false) return { path: [], message: "must not be there" }
      if (!isObject(part)) throw new Undecided("A schema must be an object or a boolean.")
      if (depth > maxDepth) throw new Undecided(`The schema is more than ${maxDepth} levels deep.`)
      budget.spend(1)
      checkSupported(part)
      const context: Context = {
        budget,
        pattern,
        check: (inner, member, step) => {
          const problem = check(inner, member, depth + 1)
          return problem === null || step === undefined ? problem : { ...problem, path: [step, ...problem.path] }
        }
      }
      const ref = stringOr(part["$ref"])
      const problem = ref === null ? null : check(resolve(ref), within, depth + 1)
      return problem ?? checkKeywords(part, within, context)
    }

    const problem = check(schema, value, 0)
    return problem === null ? { _tag: "Valid" } : { _tag: "Invalid", message: messageOf(problem) }
  } catch (error) {
    if (error instanceof Undecided) return { _tag: "Undecided", reason: error.message }
    throw error
  }
}
