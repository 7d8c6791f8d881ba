/**
 * Filters of SCIM (RFC 7644, 3.4.2.2): comparisons with `and`, `or`, `not` and parentheses. Their length, depth and number of comparisons are
 * bounded, so that what a filter costs is. Pure.
 */
import { maxComparisons, maxFilterChars, maxFilterDepth, ScimError } from "./entity.ts"

export type Operator = "eq" | "ne" | "co" | "sw" | "ew" | "pr"
export type FilterValue = string | boolean | number | null

export type Filter =
  | {
      readonly _tag: "Compare"
      /** Path in lower case, without the name of its schema. */
      readonly path: string
      readonly operator: Operator
      readonly value: FilterValue
    }
  | { readonly _tag: "And" | "Or"; readonly left: Filter; readonly right: Filter }
  | { readonly _tag: "Not"; readonly of: Filter }

/** Attribute of a resource: its values, and whether letters of either case are the same. */
export interface Attribute<A> {
  readonly isExact: boolean
  readonly valuesOf: (resource: A) => ReadonlyArray<FilterValue>
  /** Tells whether a resource has a value, where that is sooner known than by all values. */
  readonly has?: (resource: A, value: string) => boolean
}

export type Attributes<A> = Readonly<Record<string, Attribute<A>>>

const operators: ReadonlySet<string> = new Set(["eq", "ne", "co", "sw", "ew", "pr"])

const bad = (detail: string): ScimError => new ScimError({ status: 400, scimType: "invalidFilter", detail })

interface Token {
  readonly kind: "word" | "text" | "open" | "close"
  readonly text: string
}

const tokenAt = /\s*(?:(\()|(\))|("(?:[^"\\]|\\.)*")|([^\s()"]+))/y

const tokensOf = (filter: string): ReadonlyArray<Token> | ScimError => {
  const tokens: Array<Token> = []
  const text = filter.trimEnd()
  tokenAt.lastIndex = 0
  while (tokenAt.lastIndex < text.length) {
    const found = tokenAt.exec(text)
    if (found === null) return bad("The filter has a text without its closing quote.")
    const [, open, close, quoted, word = ""] = found
    if (open !== undefined) tokens.push({ kind: "open", text: open })
    else if (close !== undefined) tokens.push({ kind: "close", text: close })
    else tokens.push(quoted === undefined ? { kind: "word", text: word } : { kind: "text", text: quoted })
  }
  return tokens
}

/** The path without the name of the schema before it, in lower case. */
export const plainPath = (path: string): string =>
  path.toLowerCase().replace(/^urn:ietf:params:scim:schemas:core:2\.0:(?:user|group):/, "")

const valueOf = ({ kind, text }: Token): FilterValue | ScimError => {
  if (kind === "open" || kind === "close") return bad("A comparison in the filter has no value.")
  try {
    const value: unknown = JSON.parse(kind === "word" ? text.toLowerCase() : text)
    const isPlain = value === null || ["string", "boolean", "number"].includes(typeof value)
    if (isPlain) return value as FilterValue
  } catch {
    // Said below.
  }
  return bad("A value in the filter is neither a text in quotes, a number, true, false nor null.")
}

class Reader {
  #at = 0
  #comparisons = 0
  readonly #tokens: ReadonlyArray<Token>

  constructor(tokens: ReadonlyArray<Token>) {
    this.#tokens = tokens
  }

  isOver(): boolean {
    return this.#at >= this.#tokens.length
  }

  #takes(word: string): boolean {
    const token = this.#tokens[this.#at]
    if (token === undefined || token.kind !== "word" || token.text.toLowerCase() !== word) return false
    this.#at += 1
    return true
  }

  #next(): Token | null {
    const token = this.#tokens[this.#at] ?? null
    this.#at += 1
    return token
  }

  #joined(depth: number, word: "and" | "or", part: (depth: number) => Filter | ScimError): Filter | ScimError {
    let left = part(depth)
    while (!(left instanceof ScimError) && this.#takes(word)) {
      const right = part(depth)
      if (right instanceof ScimError) return right
      left = { _tag: word === "and" ? "And" : "Or", left, right }
    }
    return left
  }

  any(depth: number): Filter | ScimError {
    return this.#joined(depth, "or", (within) => this.#all(within))
  }

  #all(depth: number): Filter | ScimError {
    return this.#joined(depth, "and", (within) => this.#one(within))
  }

  #group(depth: number): Filter | ScimError {
    if (depth >= maxFilterDepth) return bad(`The filter has more than ${maxFilterDepth} levels.`)
    const inner = this.any(depth + 1)
    if (inner instanceof ScimError) return inner
    return this.#next()?.kind === "close" ? inner : bad("The filter has a parenthesis that is not closed.")
  }

  #one(depth: number): Filter | ScimError {
    if (this.#takes("not")) {
      if (this.#next()?.kind !== "open") return bad("'not' in the filter needs parentheses.")
      const of = this.#group(depth)
      return of instanceof ScimError ? of : { _tag: "Not", of }
    }
    const first = this.#next()
    if (first?.kind === "open") return this.#group(depth)
    if (first?.kind !== "word") return bad("The filter lacks the name of an attribute.")
    this.#comparisons += 1
    if (this.#comparisons > maxComparisons) return bad(`The filter has more than ${maxComparisons} comparisons.`)
    const operator = this.#next()?.text.toLowerCase() ?? ""
    if (!operators.has(operator)) return bad("The filter has an operator besides eq, ne, co, sw, ew and pr.")
    const path = plainPath(first.text)
    if (operator === "pr") return { _tag: "Compare", path, operator, value: null }
    const given = this.#next()
    const value = given === null ? bad("A comparison in the filter has no value.") : valueOf(given)
    return value instanceof ScimError ? value : { _tag: "Compare", path, operator: operator as Operator, value }
  }
}

