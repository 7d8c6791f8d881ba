/**
 * Reads typed members of a request body and collects every invalid one, so that an error names all fields at once. Null counts as
 * absent, because clients send nulls for values that are not set.
 */
import * as Either from "effect/Either"
import { type FieldProblem, InvalidRequest } from "../../contract/domain/Errors.ts"
import { isArray, isObject, isPositiveInteger, type Json, type JsonObject } from "./Json.ts"

/** Further problems are not reported. */
const maxProblems = 16

type Read<A> = (object: JsonObject, key: string, path?: string) => A | undefined

export interface FieldReader {
  readonly fail: (field: string, message: string) => void
  readonly string: Read<string>
  readonly number: Read<number>
  readonly boolean: Read<boolean>
  readonly positive: Read<number>
  /** A positive integer; -1 stands for none. */
  readonly limit: Read<number>
  readonly object: Read<JsonObject>
  readonly array: Read<ReadonlyArray<Json>>
  /** The value when everything was valid, else the error. */
  readonly result: <A>(value: A) => Either.Either<A, InvalidRequest>
}

const kindOf = (value: unknown): string =>
  value === null ? "null" : Array.isArray(value) ? "an array" : typeof value === "object" ? "an object" : typeof value

const isString = (value: unknown): value is string => typeof value === "string"
const isNumber = (value: unknown): value is number => typeof value === "number" && Number.isFinite(value)
const isBoolean = (value: unknown): value is boolean => typeof value === "boolean"

/** An error that names one field. */
export const invalidField = (field: string, message: string): InvalidRequest =>
  new InvalidRequest({ message: `${field}: ${message}`, param: field, details: [{ field, message }] })

export const mismatch = (value: unknown, expected: string): string => `expected ${expected}, got ${kindOf(value)}`

export const makeFieldReader = (): FieldReader => {
  const problems: Array<FieldProblem> = []
  const fail = (field: string, message: string): void => {
    if (problems.length < maxProblems) problems.push({ field, message })
  }
  const reader =
    <A>(is: (value: unknown) => value is A, expected: string): Read<A> =>
    (object, key, path) => {
      const value = object[key]
      if (value === undefined || value === null) return undefined
      if (is(value)) return value
      fail(path === undefined ? key : `${path}.${key}`, mismatch(value, expected))
      return undefined
    }
  const positive = reader(isPositiveInteger, "a positive integer")
  return {
    fail,
    string: reader(isString, "a string"),
    number: reader(isNumber, "a number"),
    boolean: reader(isBoolean, "a boolean"),
    positive,
    limit: (object, key, path) => (object[key] === -1 ? undefined : positive(object, key, path)),
    object: reader(isObject, "an object"),
    array: reader(isArray, "an array"),
    result: (value) => {
      const [first] = problems
      if (first === undefined) return Either.right(value)
      return Either.left(
        new InvalidRequest({ message: `${first.field}: ${first.message}`, param: first.field, details: problems })
      )
    }
  }
}
