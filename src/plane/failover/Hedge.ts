/**
 * Policy by which a call may be hedged: a second target is asked too when the first has not begun in time. The default makes the call
 * alone; `features/hedging` provides another.
 */
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type { AskStep, FailoverRun, Outcome } from "./FailoverRun.ts"

/** Makes the call of `step`, with a second one after `delayMs` milliseconds, and gives the outcome to go on with. */
export type HedgedCall = (run: FailoverRun, step: AskStep, delayMs: number) => Effect.Effect<Outcome>

/** Null where no call is hedged. */
export class Hedge extends Context.Reference<Hedge>()("gateway/plane/failover/Hedge", {
  defaultValue: (): HedgedCall | null => null
}) {}
