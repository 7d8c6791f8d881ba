/**
 * How one request walks its targets: the resilience settings, with what the combo's `config` says instead of them. Pure; the config was
 * checked when it was saved (`routing/ComboConfig`), what is older than a check counts as not given.
 */
import type { ResilienceSettings, Timeouts } from "../../domain/Resilience.ts"
import type { Resolution } from "../ModelResolver.ts"

/** The combo's own rules for lines: they hold at its doors and, where they are stricter, at those of connections. */
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
  /** Those who have not failed yet come before another try at somebody who has. */
  readonly failoverBeforeRetry: boolean
  /** The wait after a failure before the next target is asked. */
  readonly fallbackDelayMs: number
  /** More rounds over the whole set, when nobody answered. */
  readonly maxSetRetries: number
  readonly setRetryDelayMs: number
  /** What one attempt may take: a stream until its first content, a whole answer until its end. Null: `timeouts` alone. */
  readonly targetTimeoutMs: number | null
  /** Null: connections have doors, the combo has none. */
  readonly lines: LineRules | null
  /** A second target is asked too after this long; null: never. */
  readonly hedgeDelayMs: number | null
  /** Calls count in the measured speed and reliability of their targets. */
  readonly measured: boolean
}

/** Calls of one request, over all targets and repetitions (document 1 has no more). */
export const maxAttempts = 400

/** A cooldown that is waited for is surely over when this much more has passed. */
export const cooldownMarginMs = 50

type Config = Readonly<Record<string, unknown>>

const numberIn = (config: Config, key: string, fallback: number): number => {
  const value = Object.hasOwn(config, key) ? config[key] : undefined
  return typeof value === "number" && value >= 0 ? value : fallback
}

const flagIn = (config: Config, key: string, fallback: boolean): boolean => {
  const value = Object.hasOwn(config, key) ? config[key] : undefined
  return typeof value === "boolean" ? value : fallback
}

/** What a key stands for where a combo does not say it, and the settings have no place for it. */
const defaults = { fallbackDelayMs: 0, maxSetRetries: 0, setRetryDelayMs: 2_000 } as const

const linesIn = (config: Config): LineRules | null => {
  const limit = numberIn(config, "concurrencyPerModel", 0)
  const timeoutMs = numberIn(config, "queueTimeoutMs", -1)
  const depth = numberIn(config, "queueDepth", -1)
  return limit < 1 && timeoutMs < 0 && depth < 0
    ? null
    : {
        concurrencyPerModel: limit < 1 ? null : limit,
        queueTimeoutMs: timeoutMs < 0 ? null : timeoutMs,
        queueDepth: depth < 0 ? null : depth
      }
}

export const routePolicy = ({ hedging, retry }: ResilienceSettings, config: Config): RoutePolicy => {
  const targetTimeoutMs = numberIn(config, "targetTimeoutMs", 0)
  return {
    maxRetries: numberIn(config, "maxRetries", retry.maxRetries),
    retryDelayMs: numberIn(config, "retryDelayMs", retry.delayMs),
    failoverBeforeRetry: flagIn(config, "failoverBeforeRetry", true),
    fallbackDelayMs: numberIn(config, "fallbackDelayMs", defaults.fallbackDelayMs),
    maxSetRetries: numberIn(config, "maxSetRetries", defaults.maxSetRetries),
    setRetryDelayMs: numberIn(config, "setRetryDelayMs", defaults.setRetryDelayMs),
    targetTimeoutMs: targetTimeoutMs === 0 ? null : targetTimeoutMs,
    lines: linesIn(config),
    hedgeDelayMs: flagIn(config, "hedging", hedging.enabled) ? numberIn(config, "hedgeDelayMs", hedging.delayMs) : null,
    measured: flagIn(config, "trackMetrics", true)
  }
}

const nothingSaid: Config = {}

/** Hot: the policy of a request. A combo's is made once for its config and the settings in force. */
export const makePolicies = (): ((settings: ResilienceSettings, resolution: Resolution) => RoutePolicy) => {
  const known = new WeakMap<Config, { readonly settings: ResilienceSettings; readonly policy: RoutePolicy }>()
  return (settings, { combo, config }) => {
    const key = combo === null ? nothingSaid : config
    const found = known.get(key)
    if (found?.settings === settings) return found.policy
    const policy = routePolicy(settings, key)
    known.set(key, { settings, policy })
    return policy
  }
}

/** The timeouts of one attempt: what a combo gives a target can only be less than what all have. */
export const attemptTimeouts = (timeouts: Timeouts, config: Config): Timeouts => {
  const limitMs = numberIn(config, "targetTimeoutMs", 0)
  return limitMs === 0 || limitMs >= timeouts.firstByteMs ? timeouts : { ...timeouts, firstByteMs: limitMs }
}
