/** Resilience settings as `/api/resilience` shows them: shape, limits and defaults. All times in milliseconds. See docs/resilience.md. */
import * as Record from "effect/Record"
import * as Schema from "effect/Schema"
import { field } from "../../kernel/Documented.ts"
import type { ProviderClass } from "../../contract/domain/Provider.ts"

const ms = (from: number, to: number) => Schema.Int.pipe(Schema.between(from, to))
const count = (from: number, to: number) => Schema.Int.pipe(Schema.between(from, to))

const dayMs = 86_400_000
const timeoutMs = ms(50, dayMs)

/** The four timeouts of a request. */
export const Timeouts = Schema.Struct({
  connectMs: field(timeoutMs, "Milliseconds of one connection attempt: DNS, TCP and TLS.", 30_000),
  firstByteMs: field(timeoutMs, "Milliseconds of each attempt until its first content.", 180_000),
  idleMs: field(timeoutMs, "Milliseconds between upstream bytes after content has begun.", 300_000),
  totalMs: field(timeoutMs, "Milliseconds of the whole client request over all attempts.", 600_000)
}).annotations({ identifier: "Timeouts" })
export type Timeouts = typeof Timeouts.Type

/**
 * Thresholds at which a provider's breaker degrades and opens (in failures), and the time for which it stays open at
 * first.
 */
const BreakerSettings = Schema.Struct({
  degradationThreshold: field(count(1, 1_000), "Failures after which it counts as degraded.", 7),
  failureThreshold: field(count(1, 1_000), "Failures after which it opens.", 12),
  resetTimeoutMs: field(ms(500, dayMs), "Milliseconds until an open breaker lets one request through to try.", 30_000)
})

const CooldownSettings = Schema.Struct({
  baseCooldownMs: field(ms(100, dayMs), "Milliseconds of the first pause; each further failure doubles it.", 3_000),
  maxBackoffSteps: field(count(0, 20), "How often a pause is doubled at most.", 5),
  useUpstreamRetryHints: field(Schema.Boolean, "Believe the upstream's own `Retry-After` and reset times.", true)
})

const LockoutSettings = Schema.Struct({
  enabled: field(Schema.Boolean, "Whether models are locked.", false),
  errorCodes: field(
    Schema.Array(count(400, 599)),
    "Upstream statuses that count as a failure of the model.",
    [404, 429, 503]
  ),
  baseCooldownMs: field(ms(100, dayMs), "Milliseconds of the first lock.", 120_000),
  maxCooldownMs: field(ms(100, dayMs), "Milliseconds of the longest lock.", 1_800_000),
  maxBackoffSteps: field(count(0, 20), "How often a lock is doubled at most.", 10),
  useExponentialBackoff: field(Schema.Boolean, "Whether each further failure doubles the lock.", true)
})

/** The operator's own phrases that mean a ban; matched against upstream error texts without regard to case. */
const CustomBannedSignals = Schema.Array(
  Schema.Trim.pipe(Schema.minLength(1), Schema.maxLength(200)).annotations({ identifier: "BannedSignal" })
).pipe(Schema.maxItems(100))

