/** Memories of the conversations of an API key, and for it (`docs/memory.md`). */

/** A fact of the caller, something that happened, how something is done, or knowledge without a place in time. */
export const memoryTypes = ["factual", "episodic", "procedural", "semantic"] as const
export type MemoryType = (typeof memoryTypes)[number]

/** `added` through the API, or `extracted` from a conversation. */
export const memorySources = ["added", "extracted"] as const
export type MemorySource = (typeof memorySources)[number]

export interface Memory {
  readonly id: string
  /** Null: of callers without an API key, who are one caller. */
  readonly apiKeyId: string | null
  readonly type: MemoryType
  readonly source: MemorySource
  /** Names it among those of its type: another with the same key replaces it. */
  readonly key: string
  readonly content: string
  /** The session that it is about, as its client gave it; null: none. */
  readonly sessionId: string | null
  readonly createdAtMs: number
  readonly updatedAtMs: number
  /** Time at which it was last written or put into a request; unused ones are deleted. */
  readonly lastUsedAtMs: number
}

/** Text that presents memories to a model, at its place in a session. */
export interface PlacedBlock {
  readonly text: string
  /** Ids of the memories in it. */
  readonly ids: ReadonlyArray<string>
  /** Estimated. */
  readonly tokens: number
  /** Place of the block: a turn before the one that it belongs to, or behind the client's own mark in that. */
  readonly place: "before" | "behindMark"
}

/** Filter of memories. Absent: all. */
export interface MemoryFilter {
  /** Null: those of callers without an API key. */
  readonly apiKeyId?: string | null
  readonly type?: MemoryType
  readonly sessionId?: string
}

/** Most entries of an API key. */
export const maxEntriesPerKey = 1_000
/** Most bytes of the keys and contents of an API key, as UTF-8. */
export const maxBytesPerKey = 2_097_152
export const maxKeyChars = 200
export const maxContentChars = 8_192
