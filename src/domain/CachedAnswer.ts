/** An answer that is kept for the same request of the same caller. */

export interface CachedAnswer {
  /** How it was sent: in one piece, or as a stream. */
  readonly form: "whole" | "stream"
  /** Members of the request that say what a stream has in it, as JSON; empty for a whole answer. */
  readonly variant: string
  readonly contentType: string
  /** In the wire of the client. */
  readonly body: Buffer
  readonly hasToolCalls: boolean
  /** What has answered. */
  readonly provider: string
  readonly model: string
  /** What it cost then. */
  readonly costNanoUsd: number
  readonly createdAtMs: number
  readonly expiresAtMs: number
}

/** Of the stored form: entries of another version are not read. */
export const cacheVersion = 1
