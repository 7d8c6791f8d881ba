/** An answer that is kept for the same request of the same caller. */

export interface CachedAnswer {
  /** Form in which it was sent: in one piece, or as a stream. */
  readonly form: "whole" | "stream"
  /** Members of the request that say what a stream has in it, as JSON; empty for a whole answer. */
  readonly variant: string
  readonly contentType: string
  /** Body in the wire of the client. */
  readonly body: Buffer
  readonly hasToolCalls: boolean
  /** Provider that has answered. */
  readonly provider: string
  readonly model: string
  /** Cost at that time. */
  readonly costNanoUsd: number
  readonly createdAtMs: number
  readonly expiresAtMs: number
}

/** Words of a question, as far as they distinguish it from others (`plane/cache/semantic/Wording`). */
export interface Wording {
  /** Numbers, names in quotes and negations: the same for two questions that have one answer. */
  readonly exact: string
  /** All words, in lower case. */
  readonly words: ReadonlyArray<string>
}

/** Meaning of a question; within a bucket everything else of the request is the same. */
export interface Meaning {
  /** Hash of all that was asked besides the words of the last turn. */
  readonly bucket: string
  readonly wording: Wording
  /** Vector of norm 1. */
  readonly vector: Float32Array
}

/** The meaning of the question of a kept answer. */
export interface KeptMeaning extends Omit<Meaning, "bucket"> {
  /** Key of the answer. */
  readonly key: string
  readonly createdAtMs: number
  readonly expiresAtMs: number
}

/** Version of the stored form: entries of another version are not read. */
export const cacheVersion = 1
