/** News of a worker for the owner beside its reports: what it gives back, and when its rates have let requests in. Plain and synchronous. */
import type { Give, OpenRequest, Spent } from "../../state/ledger/Messages.ts"
import type { WorkerLease } from "../../state/ledger/WorkerLease.ts"
import type { LeasedRate } from "./LeasedAccount.ts"

export class Outbox {
  readonly #leases = new Set<WorkerLease>()
  readonly #rates = new Set<LeasedRate>()
  readonly #ended: Array<number> = []

  get isEmpty(): boolean {
    return this.#leases.size === 0 && this.#rates.size === 0 && this.#ended.length === 0
  }

  /** The sum of a lease has changed. */
  add(lease: WorkerLease): void {
    this.#leases.add(lease)
  }

  /** Hot: a rate has let a request in, or gives some back. */
  addRate(rate: LeasedRate): void {
    this.#rates.add(rate)
  }

  end(lease: WorkerLease): void {
    this.#ended.push(lease.number)
  }

  /** Returns the message, and forgets it. */
  take(nowMs: number, recall: number, open: ReadonlyArray<OpenRequest>): Give {
    const spent = [...this.#leases].map(({ number, spent: total }): Spent => [number, total])
    const arrivals = [...this.#rates].map(({ lease, times }) => {
      const agesMs = times.map((atMs) => Math.floor(nowMs - atMs))
      return [lease.number, lease.spent, agesMs] as const
    })
    for (const rate of this.#rates) rate.times = []
    const ended = this.#ended.splice(0)
    this.#leases.clear()
    this.#rates.clear()
    return { spent, arrivals, ended, recall, open }
  }

  /** A new owner knows nothing of it. */
  clear(): void {
    this.#leases.clear()
    this.#rates.clear()
    this.#ended.splice(0)
  }
}
