/** Checks of optional top-level fields that the hot envelopes share. */
import type { InvalidRequest } from "../contract/domain/Errors.ts"
import { invalidField, mismatch } from "./json/FieldReader.ts"
import { isPositiveInteger, type JsonObject } from "./json/Json.ts"

export type FieldKind = "boolean" | "number" | "positive" | "limit" | "array" | "object"

const expected: Readonly<Record<FieldKind, string>> = {
  boolean: "a boolean",
  number: "a number",
  positive: "a positive integer",
  limit: "a positive integer",
  array: "an array",
  object: "an object"
}

const holds = (kind: FieldKind, value: unknown): boolean => {
  switch (kind) {
    case "positive":
      return isPositiveInteger(value)
    // Some clients write -1 for no limit.
    case "limit":
      return value === -1 || isPositiveInteger(value)
    case "array":
      return Array.isArray(value)
    case "object":
      return typeof value === "object" && !Array.isArray(value)
    default:
      return typeof value === kind
  }
}

/**
 * The first invalid field; null when all are valid. Absent and null fields count as not given. `path` is put before the field's name.
 */
export const optionalFieldProblem = (
  body: JsonObject,
  checks: Readonly<Record<string, FieldKind>>,
  path = ""
): InvalidRequest | null => {
  for (const field in checks) {
    const kind = checks[field]
    const value = body[field]
    if (kind === undefined || value === undefined || value === null || holds(kind, value)) continue
    const message =
      typeof value === "number" && (kind === "positive" || kind === "limit")
        ? "expected a positive integer"
        : mismatch(value, expected[kind])
    return invalidField(path + field, message)
  }
  return null
}
