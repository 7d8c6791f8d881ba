/** Events by time; those at the same time are in the order they were put in. A binary heap. */
interface Entry<Event> {
  readonly atMs: number
  readonly turn: number
  readonly event: Event
}

export interface EventQueue<Event> {
  readonly put: (atMs: number, event: Event) => void
  /** The next one, taken out; null when nothing is left. */
  readonly take: () => { readonly atMs: number; readonly event: Event } | null
}

const isBefore = <Event>(one: Entry<Event>, other: Entry<Event>): boolean =>
  one.atMs < other.atMs || (one.atMs === other.atMs && one.turn < other.turn)

export const makeEventQueue = <Event>(): EventQueue<Event> => {
  const heap: Array<Entry<Event>> = []
  let turns = 0

  const swapped = (one: number, other: number): boolean => {
    const [upper, lower] = [heap[one], heap[other]]
    if (upper === undefined || lower === undefined || !isBefore(lower, upper)) return false
    heap[one] = lower
    heap[other] = upper
    return true
  }

  const put = (atMs: number, event: Event): void => {
    let place = heap.push({ atMs, turn: turns, event }) - 1
    turns += 1
    while (place > 0) {
      const parent = (place - 1) >> 1
      if (!swapped(parent, place)) return
      place = parent
    }
  }

  const sink = (): void => {
    let place = 0
    for (;;) {
      const left = heap[place * 2 + 1]
      const right = heap[place * 2 + 2]
      if (left === undefined) return
      const child = right !== undefined && isBefore(right, left) ? place * 2 + 2 : place * 2 + 1
      if (!swapped(place, child)) return
      place = child
    }
  }

  const take = (): Entry<Event> | null => {
    const [first] = heap
    const last = heap.pop()
    if (first === undefined || last === undefined) return null
    if (heap.length > 0) {
      heap[0] = last
      sink()
    }
    return first
  }
  return { put, take }
}