/** Each section can be patched by itself. */
const sections = {
  customBannedSignals: CustomBannedSignals,
  providerBreaker: Schema.Struct({
    oauth: field(BreakerSettings, "Accounts with OAuth."),
    apikey: field(BreakerSettings, "Accounts with an API key."),
    local: field(BreakerSettings, "Servers on this machine or in its network.")
  }),
  connectionCooldown: Schema.Struct({
    oauth: field(CooldownSettings, "Accounts with OAuth."),
    apikey: field(CooldownSettings, "Accounts with an API key.")
  }),
  modelLockout: LockoutSettings,
  comboCooldownWait: Schema.Struct({
    enabled: field(Schema.Boolean, "Whether requests wait.", true),
    maxWaitMs: field(ms(0, 600_000), "Milliseconds of the longest single wait.", 5_000),
    maxAttempts: field(count(0, 100), "How often a request waits.", 2),
    budgetMs: field(ms(0, 600_000), "Milliseconds of all waits of a request together.", 8_000)
  }),
  quotaShareConcurrencyLimit: Schema.Struct({
    enabled: field(Schema.Boolean, "Whether the limit holds.", true),
    queueDepth: field(count(0, 10_000), "Requests that may wait.", 20),
    waitTimeoutMs: field(ms(0, 600_000), "Milliseconds that a request waits at most.", 30_000)
  }),
  connectionQueue: Schema.Struct({
    queueDepth: field(count(0, 10_000), "Requests that may wait, per connection.", 100),
    waitTimeoutMs: field(ms(0, 600_000), "Milliseconds that a request waits at most.", 30_000)
  }),
  requestQueue: Schema.Struct({
    enabled: field(Schema.Boolean, "Whether the throttle is on.", false),
    requestsPerMinute: field(count(1, 1_000_000), "Most requests in a minute, per connection.", 60),
    minTimeBetweenRequestsMs: field(ms(0, 600_000), "Milliseconds between two requests at least.", 0),
    concurrentRequests: field(count(1, 10_000), "Most requests at once, per connection.", 6),
    maxWaitMs: field(ms(0, 600_000), "Milliseconds that a request waits at most.", 30_000)
  }),
  streamRecovery: Schema.Struct({
    holdBackMs: field(ms(0, 10_000), "Milliseconds of the beginning that are held back at most.", 750),
    holdBackBytes: field(count(1, 1_048_576), "Bytes of the beginning that are held back at most.", 65_536)
  }),
  retry: Schema.Struct({
    maxRetries: field(count(0, 10), "How often the same target is called again.", 1),
    delayMs: field(ms(0, 60_000), "Milliseconds before it is called again.", 500)
  }),
  hedging: Schema.Struct({
    enabled: field(Schema.Boolean, "Whether a second target is called.", false),
    delayMs: field(ms(50, 600_000), "Milliseconds after which it is called.", 2_000)
  }),
  loadShedding: Schema.Struct({
    maxInFlight: field(
      count(1, 1_000_000),
      "Most requests at once. Without a setting it comes from the memory.",
      5_000
    ),
    retryAfterMs: field(ms(1_000, 600_000), "Milliseconds after which clients are told to come again.", 1_000)
  }),
  timeouts: Timeouts
}

/** Meaning of each section. */
const meaning: Readonly<Record<keyof typeof sections, string>> = {
  customBannedSignals: "The operator's own phrases in upstream errors that mean a ban.",
  providerBreaker: "When the breaker of a provider degrades and opens, by the kind of the account.",
  connectionCooldown: "How long an account is left alone after a failure, by its kind.",
  modelLockout: "How long a model is left alone at an account after a failure of its own.",
  comboCooldownWait: "Quota-share combos only: waiting for a short cooldown instead of failing.",
  quotaShareConcurrencyLimit: "Quota-share combos only: how many requests may wait for an account.",
  connectionQueue: "Requests that wait for a free slot of a connection with `maxConcurrent`.",
  requestQueue: "A throttle for every connection with an API key; off unless set.",
  streamRecovery:
    "With the flag `STREAM_RECOVERY_ENABLED` the beginning of a streamed answer is held back, so that another target can take over one that breaks early without the client noticing.",
  retry: "Calling the same target again after a failure that a retry may cure.",
  hedging: "A second target is called as well when the first is slow to begin; the first answer wins.",
  loadShedding: "Beyond this many requests at once the gateway answers 503.",
  timeouts: "The four timeouts of a request."
}

