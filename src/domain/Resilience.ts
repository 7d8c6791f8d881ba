/** Resilience settings as `/api/resilience` shows them: shape, limits and defaults. All times in milliseconds. See docs/resilience.md. */
import * as Record from "effect/Record"
import * as Schema from "effect/Schema"
import type { ProviderClass } from "./Provider.ts"

const ms = (from: number, to: number) => Schema.Int.pipe(Schema.between(from, to))
const count = (from: number, to: number) => Schema.Int.pipe(Schema.between(from, to))

const dayMs = 86_400_000
const timeoutMs = ms(50, dayMs)

/** The four timeouts of a request. */
export const Timeouts = Schema.Struct({
  /** One connection attempt: DNS, TCP and TLS. */
  connectMs: timeoutMs,
  /** Each attempt until its first content. */
  firstByteMs: timeoutMs,
  /** Between upstream bytes after content has begun. */
  idleMs: timeoutMs,
  /** The whole client request over all attempts. */
  totalMs: timeoutMs
}).annotations({ identifier: "Timeouts" })
export type Timeouts = typeof Timeouts.Type

/** When a provider's breaker degrades and opens (in failures), and how long it stays open at first. */
const BreakerSettings = Schema.Struct({
  degradationThreshold: count(1, 1_000),
  failureThreshold: count(1, 1_000),
  resetTimeoutMs: ms(500, dayMs)
})

const CooldownSettings = Schema.Struct({
  baseCooldownMs: ms(100, dayMs),
  maxBackoffSteps: count(0, 20),
  /** Believe the upstream's own `Retry-After` and reset times. */
  useUpstreamRetryHints: Schema.Boolean
})

const LockoutSettings = Schema.Struct({
  enabled: Schema.Boolean,
  /** Upstream statuses that count as a failure of the model. */
  errorCodes: Schema.Array(count(400, 599)),
  baseCooldownMs: ms(100, dayMs),
  maxCooldownMs: ms(100, dayMs),
  maxBackoffSteps: count(0, 20),
  useExponentialBackoff: Schema.Boolean
})

/** The operator's own phrases that mean a ban; matched against upstream error texts without regard to case. */
const CustomBannedSignals = Schema.Array(
  Schema.Trim.pipe(Schema.minLength(1), Schema.maxLength(200)).annotations({ identifier: "BannedSignal" })
).pipe(Schema.maxItems(100))

/** Each section can be patched by itself. */
const sections = {
  customBannedSignals: CustomBannedSignals,
  providerBreaker: Schema.Struct({ oauth: BreakerSettings, apikey: BreakerSettings, local: BreakerSettings }),
  connectionCooldown: Schema.Struct({ oauth: CooldownSettings, apikey: CooldownSettings }),
  modelLockout: LockoutSettings,
  /** Quota-share combos only: waiting for a short cooldown instead of failing. */
  comboCooldownWait: Schema.Struct({
    enabled: Schema.Boolean,
    maxWaitMs: ms(0, 600_000),
    maxAttempts: count(0, 100),
    budgetMs: ms(0, 600_000)
  }),
  quotaShareConcurrencyLimit: Schema.Struct({
    enabled: Schema.Boolean,
    queueDepth: count(0, 10_000),
    waitTimeoutMs: ms(0, 600_000)
  }),
  /** Requests that wait for a free slot of a connection with `max_concurrent`. */
  connectionQueue: Schema.Struct({ queueDepth: count(0, 10_000), waitTimeoutMs: ms(0, 600_000) }),
  /** A throttle for every API-key connection; off unless set. */
  requestQueue: Schema.Struct({
    enabled: Schema.Boolean,
    requestsPerMinute: count(1, 1_000_000),
    minTimeBetweenRequestsMs: ms(0, 600_000),
    concurrentRequests: count(1, 10_000),
    maxWaitMs: ms(0, 600_000)
  }),
  /**
   * With the flag `STREAM_RECOVERY_ENABLED` the beginning of a streamed answer is held back for up to this long and this many bytes, so
   * that another target can take over one that breaks early without the client noticing.
   */
  streamRecovery: Schema.Struct({ holdBackMs: ms(0, 10_000), holdBackBytes: count(1, 1_048_576) }),
  /** Calling the same target again after a failure that a retry may cure. */
  retry: Schema.Struct({ maxRetries: count(0, 10), delayMs: ms(0, 60_000) }),
  /** A second target is called as well when the first is slow to begin; the first answer wins. */
  hedging: Schema.Struct({ enabled: Schema.Boolean, delayMs: ms(50, 600_000) }),
  /** Beyond this many requests at once the gateway answers 503. */
  loadShedding: Schema.Struct({ maxInFlight: count(1, 1_000_000), retryAfterMs: ms(1_000, 600_000) }),
  timeouts: Timeouts
}

