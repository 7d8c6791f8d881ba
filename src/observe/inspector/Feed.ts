/**
 * The feed of the traffic inspector: what changes in the list of records, for those who watch it. Changes are gathered for a moment and written
 * once for all. A subscriber that reads slowly misses changes and gets the whole list anew when it has caught up. Without subscribers there
 * is neither a timer nor a frame.
 */
import type { Timer, Timers } from "../../platform/Timers.ts"
import type { Item } from "../../contract/domain/TrafficRecord.ts"
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

class InspectorFeed implements Feed {
  readonly #timers: Pick<typeof Timers.Service, "after">
  readonly #source: FeedSource
  readonly #listeners = new Set<Listener>()
  /** Changed records, each with whether it is new to the subscribers. */
  readonly #changes = new Map<string, boolean>()
  #timer: Timer | null = null
  #seq = 0
  #behindTimer: Timer | null = null
  /** True when the last report says that the recording is behind. */
  #isToldBehind = false

  constructor(timers: Pick<typeof Timers.Service, "after">, source: FeedSource) {
    this.#timers = timers
    this.#source = source
  }

  readonly changed: Feed["changed"] = (id, isNew) => {
    if (this.#listeners.size === 0) return
    this.#changes.set(id, isNew || this.#changes.get(id) === true)
    this.#schedule()
  }

  readonly cleared: Feed["cleared"] = () => {
    if (this.#listeners.size === 0) return
    this.#changes.clear()
    const text = this.#frame("clear", null)
    for (const listener of this.#listeners) this.#tell(listener, [text])
  }

  readonly subscribe: Feed["subscribe"] = (subscriber) => {
    // What is waiting is in the snapshot, and must not come again as new.
    if (this.#timer !== null) {
      this.#timer.cancel()
      this.#flush()
    }
    const listener: Listener = { subscriber, isBehind: false }
    this.#listeners.add(listener)
    subscriber.write(this.#frame("snapshot", this.#source.items()))
    return () => {
      this.#listeners.delete(listener)
      if (this.#listeners.size === 0) this.#stopTimers()
    }
  }

  readonly subscribers: Feed["subscribers"] = () => this.#listeners.size

  readonly close: Feed["close"] = () => {
    this.#listeners.clear()
    this.#stopTimers()
  }

  #frame(type: "snapshot" | "new" | "update" | "clear" | "behind", data: unknown): string {
    return JSON.stringify({ type, data, seq: (this.#seq += 1) })
  }

  #schedule(afterMs = gatherMs): void {
    if (this.#listeners.size > 0) this.#timer ??= this.#timers.after(afterMs, this.#flush)
  }

  readonly working = (): void => {
    if (this.#listeners.size > 0) this.#behindTimer ??= this.#timers.after(behindEveryMs, this.#tellBehind)
  }

  readonly #tellBehind = (): void => {
    this.#behindTimer = null
    const behind = this.#source.behind()
    const isBehind = behind.behindMs >= behindFromMs
    if (isBehind || this.#isToldBehind) {
      const text = this.#frame("behind", isBehind ? behind : { behindMs: 0, waiting: 0 })
      for (const listener of this.#listeners) this.#tell(listener, [text])
    }
    this.#isToldBehind = isBehind
    if (behind.waiting > 0 || this.#isToldBehind) this.working()
  }

  #stopTimers(): void {
    this.#timer?.cancel()
    this.#timer = null
    this.#behindTimer?.cancel()
    this.#behindTimer = null
    this.#isToldBehind = false
    this.#changes.clear()
  }

  #catchUp(snapshot: () => string): void {
    for (const listener of this.#listeners) {
      if (!listener.isBehind || listener.subscriber.bufferedBytes() > highWaterBytes / 2) continue
      listener.isBehind = false
      listener.subscriber.write(snapshot())
    }
  }

  #framesOfChanges(): ReadonlyArray<string> {
    const frames: Array<string> = []
    for (const id of [...this.#changes.keys()].map(this.#source.beside))
      if (!this.#changes.has(id)) this.#changes.set(id, false)
    for (const [id, isNew] of this.#changes) {
      const item = this.#source.item(id)
      if (item !== null) frames.push(this.#frame(isNew ? "new" : "update", item))
    }
    return frames
  }

  #tell(listener: Listener, frames: ReadonlyArray<string>): void {
    if (listener.isBehind) return
    for (const each of frames) {
      if (listener.subscriber.bufferedBytes() > highWaterBytes) {
        listener.isBehind = true
        return
      }
      listener.subscriber.write(each)
    }
  }

  readonly #flush = (): void => {
    this.#timer = null
    if (this.#changes.size > maxChanges) for (const listener of this.#listeners) listener.isBehind = true
    const frames = [...this.#listeners].every(({ isBehind }) => isBehind) ? [] : this.#framesOfChanges()
    this.#changes.clear()
    // In this order: a snapshot has the changes of now in it.
    const before = [...this.#listeners].filter(({ isBehind }) => !isBehind)
    let whole: string | null = null
    this.#catchUp(() => (whole ??= this.#frame("snapshot", this.#source.items())))
    for (const listener of before) this.#tell(listener, frames)
    if ([...this.#listeners].some(({ isBehind }) => isBehind)) this.#schedule(catchUpMs)
  }
}

export const makeFeed = (timers: Pick<typeof Timers.Service, "after">, source: FeedSource): Feed =>
  new InspectorFeed(timers, source)
