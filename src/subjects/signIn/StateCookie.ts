/**
 * The cookie that binds a sign-in to the browser that began it. It holds, encrypted, what the way back is checked with, so that nothing is kept here for
 * people who do not come back. Pure.
 */
import * as Either from "effect/Either"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import type { Secrets } from "../../store/secrets/Secrets.ts"
import { headerOf, type RequestHeaders } from "../auth/Credentials.ts"

export const cookieName = "gateway_sign_in"
export const lifetimeMs = 10 * 60_000
const maxChars = 4_000

const Pending = Schema.Struct({
  issuerId: Schema.String,
  state: Schema.String,
  nonce: Schema.String,
  /** Of PKCE (RFC 7636). */
  verifier: Schema.String,
  redirectUri: Schema.String,
  expiresAtMs: Schema.Number,
  /** Code of a login at the command line that waits for this person, empty where the person types it; null: the dashboard opens. */
  waitingLogin: Schema.optionalWith(Schema.NullOr(Schema.String), { default: () => null })
})

/** A sign-in from its beginning to the way back. */
export type Pending = typeof Pending.Type

const decode = Schema.decodeUnknownEither(Schema.parseJson(Pending))

const placeOf = (issuerId: string) => ({ table: "sign-in", column: "state", rowId: issuerId })

export const seal = (secrets: typeof Secrets.Service, pending: Pending): string =>
  Buffer.from(secrets.encrypt(placeOf(pending.issuerId), Redacted.make(JSON.stringify(pending)))).toString("base64url")

/** Returns the sign-in at this issuer that a cookie is of; null: none, another issuer's, altered, or over. */
export const open = (
  secrets: typeof Secrets.Service,
  issuerId: string,
  cookie: string | null,
  nowMs: number
): Pending | null => {
  if (cookie === null) return null
  const text = Buffer.from(cookie, "base64url").toString()
  const pending = Either.flatMap(secrets.decrypt(placeOf(issuerId), text), (plain) => decode(Redacted.value(plain)))
  return Either.isRight(pending) && pending.right.issuerId === issuerId && nowMs < pending.right.expiresAtMs
    ? pending.right
    : null
}

/** The value of the cookie of a request; null: there is none. */
export const valueIn = (headers: RequestHeaders): string | null => {
  for (const part of headerOf(headers, "cookie")?.split(";") ?? []) {
    const [name, value] = part.trim().split("=", 2)
    if (name === cookieName && value !== undefined && value.length <= maxChars && /^[\w-]+$/.test(value)) return value
  }
  return null
}
