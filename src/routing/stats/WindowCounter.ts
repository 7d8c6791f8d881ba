/** How many happened in the window: exact to a sixtieth of it, in constant space however many they are. */
import { windowMs } from "./Series.ts"

const slots = 60
const slotMs = windowMs / slots

export interface WindowCounter {
  readonly add: (atMs: number) => void
  readonly read: (nowMs: number) => number
}

export const makeWindowCounter = (): WindowCounter => {
  const counts = new Uint32Array(slots)
  /** The slot that counts now, numbered from the epoch. */
  let current = 0
  let sum = 0

  /** A clock that was set back counts on in the slot where it was; one that is far behind starts anew. */
  const turn = (nowMs: number): void => {
    const now = Math.floor(nowMs / slotMs)
    if (now <= current && current - now < slots) return
    if (Math.abs(now - current) >= slots) {
      counts.fill(0)
      sum = 0
    } else {
      for (let slot = current + 1; slot <= now; slot += 1) {
        sum -= counts[slot % slots] ?? 0
        counts[slot % slots] = 0
      }
    }
    current = now
  }

  return {
    add: (atMs) => {
      turn(atMs)
      counts[current % slots] = (counts[current % slots] ?? 0) + 1
      sum += 1
    },
    read: (nowMs) => {
      turn(nowMs)
      return sum
    }
  }
}
