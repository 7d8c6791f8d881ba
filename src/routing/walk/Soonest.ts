/** Of several targets that may not be called now, the one a client is told of: whoever is well first. Pure. */
import type { Unready } from "../health/TargetHealth.ts"

/** The line at a connection moves whenever an answer is over, unless its pace is held. */
const wellAtMs = ({ code, untilMs }: Unready): number =>
  untilMs ?? (code === "queue_full" ? 0 : Number.POSITIVE_INFINITY)

/** The first one said where both take as long. */
export const sooner = (one: Unready | null, other: Unready): Unready =>
  one === null || wellAtMs(other) < wellAtMs(one) ? other : one
