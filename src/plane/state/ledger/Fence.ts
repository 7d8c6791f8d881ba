/**
 * The end of a worker's leases in time. The owner renews them while the worker answers; the worker looks at its own monotonic clock before it
 * serves on them, so that one that was stopped does not go on with what it held. Pure.
 */

/** Time in ms between two renewals. */
export const renewEveryMs = 1_000
/** Time in ms that a renewal lasts. */
export const leaseMs = 5_000
/** Time in ms that a worker goes on without an owner, since the last renewal. A new owner waits for so long for workers it has not heard of. */
export const withoutOwnerMs = 30_000

export class Fence {
  #renewedAtMs = Number.NEGATIVE_INFINITY

  /** The owner has answered what was asked at this time. */
  renewed(askedAtMs: number): void {
    if (askedAtMs > this.#renewedAtMs) this.#renewedAtMs = askedAtMs
  }

  /** Hot: checks whether leases may be served on. */
  isOpen(nowMs: number, hasOwner: boolean): boolean {
    return nowMs - this.#renewedAtMs < (hasOwner ? leaseMs : withoutOwnerMs)
  }
}