export const ResilienceSettings = Schema.Struct(sections).annotations({ identifier: "Resilience" })
export type ResilienceSettings = typeof ResilienceSettings.Type

type Leaf = Schema.Schema<number> | Schema.Schema<boolean> | Schema.Schema<ReadonlyArray<number>>
type PartFields<F> = {
  readonly [K in keyof F]: F[K] extends Schema.Schema.All
    ? Schema.optionalWith<F[K], { readonly exact: true; readonly nullable: true }>
    : never
}

const leave = { exact: true, nullable: true } as const

/** Any fields of a section; null and absent both mean "leave it". */
const part = <F extends Readonly<Record<string, Leaf>>>(section: Schema.Struct<F>) =>
  Schema.optionalWith(
    Schema.Struct(
      // The record's own type is lost on the way; each field keeps its schema.
      Record.map(section.fields, (field: Schema.Schema.Any) => Schema.optionalWith(field, leave)) as PartFields<F>
    ),
    leave
  )
const whole = <A, I>(section: Schema.Schema<A, I>) => Schema.optionalWith(section, leave)

/** Any part of the settings; a section that is null or absent stays as it is. */
export const ResiliencePatch = Schema.Struct({
  /** Replaces the whole list. */
  customBannedSignals: whole(CustomBannedSignals),
  providerBreaker: whole(
    Schema.Struct({ oauth: part(BreakerSettings), apikey: part(BreakerSettings), local: part(BreakerSettings) })
  ),
  connectionCooldown: whole(Schema.Struct({ oauth: part(CooldownSettings), apikey: part(CooldownSettings) })),
  modelLockout: part(LockoutSettings),
  comboCooldownWait: part(sections.comboCooldownWait),
  quotaShareConcurrencyLimit: part(sections.quotaShareConcurrencyLimit),
  connectionQueue: part(sections.connectionQueue),
  requestQueue: part(sections.requestQueue),
  streamRecovery: part(sections.streamRecovery),
  retry: part(sections.retry),
  hedging: part(sections.hedging),
  loadShedding: part(sections.loadShedding),
  timeouts: part(Timeouts)
})
export type ResiliencePatch = typeof ResiliencePatch.Type

