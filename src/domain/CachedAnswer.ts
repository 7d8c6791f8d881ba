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

/** The words of a question, as far as they tell it from others (`cache/semantic/Wording`). */
export interface Wording {
  /** Numbers, names in quotes and negations: the same for two questions that have one answer. */
  readonly exact: string
  /** All words, in lower case. */
  readonly words: ReadonlyArray<string>
}

/** What a question means, besides which all that was asked is the same within a bucket. */
export interface Meaning {
  /** Hash of all that was asked besides the words of the last turn. */
  readonly bucket: string
  readonly wording: Wording
  /** Of length 1. */
  readonly vector: Float32Array
}

/** The meaning of the question of a kept answer. */
export interface KeptMeaning extends Omit<Meaning, "bucket"> {
  /** Of the answer. */
  readonly key: string
  readonly createdAtMs: number
  readonly expiresAtMs: number
}

/** Of the stored form: entries of another version are not read. */
export const cacheVersion = 1
