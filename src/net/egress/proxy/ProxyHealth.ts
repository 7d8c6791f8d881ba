/** State of each proxy since the start: from the calls that went through it and from checks. In memory. */

export interface ProxyCondition {
  readonly isWorking: boolean
  readonly atMs: number
  /** Time in ms until the tunnel through it was open, or until it failed; null: it was not measured. */
  readonly latencyMs: number | null
}

/** A list of proxies is shorter; what is beyond it was removed long ago. */
const maxKnown = 10_000

export class ProxyHealth {
  readonly #known = new Map<string, ProxyCondition>()

  /** Hot. */
  record(id: string, condition: ProxyCondition): void {
    this.#known.delete(id)
    this.#known.set(id, condition)
    if (this.#known.size > maxKnown) {
      for (const oldest of this.#known.keys()) {
        this.#known.delete(oldest)
        break
      }
    }
  }

  /** Hot: checks whether it failed the last time. */
  readonly isFailing = (id: string): boolean => this.#known.get(id)?.isWorking === false

  /** Null: it was not used since the start. */
  readonly of = (id: string): ProxyCondition | null => this.#known.get(id) ?? null

  forget(id: string): void {
    this.#known.delete(id)
  }
}
