/** Decides when an access token is renewed before it is refused. Pure. */

/** Time in ms before its end at which a token is renewed, while it is still good. */
const leadMs = 5 * 60_000

/** A token that lives shorter than its lead would be renewed without pause: this part of its life it is left alone. */
const calmPart = 0.8

/**
 * Computes when to renew a token that ends at `expiresAtMs`. `obtainedAtMs` is null for one that was there at the
 * start.
 */
export const dueAtMs = (expiresAtMs: number, obtainedAtMs: number | null): number =>
  obtainedAtMs === null
    ? expiresAtMs - leadMs
    : Math.max(expiresAtMs - leadMs, obtainedAtMs + calmPart * (expiresAtMs - obtainedAtMs))

const firstHoldMs = 5_000
const maxHoldMs = 5 * 60_000

/** Computes how long the token endpoint is left alone after the n-th failure in a row, from 1. */
export const holdMs = (failures: number, askedForMs: number | null): number =>
  Math.max(Math.min(firstHoldMs * 2 ** (failures - 1), maxHoldMs), askedForMs ?? 0)
