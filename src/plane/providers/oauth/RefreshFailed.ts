/** Reasons for which an access token was not renewed, as a closed union. No message holds a credential. */
import * as Data from "effect/Data"

/** The provider no longer takes the refresh token or the client: terminal `expired`, until the credentials change. */
export class RefreshDead extends Data.TaggedError("RefreshDead")<{
  readonly connectionId: string
  /** The provider's error code: `invalid_grant`, `invalid_client`, … */
  readonly code: string
  readonly message: string
}> {}

/**
 * Failure that may pass: the token endpoint was not reached, was too slow, or had an error of its own. Not terminal.
 */
export class RefreshTransient extends Data.TaggedError("RefreshTransient")<{
  readonly connectionId: string
  readonly reason: "network" | "timeout" | "status" | "malformed" | "internal"
  /** HTTP status of the token endpoint; null when it gave none. */
  readonly status: number | null
  readonly message: string
  /** Milliseconds before the token endpoint is asked again; until then every refresh fails with this at once. */
  readonly retryAfterMs: number
}> {}

/** Failure without anything to renew with: no such active OAuth account, no refresh token, or no token endpoint. */
export class RefreshImpossible extends Data.TaggedError("RefreshImpossible")<{
  readonly connectionId: string
  readonly reason: "no_account" | "no_refresh_token" | "no_token_url"
  readonly message: string
}> {}

export type RefreshFailed = RefreshDead | RefreshTransient | RefreshImpossible
