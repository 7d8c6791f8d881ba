/** The last way of each connection: one request at a time, the others in line, first come first served. Plain state. */

export interface Line {
  readonly isFree: (connectionId: string) => boolean
  /** False when somebody is asking there. */
  readonly take: (connectionId: string) => boolean
  /** Whoever is first in line has it then. */
  readonly release: (connectionId: string) => void
  /** Calls `given` when it is this one's turn; the function that comes back leaves the line. Null when it is full. */
  readonly wait: (connectionId: string, given: () => void) => (() => void) | null
}

export const makeLine = (depth: number): Line => {
  const taken = new Set<string>()
  const waiting = new Map<string, Set<() => void>>()
  return {
    isFree: (id) => !taken.has(id),
    take: (id) => {
      if (taken.has(id)) return false
      taken.add(id)
      return true
    },
    release: (id) => {
      const [next] = waiting.get(id) ?? []
      if (next === undefined) {
        taken.delete(id)
        return
      }
      waiting.get(id)?.delete(next)
      next()
    },
    wait: (id, given) => {
      const line = waiting.get(id) ?? new Set()
      if (line.size >= depth) return null
      // Each has its own place, also where one comes twice.
      const own = (): void => given()
      waiting.set(id, line.add(own))
      return () => line.delete(own)
    }
  }
}
