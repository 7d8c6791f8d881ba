/** Joins the messages about one subject: events that follow a message within a window are counted and not sent. */
import { LruMap } from "../../../kernel/collections/LruMap.ts"

/** Time in ms within which the same is not sent again. */
export const windowMs = 5 * 60_000
/** Subjects that are remembered of one webhook; beyond it the one that was met longest ago is dropped. */
export const mostSubjects = 1_000

interface SentNotice {
  readonly atMs: number
  repeats: number
}

export interface Coalescing {
  /** Counts the events that were left out since the last message; null: this one is to be left out as well. */
  readonly next: (subject: string | null, nowMs: number) => number | null
}

export const makeCoalescing = (): Coalescing => {
  const known = new LruMap<string, SentNotice>({ capacity: mostSubjects })
  return {
    next: (subject, nowMs) => {
      if (subject === null) return 0
      const told = known.get(subject)
      if (told !== undefined && nowMs - told.atMs < windowMs) {
        told.repeats += 1
        return null
      }
      known.set(subject, { atMs: nowMs, repeats: 0 })
      return told?.repeats ?? 0
    }
  }
}
