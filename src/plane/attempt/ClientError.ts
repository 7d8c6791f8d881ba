/** Reports to a client the failure that ended its request. Pure. */
import type { ErrorKind, ClientError } from "../../contract/domain/ErrorKind.ts"
import type { FailureKind } from "../resilience/failure/FailureKind.ts"
import type { UpstreamProblem } from "../../wire/canonical/Event.ts"
import { isArray, type Json, type JsonObject } from "../../wire/json/Json.ts"
import type { UpstreamWords } from "./AttemptResult.ts"

/**
 * Codes and types with which providers say that money or a plan is used up. They look like a limit (429), but no waiting mends them:
 * https://platform.openai.com/docs/guides/error-codes, https://docs.anthropic.com/en/api/errors
 */
const moneyCodes: ReadonlySet<string> = new Set([
  "insufficient_quota",
  "billing_hard_limit_reached",
  "billing_not_active",
  "billing_error",
  "insufficient_balance",
  "usage_not_included"
])

const kinds: Readonly<Partial<Record<string, ErrorKind>>> & Readonly<Partial<Record<FailureKind, ErrorKind>>> = {
  credits_exhausted: "insufficient_quota",
  insufficient_quota: "insufficient_quota",
  quota_exhausted: "usage_limit",
  rate_limit: "rate_limit",
  capacity: "overloaded",
  content_refused: "content_refused",
  context_overflow: "context_overflow",
  model_not_found: "model_not_found"
}

/** Null where a client has nothing else to do than with any failure of that status. */
export const errorKindOf = (
  kind: string | null,
  problem: Pick<UpstreamProblem, "code" | "type"> | null
): ErrorKind | null => {
  if (problem !== null && (kind === "quota_exhausted" || kind === "credits_exhausted")) {
    if (moneyCodes.has(problem.code ?? "") || moneyCodes.has(problem.type ?? "")) return "insufficient_quota"
  }
  return kind === null ? null : (kinds[kind] ?? null)
}

/** Texts without credentials in them. */
type Clean = (text: string) => string

/** Deeper members of an error object are of no use to a client. */
const maxDepth = 8

/** A credential may be in any text of the object, in names of members too. */
const cleanJson = (value: Json, clean: Clean, depth: number): Json => {
  if (typeof value === "string") return clean(value)
  if (typeof value !== "object" || value === null) return value
  if (depth >= maxDepth) return null
  return isArray(value) ? value.map((item) => cleanJson(item, clean, depth + 1)) : cleanObject(value, clean, depth + 1)
}

const cleanObject = (native: JsonObject, clean: Clean, depth = 0): JsonObject =>
  Object.fromEntries(
    Object.entries(native).flatMap(([name, value]) =>
      value === undefined ? [] : [[clean(name), cleanJson(value, clean, depth)]]
    )
  )

export const clientErrorOf = (kind: FailureKind, words: UpstreamWords | null, clean: Clean): ClientError => {
  if (words === null) return { kind: errorKindOf(kind, null), native: null }
  const { passed, problem, wire } = words
  const native = {
    wire,
    error: problem.native === undefined ? null : cleanObject(problem.native, clean),
    headers: passed.map(clean)
  }
  return { kind: errorKindOf(kind, problem), native }
}

/** Kinds by the names that providers have for them, in `code` or `type`. */
const kindByCode: Readonly<Record<string, ErrorKind>> = {
  usage_limit_reached: "usage_limit",
  rate_limit_exceeded: "rate_limit",
  rate_limit_error: "rate_limit",
  overloaded_error: "overloaded",
  server_is_overloaded: "overloaded",
  slow_down: "overloaded",
  content_policy_violation: "content_refused",
  content_filter: "content_refused",
  invalid_prompt: "content_refused",
  context_length_exceeded: "context_overflow",
  model_not_found: "model_not_found"
}

const kindOfProblem = ({ code, type }: UpstreamProblem): ErrorKind | null => {
  if (moneyCodes.has(code ?? "") || moneyCodes.has(type ?? "")) return "insufficient_quota"
  return kindByCode[code ?? ""] ?? kindByCode[type ?? ""] ?? null
}

/** Makes the error of a stream that has begun: only its name is known by then. */
export const clientErrorInStream = (words: UpstreamWords | null, clean: Clean): ClientError => ({
  ...clientErrorOf("transient", words, clean),
  kind: words === null ? null : kindOfProblem(words.problem)
})
