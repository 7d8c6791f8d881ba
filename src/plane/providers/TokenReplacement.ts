/**
 * New tokens in the place of old ones. The store may lag behind: a reload that was in progress, or a write that failed, may still
 * show a set that was replaced. A set that was replaced gives way to the new one; any other set is an operator's change and wins.
 */
import * as Redacted from "effect/Redacted"
import type { OAuthTokens } from "../../subjects/connections/entity.ts"
import type { RenewedTokens } from "../../subjects/connections/repo.ts"

export interface Replacement {
  /** Sets that are no longer good, oldest first. */
  readonly replaced: ReadonlyArray<RenewedTokens>
  readonly tokens: RenewedTokens
}

/** More than a store can miss: every one stands for a refresh while it could not be written. */
const longest = 32

const textOf = (token: Redacted.Redacted | null): string | null => (token === null ? null : Redacted.value(token))

/** Checks whether two sets hold the same access and refresh token. */
export const isSame = (a: RenewedTokens, b: RenewedTokens): boolean =>
  textOf(a.accessToken) === textOf(b.accessToken) && textOf(a.refreshToken) === textOf(b.refreshToken)

/** Checks whether nothing that a renewal depends on differs. */
export const isSameLogin = (a: OAuthTokens, b: OAuthTokens): boolean =>
  isSame(a, b) &&
  a.clientId === b.clientId &&
  a.tokenUrl === b.tokenUrl &&
  textOf(a.clientSecret) === textOf(b.clientSecret)

/** `tokens` in the place of `used`, and of all that `used` had replaced. */
export const replace = (earlier: Replacement | null, used: RenewedTokens, tokens: RenewedTokens): Replacement => {
  const before = earlier !== null && isSame(earlier.tokens, used) ? earlier.replaced : []
  return { replaced: [...before, used].slice(-longest), tokens }
}

export const isReplaced = ({ replaced }: Replacement, tokens: OAuthTokens): boolean =>
  replaced.some((old) => isSame(old, tokens))

/** Replaces an account's tokens by the new set: client and token endpoint stay the operator's. */
export const renewed = (own: OAuthTokens, { tokens }: Replacement): OAuthTokens => ({
  ...own,
  accessToken: tokens.accessToken,
  refreshToken: tokens.refreshToken,
  expiresAtMs: tokens.expiresAtMs
})

/** The refresh tokens that the new set replaces. */
export const refreshTokensOf = ({ replaced }: Replacement): ReadonlyArray<Redacted.Redacted> =>
  replaced.flatMap(({ refreshToken }) => (refreshToken === null ? [] : [refreshToken]))
