/** Receiver of the answer of an outbound call. */
import type { TransportFailure } from "./TransportFailure.ts"
import type { UpstreamHeaders } from "./UpstreamHeaders.ts"

/**
 * Receives one answer. No method runs before `dispatch` has returned; `onHeaders` comes once, then any number of `onData`,
 * then exactly one of `onEnd` and `onFail`. `onFail` may come at any point before `onEnd`; either may come while the body is
 * paused, `onEnd` only if all of it was delivered. After `abort()` nothing comes.
 */
export interface UpstreamSink {
  /** The final status (never 1xx). Returning false pauses the body until `resume()`. */
  readonly onHeaders: (status: number, headers: UpstreamHeaders) => boolean | void
  /** A piece of the body, decoded if it had an encoding. Returning false pauses until `resume()`. The chunk may be kept. */
  readonly onData: (chunk: Buffer) => boolean
  readonly onEnd: () => void
  readonly onFail: (failure: TransportFailure) => void
}
