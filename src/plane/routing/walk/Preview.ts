/**
 * Lists the targets that a request would leave out if it were sent now, and why: the first step of its walk, without a
 * call.
 */
import { noneReady } from "../candidate/Reason.ts"
import type { Target } from "../resolve/ModelResolver.ts"
import type { Unready } from "../health/Health.ts"
import type { RoutePolicy } from "./RoutePolicy.ts"
import type { Place, WalkWorld } from "./Steps.ts"
import { Walk } from "./Walk.ts"

/** Every target has a queue, so that the walk visits all of them and calls none. */
const inLine: Place<never, null> = { _tag: "Wait", wait: null }

const ignore = (): void => {}

export interface PreviewInput {
  readonly order: ReadonlyArray<Target>
  readonly policy: RoutePolicy
  readonly unready: WalkWorld<never, null>["unready"]
  /** Epoch milliseconds. */
  readonly nowMs: number
}

/** The reasons by target; targets that would be called are absent. No place is taken and no state is changed. */
export const leftOutOf = ({ nowMs, order, policy, unready }: PreviewInput): ReadonlyMap<Target, Unready> => {
  const leftOut = new Map<Target, Unready>()
  const world: WalkWorld<never, null> = {
    nowMs: () => nowMs,
    leftMs: () => Number.POSITIVE_INFINITY,
    hasLeft: () => false,
    isStopping: () => false,
    unready,
    admit: () => "refused",
    place: () => inLine,
    lastResort: () => inLine,
    isLastResortFree: () => false,
    release: ignore,
    leftOut: (target, reason) => {
      if (reason !== null) leftOut.set(target, reason)
    }
  }
  new Walk({ order, reason: noneReady, policy, waitTimeoutMs: 0, cooldownWait: null }, world).begin()
  return leftOut
}
