/**
 * Media fetched a short while ago, so that the turns of one conversation do not fetch the same picture again and again.
 * Keyed by the whole hash of caller and URL: no caller gets what another caller's link (which may be signed) gave.
 */
import { createHash } from "node:crypto"
import type { ContentPermission } from "../../contract/domain/ContentPermission.ts"
import { LruMap } from "../../kernel/collections/LruMap.ts"
import type { MediaSource } from "../../wire/canonical/Conversation.ts"

export const capacityBytes = 67_108_864
export const maxEntries = 1_000
export const lifetimeMs = 300_000

export const cacheKey = (owner: string, url: string): string =>
  createHash("sha256").update(owner).update("\0").update(url).digest("hex")

/** Inline text and base64 are held as strings of one byte per character, or two. */
const bytesOf = (source: MediaSource): number =>
  source.kind === "base64" ? source.data.length : source.kind === "text" ? source.text.length * 2 : 0

export interface MediaCache {
  readonly get: (key: string, nowMs: number) => MediaSource | null
  readonly put: (permission: ContentPermission, key: string, source: MediaSource, nowMs: number) => void
}

export const makeMediaCache = (): MediaCache => {
  const entries = new LruMap<string, MediaSource>({
    capacity: maxEntries,
    maxWeight: capacityBytes,
    weightOf: bytesOf,
    ttlMs: lifetimeMs
  })
  return {
    get: (key, nowMs) => entries.get(key, nowMs) ?? null,
    put: (_permission, key, source, nowMs) => {
      entries.deleteExpired(nowMs)
      if (bytesOf(source) > capacityBytes / 2) entries.delete(key)
      else entries.set(key, source, nowMs)
    }
  }
}
