/** Errors for a caller whose key has reached a limit. Pure. */
import { LimitReached } from "../../contract/domain/Errors.ts"
import { limitReached, tooManyRequests, tooManySessions } from "./LimitMessages.ts"
import type { MeterSpec, MeterWindow } from "./Meter.ts"

/**
 * Time in ms after which reserved amounts may come back: when the running requests have ended, which is soon, but not
 * known exactly.
 */
const reservedRetryMs = 5_000
const sessionRetryMs = 1_000

/** `isReserved`: what is left of the limit is reserved for calls that still run. */
export const meterReached = (spec: MeterSpec, window: MeterWindow, isReserved: boolean, nowMs: number): LimitReached =>
  new LimitReached({
    message: `${limitReached(spec, window, isReserved)}.`,
    retryAfterMs: isReserved ? reservedRetryMs : Math.max(1, window.endMs - nowMs),
    limit: { unit: spec.unit, window: spec.rule.interval, resetsAtMs: isReserved ? null : window.endMs }
  })

export const rateReached = (limit: number, windowMs: number, waitMs: number): LimitReached =>
  new LimitReached({
    message: `${tooManyRequests(limit, windowMs)}.`,
    retryAfterMs: waitMs,
    limit: { unit: "requests", window: `${windowMs / 1_000}s`, resetsAtMs: null }
  })

export const sessionsReached = (maxSessions: number): LimitReached =>
  new LimitReached({
    message: `${tooManySessions(maxSessions)}.`,
    retryAfterMs: sessionRetryMs,
    limit: { unit: "sessions", window: null, resetsAtMs: null }
  })
