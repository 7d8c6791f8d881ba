/** Reasons of the gateway itself for not calling a target. */
import { shutdown } from "../../../contract/domain/Errors.ts"
import type { Unready } from "../health/Health.ts"

export const queueFull: Unready = {
  rule: "cooldown",
  untilMs: null,
  terminal: null,
  kind: null,
  detail: "The connection takes no more requests now, and its queue is full or too slow",
  status: 503,
  code: "queue_full"
}

/** `queueFull`, and when it is over where the throttle knows. */
export const fullUntil = (retryAfterMs: number | undefined, nowMs: number): Unready =>
  retryAfterMs === undefined ? queueFull : { ...queueFull, untilMs: nowMs + retryAfterMs }

/** The decision left no target, and says why. */
export const noTarget = (reason: string): Unready => ({
  ...queueFull,
  detail: `No target may serve this request: ${reason}`,
  code: "no_suitable_target"
})

export const shuttingDown: Unready = { ...queueFull, detail: shutdown.message, code: shutdown.code }
