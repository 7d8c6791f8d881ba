/**
 * Media fetched a short while ago, so that the turns of one conversation do not fetch the same picture again and again.
 * Keyed by the whole hash of caller and URL: nobody gets what another caller's link (which may be signed) gave.
 */
import { createHash } from "node:crypto"
import type { MediaSource } from "../../wire/canonical/Conversation.ts"

export const capacityBytes = 67_108_864
export const maxEntries = 1_000
export const lifetimeMs = 300_000

export const cacheKey = (owner: string, url: string): string =>
  createHash("sha256").update(owner).update("\0").update(url).digest("hex")

interface Entry {
  readonly source: MediaSource
  readonly bytes: number
  readonly untilMs: number
}

/** Inline text and base64 are held as strings of one byte per character, or two. */
const bytesOf = (source: MediaSource): number =>
  source.kind === "base64" ? source.data.length : source.kind === "text" ? source.text.length * 2 : 0

export interface MediaCache {
  readonly get: (key: string, nowMs: number) => MediaSource | null
  readonly put: (key: string, source: MediaSource, nowMs: number) => void
}

/** Least recently used first out; expired entries go when they are met or reach the front. */
export const makeMediaCache = (): MediaCache => {
  const entries = new Map<string, Entry>()
  let held = 0
  const remove = (key: string, entry: Entry): void => {
    entries.delete(key)
    held -= entry.bytes
  }
  return {
    get: (key, nowMs) => {
      const entry = entries.get(key)
      if (entry === undefined) return null
      remove(key, entry)
      if (entry.untilMs <= nowMs) return null
      entries.set(key, entry)
      held += entry.bytes
      return entry.source
    },
    put: (key, source, nowMs) => {
      const bytes = bytesOf(source)
      const known = entries.get(key)
      if (known !== undefined) remove(key, known)
      if (bytes > capacityBytes / 2) return
      for (const [oldKey, old] of entries) {
        const isFull = held + bytes > capacityBytes || entries.size >= maxEntries
        if (!isFull && old.untilMs > nowMs) break
        remove(oldKey, old)
      }
      entries.set(key, { source, bytes, untilMs: nowMs + lifetimeMs })
      held += bytes
    }
  }
}
