/**
 * The latest summary of each session. Kept by session key, which holds the API key's id: no key ever reads another's. Its content comes
 * from prompts, so it stays in memory, is never logged, and is dropped after five hours or when there are too many.
 */
import type { ContentPermission } from "../../../contract/domain/ContentPermission.ts"
import { LruMap } from "../../../kernel/collections/LruMap.ts"

export interface Kept {
  /** Null: the model's answer held no summary. */
  readonly summary: string | null
  /** Messages of the conversation that was summed up. */
  readonly messages: number
  /** The connection that served it. */
  readonly connectionId: string
  /** `provider/model` that served it. */
  readonly from: string
}

export interface SummaryLimits {
  readonly maxEntries: number
  readonly maxBytes: number
  readonly ttlMs: number
}

export const defaultLimits: SummaryLimits = { maxEntries: 5_000, maxBytes: 16 * 1_048_576, ttlMs: 5 * 60 * 60_000 }

export interface Summaries {
  /** Hot. */
  readonly of: (sessionKey: string, nowMs: number) => Kept | null
  readonly keep: (permission: ContentPermission, sessionKey: string, kept: Kept, nowMs: number) => void
  readonly entries: () => number
  readonly bytes: () => number
}

/** Two bytes a character, and the entry itself by rule of thumb. */
const weigh = ({ from, summary }: Kept): number => 512 + 2 * (from.length + (summary?.length ?? 0))

export const makeSummaries = ({ maxBytes, maxEntries, ttlMs }: SummaryLimits = defaultLimits): Summaries => {
  const entries = new LruMap<string, Kept>({ capacity: maxEntries, maxWeight: maxBytes, weightOf: weigh, ttlMs })
  return {
    of: (key, nowMs) => entries.peek(key, nowMs) ?? null,
    keep: (_permission, key, kept, nowMs) => {
      entries.set(key, kept, nowMs)
      entries.deleteExpired(nowMs)
    },
    entries: () => entries.size,
    bytes: () => entries.weight
  }
}
