/**
 * The kinds of failure of an attempt, as a closed set, and the classified failure. `Policy` says what each kind means for retries,
 * cooldowns, breakers and accounts.
 */

import type { ClientError } from "../../../contract/domain/ErrorKind.ts"

export type FailureKind =
  /** 408, 5xx and other passing failures. */
  | "transient"
  /** The provider or the model is overloaded. */
  | "capacity"
  /** More requests or tokens than a short window allows. */
  | "rate_limit"
  /** A quota window of hours, days or months is used up; it is renewed without payment. */
  | "quota_exhausted"
  /** The credits are used up; only a payment helps. */
  | "credits_exhausted"
  /** The access token has expired, and there is a refresh token. */
  | "auth_refreshable"
  /** The access token is over, and the token endpoint gave no new one now. Says nothing about the account. */
  | "token_refresh_failed"
  /** The credential is no longer valid. */
  | "auth_expired"
  /** The account is closed. */
  | "banned"
  /** Refused, but the account is not reported as closed. */
  | "forbidden"
  | "model_not_found"
  /** The model exists, but not for this account. */
  | "model_no_access"
  /** The conversation does not fit the model's window. */
  | "context_overflow"
  /** The request is too large for this provider, or for this account's share of it. */
  | "too_large"
  | "bad_request"
  /** The provider refuses this content. */
  | "content_refused"
  /** A feature that is not enabled, or a region that is not served. */
  | "route"
  | "empty_answer"
  /** The model's own output cannot be used: an invalid tool call, a missing signature. The provider is healthy. */
  | "unusable_output"
  /** The answer ended before it was complete. */
  | "truncated"
  /** The answer ended normally, but without a finish reason. */
  | "unfinished"
  /** The body is not an answer of this wire. */
  | "malformed"
  | "connect_timeout"
  | "first_byte_timeout"
  | "idle_timeout"
  | "total_timeout"
  /** Connection refused or reset, unknown host name, untrusted certificate. */
  | "network"
  /** The gateway itself did not make the call or did not take the answer. */
  | "gateway_refusal"
  /** The client left, or the gateway itself stops. */
  | "cancelled"

/** Scope of a cooldown: nothing, one connection, one model on one connection, or every connection of the provider. */
export type CooldownScope = "none" | "connection" | "model" | "provider"

/**
 * Scope of the other targets of the same request that would fail in the same way and are left out: those of the connection,
 * those of the same provider and model, or all of the provider.
 */
export type Exhausts = "nothing" | "connection" | "model" | "provider"

/**
 * Place of a failure's report:
 * - `call` the call itself failed, without an answer of the upstream
 * - `status` the answer was an error
 * - `answer` in the body of an answer that claimed success
 * - `opening` in an event of a stream, before its first content
 * - `midway` in an event of a stream, after content
 */
export type FailurePlace = "call" | "status" | "answer" | "opening" | "midway"

/**
 * Reason for which a failure does not condemn an account: it rests on text alone, which may be wrong; or this request has condemned
 * another account before.
 */
export interface Suspicion {
  /** Failure by status, codes and headers alone: that much is certain. Null: it is the same failure. */
  readonly ground: Failure | null
  /** Hash of the request that met it. Another one that meets the same confirms it; empty: none can. */
  readonly fingerprint: string
}

/** A failure once it is understood. Times are milliseconds. */
export interface Failure {
  readonly kind: FailureKind
  readonly place: FailurePlace
  /** HTTP status the failure counts as: for the breaker, for lockouts and for the client. */
  readonly status: number
  /** True when the upstream described the failure itself. */
  readonly answered: boolean
  /** Stable word for logs and `error.attempts`: `http_503`, `error_in_stream`, `first_byte_timeout`, … */
  readonly reason: string
  /** Id of the rule that decided. */
  readonly rule: string
  /** Description for people; the provider's own where there is one. May hold secrets until it is scrubbed. */
  readonly message: string
  /** Time in ms that the upstream asked to wait; null when it did not say. Always positive. */
  readonly hintMs: number | null
  /** Epoch until which trying again is pointless: the upstream's hint or what the rule knows about the window; else null. */
  readonly untilMs: number | null
  readonly scope: CooldownScope
  readonly exhausts: Exhausts
  /** Content of the answer had arrived before it failed. */
  readonly contentBegan: boolean
  /** The error that the client gets; absent in simulations. */
  readonly clientError?: ClientError
  /** Absent: it is proven. Else others go first, and who is alone is still asked. */
  readonly suspicion?: Suspicion
}
