/**
 * Models whose own quota is used up at a connection: held until the window opens again, whether lockouts are on or not. In memory; `Lockouts`
 * keeps them in the store, so that a restart does not ask them again. No timer ends a hold: it is over when its time has passed.
 */
import * as Schema from "effect/Schema"
import { LruMap } from "../../../kernel/collections/LruMap.ts"
import type { LockoutKey } from "./LockoutKey.ts"

/** Times are epoch milliseconds. */
export const QuotaHold = Schema.Struct({
  provider: Schema.String,
  connectionId: Schema.String,
  model: Schema.String,
  reason: Schema.String,
  heldAtMs: Schema.Number,
  untilMs: Schema.Number
})
export type QuotaHold = typeof QuotaHold.Type

export interface QuotaHolds {
  /** Hot. */
  readonly isEmpty: () => boolean
  /** Hot: milliseconds until the model may be asked again; 0 when it may now. */
  readonly waitMs: (id: string, nowMs: number) => number
  /** A longer hold is kept. */
  readonly hold: (id: string, key: LockoutKey, nowMs: number, reason: string, ms: number) => void
  /** Lists the holds in force, by id. */
  readonly active: (nowMs: number) => ReadonlyMap<string, QuotaHold>
  /** Gives the ids that were let go. */
  readonly clear: (matches: (key: LockoutKey) => boolean) => ReadonlyArray<string>
  readonly get: (id: string) => QuotaHold | undefined
}

/** Holds kept at most; beyond it those that are over go, then the oldest. */
export const capacity = 1_000

/** `changed` is called with the id of each change. */
export const makeQuotaHolds = (
  initial: Iterable<readonly [id: string, hold: QuotaHold]>,
  changed: (id: string) => void
): QuotaHolds => {
  const holds = new LruMap<string, QuotaHold>({ capacity, onRemove: changed })
  for (const [id, hold] of initial) holds.set(id, hold)

  /** Returns the hold; after the clock was set back it begins anew, no longer than it was. */
  const settled = (id: string, nowMs: number): QuotaHold | undefined => {
    const hold = holds.peek(id)
    if (hold === undefined || nowMs >= hold.heldAtMs) return hold
    const now = { ...hold, heldAtMs: nowMs, untilMs: hold.untilMs - (hold.heldAtMs - nowMs) }
    holds.set(id, now)
    changed(id)
    return now
  }

  return {
    isEmpty: () => holds.size === 0,
    waitMs: (id, nowMs) => {
      const hold = settled(id, nowMs)
      if (hold === undefined) return 0
      if (hold.untilMs > nowMs) return hold.untilMs - nowMs
      holds.delete(id)
      return 0
    },
    hold: (id, { connectionId, model, provider }, nowMs, reason, ms) => {
      const before = holds.peek(id)
      const untilMs = nowMs + ms
      if (before !== undefined && before.untilMs >= untilMs) return
      if (before === undefined && holds.isFull) holds.prune((old) => old.untilMs <= nowMs)
      holds.set(id, { provider, connectionId, model, reason, heldAtMs: nowMs, untilMs })
      changed(id)
    },
    active: (nowMs) => new Map([...holds].filter(([, { untilMs }]) => untilMs > nowMs)),
    clear: (matches) => {
      const ids = [...holds].filter(([, hold]) => matches(hold)).map(([id]) => id)
      for (const id of ids) holds.delete(id)
      return ids
    },
    get: (id) => holds.peek(id)
  }
}
