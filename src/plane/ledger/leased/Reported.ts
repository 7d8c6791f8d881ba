/**
 * Reports of a worker whose usage rows are not in the table yet: an owner that begins meanwhile reads them nowhere else. Plain and synchronous.
 */
import type { Report } from "../../state/ledger/Messages.ts"

/** Reports that are kept; beyond it the oldest is forgotten, as its row is (`store/usage/WaitingRows`). */
const most = 100_000

interface Entry {
  readonly report: Report
  /** Monotonic time at which the request came in by rates; null: it counts for none. */
  readonly enteredMs: number | null
}

export class Reported {
  /** By request, the oldest first. */
  readonly #entries = new Map<string, Entry>()

  /** Hot. */
  add(report: Report, enteredMs: number | null): void {
    this.#entries.set(report[1], { report, enteredMs })
    if (this.#entries.size <= most) return
    for (const oldest of this.#entries.keys()) return void this.#entries.delete(oldest)
  }

  /** Rows of requests are in the table. */
  moved(requestIds: ReadonlyArray<string>): void {
    for (const id of requestIds) this.#entries.delete(id)
  }

  /** All reports, the oldest first. */
  all(): ReadonlyArray<Report> {
    return [...this.#entries.values()].map(({ report }) => report)
  }

  /** Times at which ended requests came in by rates, by key. */
  entered(): ReadonlyMap<string, ReadonlyArray<number>> {
    const times = new Map<string, Array<number>>()
    for (const { enteredMs, report } of this.#entries.values()) {
      if (enteredMs === null) continue
      const known = times.get(report[2])
      if (known === undefined) times.set(report[2], [enteredMs])
      else known.push(enteredMs)
    }
    return times
  }
}
