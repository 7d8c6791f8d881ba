/** The steps that a walk returns to the code that runs it, and the interface (`WalkWorld`) through which it reads health and places. */
import type { Admission } from "../../resilience/breaker/Breaker.ts"
import type { Failure } from "../../resilience/failure/FailureKind.ts"
import type { Unready } from "../health/Health.ts"
import type { Target } from "../resolve/ModelResolver.ts"

/** A target's turn: its place in the order, and how often it was asked again. */
export interface Turn {
  readonly target: Target
  readonly index: number
  readonly retries: number
  /** No other target is left, and the breaker lets a call through that it would not let through otherwise. */
  readonly isProbe?: true
}

/** End of a walk without an answer. */
export type WalkEnd =
  /** The last target's failure, when one was asked. */
  | {
      readonly _tag: "Failed"
      readonly target: Target
      readonly failure: Failure
      readonly retryAfterMs: number | null
    }
  /** No target could be asked. */
  | { readonly _tag: "Unavailable"; readonly unready: Unready; readonly retryAfterMs: number | null }
  /** The client left while the target was about to be asked. */
  | { readonly _tag: "Left"; readonly target: Target }

/**
 * The next thing to do. `Permit` is a place at a connection that has to be released, `Waiting` a queue one can wait in; the walk only passes
 * them on.
 */
export type Step<Permit, Waiting> =
  /**
   * Make the call and report its failure with `failed`. Both places are released as soon as the call is over, before that. When
   * `hedgeAfterMs` pass without an answer, `hedgeDue` says whether a second target is asked too.
   */
  | {
      readonly _tag: "Ask"
      readonly turn: Turn
      readonly permit: Permit
      /** The place before a target that rests after a failure; one call at a time has it. */
      readonly lastResortPermit: Permit | null
      /** True when it is the probe of a breaker. */
      readonly probe: boolean
      /** No other target is left. */
      readonly lastChance: boolean
      readonly hedgeAfterMs: number | null
    }
  /** Wait in the queue, and go on with `placed`. */
  | {
      readonly _tag: "Line"
      readonly turn: Turn
      readonly wait: Waiting
      /** The line moves without an answer for so long at most; null: it has its own limit. */
      readonly limitMs: number | null
      /** Place that is released when the wait is broken off for good. */
      readonly holding: Permit | null
    }
  /** Go on with `resumed`. */
  | { readonly _tag: "Pause"; readonly ms: number }
  /** Ask for a new access token, and go on with `renewed`. */
  | { readonly _tag: "Renew"; readonly turn: Turn; readonly failure: Failure }
  /** Another call of this request is still in progress. */
  | { readonly _tag: "Running" }
  | { readonly _tag: "End"; readonly end: WalkEnd }

export type Place<Permit, Waiting> =
  | { readonly _tag: "Free"; readonly release: Permit }
  | { readonly _tag: "Wait"; readonly wait: Waiting }
  /** `retryAfterMs`: when a call may start again, where that is known. */
  | { readonly _tag: "Full"; readonly retryAfterMs?: number }

/** Facts that the walk of one request asks for, answered at once. Times are epoch milliseconds. */
export interface WalkWorld<Permit, Waiting> {
  readonly nowMs: () => number
  /** Returns the rest of the whole request's time in ms; not positive when it is over. */
  readonly leftMs: () => number
  readonly hasLeft: () => boolean
  /** The gateway shuts down: no further target is asked. */
  readonly isStopping: () => boolean
  readonly unready: (target: Target, nowMs: number) => Unready | null
  readonly admit: (target: Target, nowMs: number, lastResort?: boolean) => Admission
  /** A place for one call of the target. */
  readonly place: (target: Target) => Place<Permit, Waiting>
  /** Takes the one place at a connection for asking a model in cooldown. */
  readonly lastResort: (connectionId: string) => Place<Permit, Waiting>
  readonly isLastResortFree: (connectionId: string) => boolean
  readonly release: (permit: Permit) => void
  /** The target was left out, for the record; null: it is asked all the same. */
  readonly leftOut: (target: Target, reason: Unready | null) => void
}
