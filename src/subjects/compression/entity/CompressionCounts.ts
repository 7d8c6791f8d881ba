/** Sums of the compression of prompts on a day (UTC), for one mode and one reason to use it. */
export interface CompressionCounts {
  /** `2026-11-23`. */
  readonly day: string
  /** Mode as `X-Gateway-Compression` has it. */
  readonly mode: string
  readonly source: string
  readonly requests: number
  /** Number of those that became smaller; the tokens are theirs. */
  readonly changed: number
  readonly tokensBefore: number
  readonly tokensAfter: number
}
