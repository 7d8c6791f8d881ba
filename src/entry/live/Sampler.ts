/**
 * Holds each channel to so many frames a second, whatever happens: in each second the first events of a channel go on, and of the rest of each kind
 * only the last, when the second is over, with how many it stands for. Plain state; the caller says when a second is over.
 */
import type { Channel, LiveEvent } from "./Channels.ts"

interface Limit {
  /** Frames of the channel in a second. */
  readonly most: number
  /** Events that go on at once; what is left of `most` is for those that stand for others. */
  readonly atOnce: number
}

/** Channels of which there may be thousands of events a second: with the one of the sums, 20 frames in all. */
const limits: Readonly<Partial<Record<Channel, Limit>>> = {
  // Six kinds of events, each with a frame that stands for others.
  requests: { most: 14, atOnce: 8 },
  health: { most: 5, atOnce: 4 }
}

const usual: Limit = { most: 20, atOnce: 19 }

export const limitOf = (channel: Channel): Limit => limits[channel] ?? usual

interface PendingEvents {
  count: number
  last: () => LiveEvent
}

interface Second {
  readonly limit: Limit
  used: number
  readonly held: Map<string, PendingEvents>
}

export interface Sampler {
  /**
   * Hot: decides whether an event goes on now; else it is held. `make` is called for one that is told at the end of the second only.
   */
  readonly admit: (channel: Channel, event: string, make: () => LiveEvent) => boolean
  /** The second is over: returns the representatives of the events that were held back. What is beyond the limit waits for the next second. */
  readonly turn: () => ReadonlyArray<{ readonly event: LiveEvent; readonly sampled: number }>
}

const hasRoom = ({ held, limit, used }: Second): boolean => used < limit.atOnce && used + held.size < limit.most

export const makeSampler = (): Sampler => {
  const seconds = new Map<Channel, Second>()

  const secondOf = (channel: Channel): Second => {
    const known = seconds.get(channel)
    if (known !== undefined) return known
    const second: Second = { limit: limitOf(channel), used: 0, held: new Map() }
    seconds.set(channel, second)
    return second
  }

  return {
    admit: (channel, event, make) => {
      const second = secondOf(channel)
      const known = second.held.get(event)
      if (known !== undefined) {
        known.count += 1
        known.last = make
        return false
      }
      if (hasRoom(second)) {
        second.used += 1
        return true
      }
      second.held.set(event, { count: 1, last: make })
      return false
    },
    turn: () => {
      const told: Array<{ readonly event: LiveEvent; readonly sampled: number }> = []
      for (const second of seconds.values()) {
        let left = second.limit.most - second.used
        second.used = 0
        for (const [kind, { count, last }] of second.held) {
          if (left <= 0) break
          left -= 1
          second.held.delete(kind)
          told.push({ event: last(), sampled: count })
        }
      }
      return told
    }
  }
}
