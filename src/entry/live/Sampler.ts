/**
 * Thins out channels with many events: in each second the first events of a channel go on, and of the rest only the last, when the second is
 * over, with how many it stands for. Plain state; the caller says when a second is over.
 */
import type { Channel, LiveEvent } from "./Channels.ts"

/** Events of a channel that go on in a second. */
export const mostPerSecond = 20

interface Second {
  count: number
  /** Events that were held back. */
  held: number
  last: LiveEvent | null
}

export interface Sampler {
  /** Decides whether the event goes on now. */
  readonly admit: (event: LiveEvent) => boolean
  /** The second is over: returns the representatives of the events that were held back. */
  readonly turn: () => ReadonlyArray<{ readonly event: LiveEvent; readonly sampled: number }>
}

export const makeSampler = (): Sampler => {
  const seconds = new Map<Channel, Second>()
  return {
    admit: (event) => {
      const second = seconds.get(event.channel) ?? { count: 0, held: 0, last: null }
      seconds.set(event.channel, second)
      second.count += 1
      if (second.count <= mostPerSecond) return true
      second.held += 1
      second.last = event
      return false
    },
    turn: () => {
      const held = Array.from(seconds.values(), ({ held: sampled, last: event }) =>
        event === null ? [] : [{ event, sampled }]
      ).flat()
      seconds.clear()
      return held
    }
  }
}