export const defaultResilience: ResilienceSettings = {
  customBannedSignals: [],
  providerBreaker: {
    oauth: { degradationThreshold: 5, failureThreshold: 8, resetTimeoutMs: 60_000 },
    apikey: { degradationThreshold: 7, failureThreshold: 12, resetTimeoutMs: 30_000 },
    local: { degradationThreshold: 2, failureThreshold: 2, resetTimeoutMs: 15_000 }
  },
  connectionCooldown: {
    oauth: { baseCooldownMs: 5_000, maxBackoffSteps: 8, useUpstreamRetryHints: false },
    apikey: { baseCooldownMs: 3_000, maxBackoffSteps: 5, useUpstreamRetryHints: true }
  },
  modelLockout: {
    enabled: false,
    errorCodes: [403, 404, 429, 502, 503, 504],
    baseCooldownMs: 120_000,
    maxCooldownMs: 1_800_000,
    maxBackoffSteps: 10,
    useExponentialBackoff: true
  },
  comboCooldownWait: { enabled: true, maxWaitMs: 5_000, maxAttempts: 2, budgetMs: 8_000 },
  quotaShareConcurrencyLimit: { enabled: true, queueDepth: 20, waitTimeoutMs: 30_000 },
  connectionQueue: { queueDepth: 100, waitTimeoutMs: 30_000 },
  requestQueue: {
    enabled: false,
    requestsPerMinute: 60,
    minTimeBetweenRequestsMs: 0,
    concurrentRequests: 6,
    maxWaitMs: 30_000
  },
  streamRecovery: { holdBackMs: 750, holdBackBytes: 65_536 },
  retry: { maxRetries: 0, delayMs: 500 },
  hedging: { enabled: false, delayMs: 2_000 },
  loadShedding: { maxInFlight: 4_000, retryAfterMs: 1_000 },
  timeouts: { connectMs: 30_000, firstByteMs: 180_000, idleMs: 300_000, totalMs: 600_000 }
}

/** Lays a patch over settings; what the patch leaves out stays. */
export const mergeResilience = (settings: ResilienceSettings, patch: ResiliencePatch): ResilienceSettings => {
  const { connectionCooldown: cooldown, providerBreaker: breaker } = patch
  return {
    customBannedSignals: patch.customBannedSignals ?? settings.customBannedSignals,
    providerBreaker: {
      oauth: { ...settings.providerBreaker.oauth, ...breaker?.oauth },
      apikey: { ...settings.providerBreaker.apikey, ...breaker?.apikey },
      local: { ...settings.providerBreaker.local, ...breaker?.local }
    },
    connectionCooldown: {
      oauth: { ...settings.connectionCooldown.oauth, ...cooldown?.oauth },
      apikey: { ...settings.connectionCooldown.apikey, ...cooldown?.apikey }
    },
    modelLockout: { ...settings.modelLockout, ...patch.modelLockout },
    comboCooldownWait: { ...settings.comboCooldownWait, ...patch.comboCooldownWait },
    quotaShareConcurrencyLimit: { ...settings.quotaShareConcurrencyLimit, ...patch.quotaShareConcurrencyLimit },
    connectionQueue: { ...settings.connectionQueue, ...patch.connectionQueue },
    requestQueue: { ...settings.requestQueue, ...patch.requestQueue },
    streamRecovery: { ...settings.streamRecovery, ...patch.streamRecovery },
    retry: { ...settings.retry, ...patch.retry },
    hedging: { ...settings.hedging, ...patch.hedging },
    loadShedding: { ...settings.loadShedding, ...patch.loadShedding },
    timeouts: { ...settings.timeouts, ...patch.timeouts }
  }
}

export interface SettingProblem {
  readonly field: string
  readonly message: string
}

/** Combinations of settings that cannot work. */
export const contradictions = (settings: ResilienceSettings): ReadonlyArray<SettingProblem> => {
  const problems: Array<SettingProblem> = []
  const { modelLockout, providerBreaker } = settings
  for (const name of ["oauth", "apikey", "local"] as const satisfies ReadonlyArray<ProviderClass>) {
    const { degradationThreshold, failureThreshold } = providerBreaker[name]
    if (degradationThreshold <= failureThreshold) continue
    const message = `must not be above failureThreshold (${failureThreshold})`
    problems.push({ field: `providerBreaker.${name}.degradationThreshold`, message })
  }
  if (modelLockout.maxCooldownMs < modelLockout.baseCooldownMs) {
    const message = `must be at least baseCooldownMs (${modelLockout.baseCooldownMs})`
    problems.push({ field: "modelLockout.maxCooldownMs", message })
  }
  return problems
}
