/**
 * The feed of the traffic inspector: what changes in the list of records, for those who watch it. Changes are gathered for a moment and written
 * once for all. A subscriber that reads slowly misses changes and gets the whole list anew when it has caught up. Without subscribers there
 * is neither a timer nor a frame.
 */
import type { Timer, Timers } from "../../platform/Timers.ts"
import type { Item } from "../../domain/TrafficRecord.ts"
import type { Behind } from "./Intake.ts"

export interface FeedSubscriber {
  /** One frame, JSON text. It must not throw. */
  readonly write: (frame: string) => void
  /** Bytes that were written and not yet sent. */
  readonly bufferedBytes: () => number
}

export interface Feed {
  /** Hot: something was captured that is not in the list yet. */
  readonly working: () => void
  /** Hot: a record was added or changed. */
  readonly changed: (id: string, isNew: boolean) => void
  readonly cleared: () => void
  /** Writes a snapshot at once, then what changes, until the returned function is called. */
  readonly subscribe: (subscriber: FeedSubscriber) => () => void
  readonly subscribers: () => number
  readonly close: () => void
}

export interface FeedSource {
  /** Null: it is no longer there. */
  readonly item: (id: string) => Item | null
  /** Newest first. */
  readonly items: () => ReadonlyArray<Item>
  /** A record whose item changes with this one. */
  readonly beside: (id: string) => string
  /** Returns how far the list is behind the captured traffic. */
  readonly behind: () => Behind
}

/**
 * Time in ms from the first change until changes are sent. They come gathered already: this only groups the ones that
 * are listed at once.
 */
const gatherMs = 5
/** Time in ms between two checks whether a subscriber has caught up. */
const catchUpMs = 50
/** Time in ms between two reports that the recording is behind, while it is. */
const behindEveryMs = 500
/** Delay in ms from which the recording is reported as behind. */
export const behindFromMs = 100
/** A subscriber with more than this unsent gets nothing further until it has read half of it. */
export const highWaterBytes = 1_048_576
/** Number of changes at once beyond which a new snapshot is smaller. */
export const maxChanges = 2_000

interface Listener {
  readonly subscriber: FeedSubscriber
  isBehind: boolean
}

export const makeFeed = (timers: Pick<typeof Timers.Service, "after">, source: FeedSource): Feed => {
  const listeners = new Set<Listener>()
  /** Changed records, each with whether it is new to the subscribers. */
  const changes = new Map<string, boolean>()
  let timer: Timer | null = null
  let seq = 0
  let behindTimer: Timer | null = null
  /** True when the last report says that the recording is behind. */
  let isToldBehind = false

  const frame = (type: "snapshot" | "new" | "update" | "clear" | "behind", data: unknown): string =>
    JSON.stringify({ type, data, seq: (seq += 1) })

  const schedule = (afterMs = gatherMs): void => {
    if (listeners.size > 0) timer ??= timers.after(afterMs, flush)
  }

  const watchBehind = (): void => {
    if (listeners.size > 0) behindTimer ??= timers.after(behindEveryMs, tellBehind)
  }

  const tellBehind = (): void => {
    behindTimer = null
    const behind = source.behind()
    const isBehind = behind.behindMs >= behindFromMs
    if (isBehind || isToldBehind) {
      const text = frame("behind", isBehind ? behind : { behindMs: 0, waiting: 0 })
      for (const listener of listeners) tell(listener, [text])
    }
    isToldBehind = isBehind
    if (behind.waiting > 0 || isToldBehind) watchBehind()
  }

  const stopTimers = (): void => {
    timer?.cancel()
    timer = null
    behindTimer?.cancel()
    behindTimer = null
    isToldBehind = false
    changes.clear()
  }

  const catchUp = (snapshot: () => string): void => {
    for (const listener of listeners) {
      if (!listener.isBehind || listener.subscriber.bufferedBytes() > highWaterBytes / 2) continue
      listener.isBehind = false
      listener.subscriber.write(snapshot())
    }
  }

  const framesOfChanges = (): ReadonlyArray<string> => {
    const frames: Array<string> = []
    for (const id of [...changes.keys()].map(source.beside)) if (!changes.has(id)) changes.set(id, false)
    for (const [id, isNew] of changes) {
      const item = source.item(id)
      if (item !== null) frames.push(frame(isNew ? "new" : "update", item))
    }
    return frames
  }

  const tell = (listener: Listener, frames: ReadonlyArray<string>): void => {
    if (listener.isBehind) return
    for (const each of frames) {
      if (listener.subscriber.bufferedBytes() > highWaterBytes) {
        listener.isBehind = true
        return
      }
      listener.subscriber.write(each)
    }
  }

  const flush = (): void => {
    timer = null
    if (changes.size > maxChanges) for (const listener of listeners) listener.isBehind = true
    const frames = [...listeners].every(({ isBehind }) => isBehind) ? [] : framesOfChanges()
    changes.clear()
    // In this order: a snapshot has the changes of now in it.
    const before = [...listeners].filter(({ isBehind }) => !isBehind)
    let whole: string | null = null
    catchUp(() => (whole ??= frame("snapshot", source.items())))
    for (const listener of before) tell(listener, frames)
    if ([...listeners].some(({ isBehind }) => isBehind)) schedule(catchUpMs)
  }

  return {
    working: watchBehind,
    changed: (id, isNew) => {
      if (listeners.size === 0) return
      changes.set(id, isNew || changes.get(id) === true)
      schedule()
    },
    cleared: () => {
      if (listeners.size === 0) return
      changes.clear()
      const text = frame("clear", null)
      for (const listener of listeners) tell(listener, [text])
    },
    subscribe: (subscriber) => {
      // What is waiting is in the snapshot, and must not come again as new.
      if (timer !== null) {
        timer.cancel()
        flush()
      }
      const listener: Listener = { subscriber, isBehind: false }
      listeners.add(listener)
      subscriber.write(frame("snapshot", source.items()))
      return () => {
        listeners.delete(listener)
        if (listeners.size === 0) stopTimers()
      }
    },
    subscribers: () => listeners.size,
    close: () => {
      listeners.clear()
      stopTimers()
    }
  }
}
