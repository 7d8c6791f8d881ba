/**
 * Requests that a caller has ordered (lines of batches, questions of evaluations) keep to the rates of its key by waiting for their turn: no client
 * is there to retry.
 */
import * as Effect from "effect/Effect"
import type { ApiKey } from "../../subjects/keys/entity.ts"
import type { InferenceError } from "../../contract/domain/Errors.ts"
import type { KeyLimits } from "../ledger/KeyLimits.ts"

/** Time in ms after which a wait looks at the key again: its rates may be changed, or the key removed. */
const lookAgainMs = 5_000

type Limits = Pick<typeof KeyLimits.Service, "pauseMs">

/** Milliseconds that an order of this key has to wait; 0 when its turn has come, or there is no such key. */
const pauseOf = (limits: Limits, key: ApiKey | null): number =>
  key === null ? 0 : Math.min(lookAgainMs, limits.pauseMs(key))

/** Waits until the rates and sessions of a key let one more request in. `key` is asked each time. */
export const turnOf = (limits: Limits, key: () => ApiKey | null): Effect.Effect<void> =>
  Effect.suspend(function look(): Effect.Effect<void> {
    const waitMs = pauseOf(limits, key())
    return waitMs === 0 ? Effect.void : Effect.flatMap(Effect.sleep(waitMs), look)
  })

/**
 * Checks whether a rate or the sessions of the key have refused it: its turn comes. A day, a budget or tokens that are
 * used up stay so.
 */
export const isOutOfTurn = (error: InferenceError | null): boolean => {
  if (error?._tag !== "LimitReached" || error.limit === undefined) return false
  const { resetsAtMs, unit } = error.limit
  return unit === "sessions" || (unit === "requests" && resetsAtMs === null)
}
