/**
 * Books each request of a worker once. What it has cost comes twice: as the worker's report, and with its usage row. The report is booked, and the
 * row ends what is remembered of it; rows whose report has not come when their worker has ended are booked then. Plain and synchronous.
 */
import { LruMap } from "../../../kernel/collections/LruMap.ts"

/** Rows without a report. Those of requests that were not admitted never get one; the oldest are forgotten. */
const mostRows = 100_000

interface Held<B> {
  readonly worker: string
  readonly booking: B
}

export class Bookings<B> {
  /** Booked by their report; the row is still to come. */
  readonly #reported = new Map<string, Held<B>>()
  /** Not booked: the report is still to come. */
  readonly #rows = new LruMap<string, Held<B>>({ capacity: mostRows })
  /** The latest report of each worker, by its number. */
  readonly #latest = new Map<string, number>()

  /** A report has come; false: it is booked already. */
  report(worker: string, number: number, id: string, booking: B): boolean {
    if (number <= this.latest(worker)) return false
    this.#latest.set(worker, number)
    if (this.#reported.has(id)) return false
    if (this.#rows.delete(id)) return true
    this.#reported.set(id, { worker, booking })
    return true
  }

  /** Checks whether a row has come whose report has not. */
  hasRow(id: string): boolean {
    return this.#rows.peek(id) !== undefined
  }

  /** A row has come. */
  row(worker: string, id: string, booking: B): void {
    if (!this.#reported.delete(id)) this.#rows.set(id, { worker, booking })
  }

  /** Number of the latest report of a worker; 0: none has come. */
  latest(worker: string): number {
    return this.#latest.get(worker) ?? 0
  }

  /** Bookings whose rows have not come. */
  waiting(): Iterable<B> {
    return [...this.#reported.values()].map(({ booking }) => booking)
  }

  /** The row of a booked report is still to come. */
  keep(worker: string, id: string, booking: B): void {
    this.#reported.set(id, { worker, booking })
  }

  /** Forgets a booking by report, and returns it; undefined: there is none. */
  take(id: string): B | undefined {
    const held = this.#reported.get(id)
    this.#reported.delete(id)
    return held?.booking
  }

  /** The worker is no more, and all its rows have come. Returns what is to be booked: rows whose report never came. */
  end(worker: string): ReadonlyArray<B> {
    this.#latest.delete(worker)
    for (const [id, held] of this.#reported) if (held.worker === worker) this.#reported.delete(id)
    const found: Array<B> = []
    for (const [id, held] of this.#rows) {
      if (held.worker !== worker) continue
      this.#rows.delete(id)
      found.push(held.booking)
    }
    return found
  }
}
