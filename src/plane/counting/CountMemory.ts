/** Remembers connections without token counting for a while, so that they are not asked again for every count. */
import { LruMap } from "../../kernel/collections/LruMap.ts"

export const capacity = 1_000
/** The upstream knows no such route. */
const unknownRouteMs = 600_000
/**
 * Time in ms for which an upstream in trouble is not asked: a client that only wants a count should not wait for it
 * again.
 */
const troubleMs = 30_000

export interface CountMemory {
  /** Hot. */
  readonly isMute: (key: string, nowMs: number) => boolean
  /** `status` null: no answer came, or one that is no count. */
  readonly failed: (key: string, status: number | null, nowMs: number) => void
}

/**
 * Computes the time in ms for which it is not asked again; null for a failure that is about the request, not about the
 * upstream.
 */
const silenceMs = (status: number | null): number | null => {
  if (status === null || status >= 500 || status === 408 || status === 429)
    return status === 501 ? unknownRouteMs : troubleMs
  return status === 400 || status === 413 || status === 422 ? null : unknownRouteMs
}

export const makeCountMemory = (): CountMemory => {
  const muteUntil = new LruMap<string, number>({ capacity })
  return {
    isMute: (key, nowMs) => {
      const until = muteUntil.peek(key)
      if (until === undefined) return false
      if (nowMs < until) return true
      muteUntil.delete(key)
      return false
    },
    failed: (key, status, nowMs) => {
      const silence = silenceMs(status)
      if (silence !== null) muteUntil.set(key, nowMs + silence)
    }
  }
}
