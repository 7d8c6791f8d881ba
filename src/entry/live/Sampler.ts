/**
 * Holds the feed to so many frames a second, whatever happens: in each second the first events go on, and of the rest of each kind only the last,
 * when the second is over, with how many it stands for. Plain state; the caller says when a second is over.
 */
import type { Channel, LiveEvent } from "./Channels.ts"

/** Frames of all channels in a second, without the one of the sums (`stats`). */
export const mostPerSecond = 19
/** Events of requests that go on at once: there may be thousands of them in a second. */
export const mostRequestsAtOnce = 8
/** Kinds of events of requests, each of which may need a frame when the second is over. */
const requestKinds = 6

interface Held {
  count: number
  last: () => LiveEvent
}

export interface Sampler {
  /**
   * Hot: decides whether an event goes on now; else it is held. `make` is called for one that is told at the end of the second only.
   */
  readonly admit: (channel: Channel, event: string, make: () => LiveEvent) => boolean
  /** The second is over: returns the representatives of the events that were held back. What is beyond the limit waits for the next second. */
  readonly turn: () => ReadonlyArray<{ readonly event: LiveEvent; readonly sampled: number }>
}

export const makeSampler = (): Sampler => {
  const ofRequests = new Map<string, Held>()
  const ofOthers = new Map<string, Held>()
  let used = 0
  let usedByRequests = 0

  const hasRoom = (isRequest: boolean): boolean =>
    isRequest
      ? usedByRequests < mostRequestsAtOnce && used + ofRequests.size + ofOthers.size < mostPerSecond
      : used + ofOthers.size + Math.max(requestKinds, ofRequests.size) < mostPerSecond

  return {
    admit: (channel, event, make) => {
      const isRequest = channel === "requests"
      const held = isRequest ? ofRequests : ofOthers
      const known = held.get(event)
      if (known !== undefined) {
        known.count += 1
        known.last = make
        return false
      }
      if (hasRoom(isRequest)) {
        used += 1
        if (isRequest) usedByRequests += 1
        return true
      }
      held.set(event, { count: 1, last: make })
      return false
    },
    turn: () => {
      let left = mostPerSecond - used
      used = 0
      usedByRequests = 0
      const told: Array<{ readonly event: LiveEvent; readonly sampled: number }> = []
      // What is rare comes first.
      for (const held of [ofOthers, ofRequests]) {
        for (const [kind, { count, last }] of held) {
          if (left <= 0) return told
          left -= 1
          held.delete(kind)
          told.push({ event: last(), sampled: count })
        }
      }
      return told
    }
  }
}
