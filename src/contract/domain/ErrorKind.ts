/** The kinds of upstream failure that clients react to, and the error as the upstream wrote it. */
import type { WireName } from "./Wire.ts"

/**
 * - `insufficient_quota` the money or the plan is used up: waiting does not help
 * - `usage_limit` a window of hours, days or months is used up; it opens again by itself
 * - `rate_limit` too many requests or tokens in a short window
 * - `overloaded` the provider or the model has no capacity now
 * - `content_refused` the provider refuses this content
 * - `context_overflow` the conversation does not fit the model's window
 * - `model_not_found` the provider does not have the model
 */
export type ErrorKind =
  | "insufficient_quota"
  | "usage_limit"
  | "rate_limit"
  | "overloaded"
  | "content_refused"
  | "context_overflow"
  | "model_not_found"

/** The error of an upstream, scrubbed of credentials. A client of the same wire gets it as it is. */
export interface NativeError {
  readonly wire: WireName
  /** The error object; null when the upstream wrote none, or one too large to pass on. */
  readonly error: Readonly<Record<string, unknown>> | null
  /** Headers about limits and the request's id, as a flat name–value list. */
  readonly headers: ReadonlyArray<string>
}

/** Parts of a failure that a client may see. */
export interface ClientError {
  /** Null where the status alone says what a client can do. */
  readonly kind: ErrorKind | null
  /** Null when the upstream sent no error of its own. */
  readonly native: NativeError | null
}
