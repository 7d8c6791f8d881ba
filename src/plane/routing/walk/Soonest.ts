/**
 * Selects, of several targets that cannot be called now, the one that can be called first: its reason and time go into
 * the client's error. Pure.
 */
import type { Unready } from "../health/TargetHealth.ts"

/** Epoch milliseconds. 0 for a full queue, which moves on with every answer that ends, unless a rate limit holds it. */
const wellAtMs = ({ code, untilMs }: Unready): number =>
  untilMs ?? (code === "queue_full" ? 0 : Number.POSITIVE_INFINITY)

/** `one` where both can be called at the same time. */
export const sooner = (one: Unready | null, other: Unready): Unready =>
  one === null || wellAtMs(other) < wellAtMs(one) ? other : one
