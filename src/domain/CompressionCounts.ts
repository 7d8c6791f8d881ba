/** What the compression of prompts did on a day (UTC), for one mode and one reason to use it. */
export interface CompressionCounts {
  /** `2026-11-23`. */
  readonly day: string
  /** As `X-Gateway-Compression` has it. */
  readonly mode: string
  readonly source: string
  readonly requests: number
  /** Those of them that became smaller; the tokens are theirs. */
  readonly changed: number
  readonly tokensBefore: number
  readonly tokensAfter: number
}