/** Reads a filter. */
export const readFilter = (text: string): Filter | ScimError => {
  if (text.length > maxFilterChars) return bad(`The filter is longer than ${maxFilterChars} characters.`)
  const tokens = tokensOf(text)
  if (tokens instanceof ScimError) return tokens
  const reader = new Reader(tokens)
  const filter = reader.any(0)
  if (filter instanceof ScimError || reader.isOver()) return filter
  return bad("The filter goes on where it should end.")
}

type Test<A> = (resource: A) => boolean

/** Text of a value as it is compared; directories write booleans as texts too. */
const comparable = (value: FilterValue, isExact: boolean): string =>
  isExact ? String(value) : String(value).toLowerCase()

const compare = <A>(attribute: Attribute<A>, operator: Operator, value: FilterValue): Test<A> | ScimError => {
  const { has, isExact, valuesOf } = attribute
  if (operator === "pr") return (resource) => valuesOf(resource).some((each) => each !== null && each !== "")
  if (has !== undefined) {
    if ((operator !== "eq" && operator !== "ne") || typeof value !== "string") {
      return bad("Members are compared by 'eq' and 'ne' with a text only.")
    }
    return (resource) => has(resource, value) === (operator === "eq")
  }
  const wanted = comparable(value, isExact)
  const fits = (test: (text: string) => boolean): Test<A> => {
    return (resource) => valuesOf(resource).some((each) => each !== null && test(comparable(each, isExact)))
  }
  if (value === null) {
    const isAbsent: Test<A> = (resource) => valuesOf(resource).every((each) => each === null)
    if (operator === "eq") return isAbsent
    return operator === "ne" ? (resource) => !isAbsent(resource) : bad("null is compared by 'eq' and 'ne' only.")
  }
  switch (operator) {
    case "eq":
      return fits((text) => text === wanted)
    case "ne": {
      const isEqual = fits((text) => text === wanted)
      return (resource) => !isEqual(resource)
    }
    case "co":
      return fits((text) => text.includes(wanted))
    case "sw":
      return fits((text) => text.startsWith(wanted))
    case "ew":
      return fits((text) => text.endsWith(wanted))
  }
}

/** Makes the test of a filter for resources with these attributes. */
export const testOf = <A>(filter: Filter, attributes: Attributes<A>): Test<A> | ScimError => {
  switch (filter._tag) {
    case "Compare": {
      const attribute = Object.hasOwn(attributes, filter.path) ? attributes[filter.path] : undefined
      if (attribute !== undefined) return compare(attribute, filter.operator, filter.value)
      return bad(`Resources are filtered by ${Object.keys(attributes).join(", ")}.`)
    }
    case "Not": {
      const of = testOf(filter.of, attributes)
      return of instanceof ScimError ? of : (resource) => !of(resource)
    }
    case "And":
    case "Or": {
      const left = testOf(filter.left, attributes)
      const right = testOf(filter.right, attributes)
      if (left instanceof ScimError) return left
      if (right instanceof ScimError) return right
      return filter._tag === "And"
        ? (resource) => left(resource) && right(resource)
        : (resource) => left(resource) || right(resource)
    }
  }
}

/** Values of a filter that is `value eq "…"`, joined by `or`; null: it is another one. */
export const valuesIn = (filter: Filter): ReadonlyArray<string> | null => {
  if (filter._tag === "Or") {
    const left = valuesIn(filter.left)
    const right = valuesIn(filter.right)
    return left === null || right === null ? null : [...left, ...right]
  }
  if (filter._tag !== "Compare" || filter.path !== "value" || filter.operator !== "eq") return null
  return typeof filter.value === "string" ? [filter.value] : null
}
