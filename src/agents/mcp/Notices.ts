/**
 * Notifies sessions that the list of tools has changed: each at most once in a while, however often registered servers
 * report it.
 */
import type { Timers } from "../../platform/Timers.ts"
import type { Caller } from "./Caller.ts"
import type { Listener } from "./Sessions.ts"

/** Checks whether a caller may see the change. */
export type Sees = (caller: Caller) => boolean

/** Shortest time in ms between two notices to a session. */
export const noticeMs = 1_000

/** Most changes that are kept apart until they are sent; beyond it, every session is notified. */
const mostWaiting = 256
const everybody: Sees = () => true

export interface Notices {
  /** Hot: a server may call it as often as it likes. One that changes again and again gives the same function each time. */
  readonly changed: (sees: Sees) => void
  readonly close: () => void
}

/** Sends the first change at once, those that follow together at the end of the time. */
export const makeNotices = (
  timers: Pick<typeof Timers.Service, "after">,
  listeners: () => Iterable<Listener>,
  tell: (listener: Listener) => void
): Notices => {
  const waiting = new Set<Sees>()
  let pause: ReturnType<typeof timers.after> | null = null

  const tellThem = (): void => {
    const all = [...waiting]
    waiting.clear()
    pause = timers.after(noticeMs, () => {
      pause = null
      if (waiting.size > 0) tellThem()
    })
    for (const listener of listeners()) if (all.some((sees) => sees(listener.caller))) tell(listener)
  }

  return {
    changed: (sees) => {
      waiting.add(waiting.size < mostWaiting ? sees : everybody)
      if (pause === null) tellThem()
    },
    close: () => {
      pause?.cancel()
      waiting.clear()
    }
  }
}
