/**
 * Reads the answer of a token endpoint (RFC 6749 §5), with the habits of those that do not keep to it. Pure and total.
 */
import * as Redacted from "effect/Redacted"
import type { UpstreamResponse } from "../../../net/egress/Upstream.ts"
import { scrub } from "../../../kernel/secrets/Scrub.ts"

export type TokenAnswer =
  | {
      readonly _tag: "Renewed"
      readonly accessToken: Redacted.Redacted
      /** Null: the one that was used stays good. */
      readonly refreshToken: Redacted.Redacted | null
      /** Lifetime of the access token in milliseconds; null when it is not given. */
      readonly lifetimeMs: number | null
    }
  /** The refresh token is not good any more, or never was for this client. */
  | { readonly _tag: "Dead"; readonly code: string; readonly words: string }
  /** The client itself was not accepted, or not in this way. */
  | { readonly _tag: "ClientRefused"; readonly code: string; readonly words: string }
  | { readonly _tag: "Refused"; readonly status: number; readonly words: string; readonly waitMs: number | null }
  /** A 2xx that is no token answer. */
  | { readonly _tag: "Malformed"; readonly status: number }

/** No refresh with these credentials will succeed again. The longer ones are OpenAI's and GitHub's. */
const deadCodes: ReadonlySet<string> = new Set([
  "invalid_grant",
  "unauthorized_client",
  "unsupported_grant_type",
  "refresh_token_expired",
  "refresh_token_reused",
  "refresh_token_invalidated",
  "bad_refresh_token"
])
const clientCodes: ReadonlySet<string> = new Set(["invalid_client", "incorrect_client_credentials"])

/** RFC 6749 A.12 and A.17: visible characters and spaces. Others could not be sent in a header. */
const tokenPattern = /^[\x20-\x7e]{1,16384}$/
const maxWords = 200
const maxRead = 4_000
const maxLifetimeMs = 10 * 365 * 86_400_000
const maxWaitMs = 3_600_000

type Members = Readonly<Record<string, unknown>>

const isMembers = (value: unknown): value is Members =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const membersOf = (body: Buffer): Members | null => {
  try {
    const parsed: unknown = JSON.parse(body.toString("utf8"))
    return isMembers(parsed) ? parsed : null
  } catch {
    return null
  }
}

const isToken = (value: unknown): value is string => typeof value === "string" && tokenPattern.test(value)

/** Reads `expires_in` in seconds, sometimes as text; one that is not positive does not count. */
const lifetimeOf = (value: unknown): number | null => {
  const seconds = typeof value === "string" && value.trim() !== "" ? Number(value) : value
  if (typeof seconds !== "number" || !Number.isFinite(seconds) || seconds <= 0) return null
  return Math.min(seconds * 1000, maxLifetimeMs)
}

/** `error` is a code; some providers put an object there. */
const codesOf = (members: Members): ReadonlyArray<string> => {
  const { error } = members
  const candidates = isMembers(error) ? [error.code, error.type, error.error] : [error]
  return candidates.filter((code) => typeof code === "string" && /^[\w.-]{1,64}$/.test(code)) as Array<string>
}

const wordsOf = (members: Members): string => {
  const { error } = members
  const words = members.error_description ?? (isMembers(error) ? error.message : null) ?? members.message
  return typeof words === "string" ? words : ""
}

const waitOf = (header: string | null): number | null =>
  header !== null && /^\d{1,9}$/.test(header) ? Math.min(Number(header) * 1000, maxWaitMs) : null

/** Reads an answer. The provider's words are kept short and without any of `secrets`. */
export const readAnswer = (
  { body, headers, status }: UpstreamResponse,
  secrets: ReadonlyArray<string>
): TokenAnswer => {
  const members = membersOf(body)
  const isGood = status >= 200 && status < 300
  if (isGood && members !== null && isToken(members.access_token)) {
    return {
      _tag: "Renewed",
      accessToken: Redacted.make(members.access_token),
      refreshToken: isToken(members.refresh_token) ? Redacted.make(members.refresh_token) : null,
      lifetimeMs: lifetimeOf(members.expires_in)
    }
  }
  const words = scrub(members === null ? "" : wordsOf(members).slice(0, maxRead), secrets)
    .replace(/[^\x20-\x7e\u00a0-\uffff]+/g, " ")
    .slice(0, maxWords)
  // An outage or a limit of the provider's says nothing about the credentials, whatever its page says.
  if (members !== null && status < 500 && status !== 429) {
    const codes = codesOf(members)
    const dead = codes.find((code) => deadCodes.has(code))
    if (dead !== undefined) return { _tag: "Dead", code: dead, words }
    const client = codes.find((code) => clientCodes.has(code))
    if (client !== undefined) return { _tag: "ClientRefused", code: client, words }
    if (codes.length > 0)
      return { _tag: "Refused", status, words: words === "" ? scrub(codes[0] ?? "", secrets) : words, waitMs: null }
  }
  return isGood
    ? { _tag: "Malformed", status }
    : { _tag: "Refused", status, words, waitMs: waitOf(headers.get("retry-after")) }
}
