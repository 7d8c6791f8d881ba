/** Fault of a simulated upstream: the facts that the classifier gets, and the time until it shows. */
import type { Timeouts } from "../../../subjects/resilience/entity.ts"
import type { FaultName } from "../../../contract/domain/SimulatedFaults.ts"
import type { FailureCause } from "../../../plane/resilience/failure/Signal.ts"

/** Signal of a fault: the provider's own message, or the cause of a call that failed without one. */
export type FaultSignal =
  | { readonly cause: FailureCause }
  | {
      /** Status of the answer; 200 where the message is inside an answer that claims success. */
      readonly status: number
      readonly message: string
      readonly type?: string
      readonly code?: string
      /** Lower-case names. */
      readonly headers?: Readonly<Record<string, string>>
      /** The body where it is not JSON. */
      readonly page?: string
    }

/**
 * Time at which it shows: at once, as fast as a refusal, in the usual time of an answer, after half of that, after half and a
 * silence, when a timer of the gateway is over, or after several times the usual.
 */
export type FaultTiming =
  | "at_once"
  | "refusal"
  | "answer"
  | "half"
  | "half_then_idle"
  | "connect"
  | "first_byte"
  | "drip"

export interface Fault {
  /** Description for people. */
  readonly about: string
  readonly pace: FaultTiming
  /** Null: the answer is good all the same. `nowMs` is the epoch at which it shows. */
  readonly says: ((nowMs: number) => FaultSignal) | null
  /**
   * True when it shows only after the first content: a stream is broken then, another answer is asked of another
   * target.
   */
  readonly midway?: true
  /** State of the access token of an account that has a refresh token: it can be renewed, or not. */
  readonly token?: "renewable" | "lost"
}

/** Times and rate of a target's fault. Times are milliseconds since the first arrival. */
export interface FaultPlan {
  readonly fault: FaultName
  /** Part of its calls, (0, 1]. */
  readonly rate: number
  readonly fromMs: number
  /** Null: from then on always. */
  readonly forMs: number | null
  /** Time in ms after which it comes back; null: it does not. */
  readonly everyMs: number | null
}

export const always = (fault: FaultName): FaultPlan => ({ fault, rate: 1, fromMs: 0, forMs: null, everyMs: null })

/** Checks whether the plan is in force `sinceMs` after the first arrival. */
export const isInForce = ({ everyMs, forMs, fromMs }: FaultPlan, sinceMs: number): boolean => {
  if (sinceMs < fromMs) return false
  if (forMs === null) return true
  const insideMs = everyMs === null ? sinceMs - fromMs : (sinceMs - fromMs) % everyMs
  return insideMs < forMs
}

/** A part of the median: how soon a refusal comes, and a connection that breaks at once. */
const refusalPart = 0.1
const atOncePart = 0.02
const dripFactor = 5

/** Milliseconds until it shows. `usualMs` is what a good answer would take this time. */
export const showsAfterMs = (pace: FaultTiming, usualMs: number, p50Ms: number, timeouts: Timeouts): number => {
  switch (pace) {
    case "at_once":
      return p50Ms * atOncePart
    case "refusal":
      return p50Ms * refusalPart
    case "answer":
      return usualMs
    case "half":
      return usualMs / 2
    case "half_then_idle":
      return usualMs / 2 + timeouts.idleMs
    case "connect":
      return timeouts.connectMs
    case "first_byte":
      return timeouts.firstByteMs
    case "drip":
      return usualMs * dripFactor
  }
}
