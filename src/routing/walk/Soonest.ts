/** Of several targets that may not be called now, the one a client is told of: the one that can be called first. Pure. */
import type { Unready } from "../health/TargetHealth.ts"

/** The queue of a connection moves whenever an answer is over, unless its throttle holds it. */
const wellAtMs = ({ code, untilMs }: Unready): number =>
  untilMs ?? (code === "queue_full" ? 0 : Number.POSITIVE_INFINITY)

/** The first one said where both take as long. */
export const sooner = (one: Unready | null, other: Unready): Unready =>
  one === null || wellAtMs(other) < wellAtMs(one) ? other : one
