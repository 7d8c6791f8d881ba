/** The failover settings of one request: the resilience settings, overridden by the combo's policy. Pure. */
import type { ComboPolicy } from "../../../subjects/combos/entity/ComboPolicy.ts"
import type { ResilienceSettings, Timeouts } from "../../../subjects/resilience/entity.ts"
import type { Resolution } from "../resolve/ModelResolver.ts"

/** The combo's own rules for queues: they hold for its limits and, where they are stricter, for those of connections. */
export interface LineRules {
  /** Calls of one combo to one model at once; null: no limit. */
  readonly concurrencyPerModel: number | null
  readonly queueTimeoutMs: number | null
  /** 0: who cannot go in at once goes to the next target. */
  readonly queueDepth: number | null
}

export interface RoutePolicy {
  /** More tries at one target after a failure that another try may mend. */
  readonly maxRetries: number
  readonly retryDelayMs: number
  /** Targets that have not failed yet come before another try at one that has. */
  readonly failoverBeforeRetry: boolean
  /** The wait after a failure before the next target is asked. */
  readonly fallbackDelayMs: number
  /** More rounds over the whole set, when no target answered. */
  readonly maxSetRetries: number
  readonly setRetryDelayMs: number
  /**
   * Time limit of one attempt in ms: of a stream until its first content, of a whole answer until its end. Null:
   * `timeouts` alone.
   */
  readonly targetTimeoutMs: number | null
  /** Null: only connections have limits, the combo has none. */
  readonly lines: LineRules | null
  /** Milliseconds after which a second target is called too; null: never. */
  readonly hedgeDelayMs: number | null
  /** Calls count in the measured speed and reliability of their targets. */
  readonly measured: boolean
}

/** Calls of one request, over all targets and repetitions . Without it retries, rounds and targets multiply. */
export const maxAttempts = 400

/** A cooldown that is waited for is surely over when this much more has passed. */
export const cooldownMarginMs = 50

const linesOf = ({ concurrencyPerModel, queueDepth, queueTimeoutMs }: ComboPolicy): LineRules | null =>
  concurrencyPerModel === null && queueTimeoutMs === null && queueDepth === null
    ? null
    : { concurrencyPerModel, queueTimeoutMs, queueDepth }

export const routePolicy = ({ hedging, retry }: ResilienceSettings, combo: ComboPolicy): RoutePolicy => ({
  maxRetries: combo.maxRetries ?? retry.maxRetries,
  retryDelayMs: combo.retryDelayMs ?? retry.delayMs,
  failoverBeforeRetry: combo.failoverBeforeRetry,
  fallbackDelayMs: combo.fallbackDelayMs,
  maxSetRetries: combo.maxSetRetries,
  setRetryDelayMs: combo.setRetryDelayMs,
  targetTimeoutMs: combo.targetTimeoutMs,
  lines: linesOf(combo),
  hedgeDelayMs: (combo.hedging ?? hedging.enabled) ? (combo.hedgeDelayMs ?? hedging.delayMs) : null,
  measured: combo.trackMetrics
})

/** The policy of requests that a second target must not be asked beside the first: each call makes something that has to be paid for. */
export const withoutHedging = (policy: RoutePolicy): RoutePolicy =>
  policy.hedgeDelayMs === null ? policy : { ...policy, hedgeDelayMs: null }

/** Hot: the policy of a request. A combo's is made once for its config and the settings in force. */
export const makePolicies = (): ((settings: ResilienceSettings, resolution: Resolution) => RoutePolicy) => {
  const known = new WeakMap<ComboPolicy, { readonly settings: ResilienceSettings; readonly policy: RoutePolicy }>()
  return (settings, { policy: combo }) => {
    const found = known.get(combo)
    if (found?.settings === settings) return found.policy
    const policy = routePolicy(settings, combo)
    known.set(combo, { settings, policy })
    return policy
  }
}

/** The timeouts of a kind of request that may take less than others. */
export const limitedTimeouts = (
  timeouts: Timeouts,
  limits: Pick<Timeouts, "firstByteMs" | "idleMs" | "totalMs"> | undefined
): Timeouts =>
  limits === undefined
    ? timeouts
    : {
        ...timeouts,
        firstByteMs: Math.min(timeouts.firstByteMs, limits.firstByteMs),
        idleMs: Math.min(timeouts.idleMs, limits.idleMs),
        totalMs: Math.min(timeouts.totalMs, limits.totalMs)
      }

/** The timeouts of one attempt: what a combo gives a target can only be less than what all have. */
export const attemptTimeouts = (timeouts: Timeouts, { targetTimeoutMs }: ComboPolicy): Timeouts =>
  targetTimeoutMs === null || targetTimeoutMs >= timeouts.firstByteMs
    ? timeouts
    : { ...timeouts, firstByteMs: targetTimeoutMs }