export const ResilienceSettings = Schema.Struct({
  customBannedSignals: field(sections.customBannedSignals, meaning.customBannedSignals, ["account suspended"]),
  providerBreaker: field(sections.providerBreaker, meaning.providerBreaker),
  connectionCooldown: field(sections.connectionCooldown, meaning.connectionCooldown),
  modelLockout: field(sections.modelLockout, meaning.modelLockout),
  comboCooldownWait: field(sections.comboCooldownWait, meaning.comboCooldownWait),
  quotaShareConcurrencyLimit: field(sections.quotaShareConcurrencyLimit, meaning.quotaShareConcurrencyLimit),
  connectionQueue: field(sections.connectionQueue, meaning.connectionQueue),
  requestQueue: field(sections.requestQueue, meaning.requestQueue),
  streamRecovery: field(sections.streamRecovery, meaning.streamRecovery),
  retry: field(sections.retry, meaning.retry),
  hedging: field(sections.hedging, meaning.hedging),
  loadShedding: field(sections.loadShedding, meaning.loadShedding),
  timeouts: field(sections.timeouts, meaning.timeouts)
}).annotations({ identifier: "Resilience" })
export type ResilienceSettings = typeof ResilienceSettings.Type

type Leaf = Schema.Schema<number> | Schema.Schema<boolean> | Schema.Schema<ReadonlyArray<number>>
type PartFields<F> = {
  readonly [K in keyof F]: F[K] extends Schema.propertySignature<infer S extends Schema.Schema.All>
    ? Schema.optionalWith<S, { readonly exact: true; readonly nullable: true }>
    : never
}

const leave = { exact: true, nullable: true } as const

/** The field of a section, with its meaning and example, that may be left out. */
const partField = ({ ast, from }: Schema.propertySignature<Schema.Schema.Any>) => {
  const { annotations } = ast._tag === "PropertySignatureDeclaration" ? ast : ast.to
  return Schema.optionalWith(from, leave).annotations(annotations)
}

/** Any fields of a section; null and absent both mean "leave it". */
const partOf = <F extends Readonly<Record<string, Schema.propertySignature<Leaf>>>>(section: Schema.Struct<F>) =>
  // The record's own type is lost on the way; each field keeps its schema.
  Schema.Struct(Record.map(section.fields, partField) as unknown as PartFields<F>)
const part = <F extends Readonly<Record<string, Schema.propertySignature<Leaf>>>>(
  section: Schema.Struct<F>,
  description: string
) => field(Schema.optionalWith(partOf(section), leave), description)
const whole = <A, I>(section: Schema.Schema<A, I>, description: string, ...examples: ReadonlyArray<unknown>) =>
  field(Schema.optionalWith(section, leave), description, ...examples)

/** Any part of the settings; a section that is null or absent stays as it is. */
export const ResiliencePatch = Schema.Struct({
  /** Replaces the whole list. */
  customBannedSignals: whole(CustomBannedSignals, meaning.customBannedSignals, ["account suspended"]),
  providerBreaker: whole(
    Schema.Struct({
      oauth: part(BreakerSettings, "Accounts with OAuth."),
      apikey: part(BreakerSettings, "Accounts with an API key."),
      local: part(BreakerSettings, "Servers on this machine or in its network.")
    }),
    meaning.providerBreaker
  ),
  connectionCooldown: whole(
    Schema.Struct({
      oauth: part(CooldownSettings, "Accounts with OAuth."),
      apikey: part(CooldownSettings, "Accounts with an API key.")
    }),
    meaning.connectionCooldown
  ),
  modelLockout: part(LockoutSettings, meaning.modelLockout),
  comboCooldownWait: part(sections.comboCooldownWait, meaning.comboCooldownWait),
  quotaShareConcurrencyLimit: part(sections.quotaShareConcurrencyLimit, meaning.quotaShareConcurrencyLimit),
  connectionQueue: part(sections.connectionQueue, meaning.connectionQueue),
  requestQueue: part(sections.requestQueue, meaning.requestQueue),
  streamRecovery: part(sections.streamRecovery, meaning.streamRecovery),
  retry: part(sections.retry, meaning.retry),
  hedging: part(sections.hedging, meaning.hedging),
  loadShedding: part(sections.loadShedding, meaning.loadShedding),
  timeouts: part(Timeouts, meaning.timeouts)
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
  loadShedding: { maxInFlight: 5_000, retryAfterMs: 1_000 },
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
