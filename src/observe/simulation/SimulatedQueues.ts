/**
 * Places on the virtual clock: so many calls at once under a key, the others in one bounded line, first come first served. What
 * `plane/resilience/ConcurrencyGate` is for real requests. Plain state.
 */
import type { Place } from "../../plane/routing/walk/Steps.ts"

/** Gives a place back; further calls do nothing. */
export type Release = () => void

/** Joins a line: `onPlace` is called with the place when it comes; the function that comes back leaves the line. Null when it is full. */
export type Waiting = (onPlace: (release: Release) => void) => (() => void) | null

export interface SimulatedQueues {
  readonly enter: (key: string, limit: number, depth: number) => Place<Release, Waiting>
  readonly isFree: (key: string) => boolean
}

interface Gate {
  taken: number
  limit: number
  readonly line: Set<(release: Release) => void>
}

const full = { _tag: "Full" } as const

export const makeSimulatedQueues = (): SimulatedQueues => {
  const gates = new Map<string, Gate>()

  const releaseOf = (gate: Gate): Release => {
    let isTaken = true
    return () => {
      if (!isTaken) return
      isTaken = false
      gate.taken -= 1
      serve(gate)
    }
  }

  const serve = (gate: Gate): void => {
    for (const waiter of gate.line) {
      if (gate.taken >= gate.limit) return
      gate.line.delete(waiter)
      gate.taken += 1
      waiter(releaseOf(gate))
    }
  }

  const enter: SimulatedQueues["enter"] = (key, limit, depth) => {
    const gate = gates.get(key) ?? { taken: 0, limit, line: new Set() }
    gates.set(key, gate)
    gate.limit = limit
    if (gate.taken < limit && gate.line.size === 0) {
      gate.taken += 1
      return { _tag: "Free", release: releaseOf(gate) }
    }
    if (gate.line.size >= depth) return full
    const wait: Waiting = (onPlace) => {
      if (gate.line.size >= depth) return null
      // Each has its own place, also where one comes twice.
      const own = (release: Release): void => onPlace(release)
      gate.line.add(own)
      serve(gate)
      return () => gate.line.delete(own)
    }
    return { _tag: "Wait", wait }
  }

  return { enter, isFree: (key) => (gates.get(key)?.taken ?? 0) === 0 }
}
