/**
 * Every key of a combo's `config`, grouped by purpose. Several keys have two spellings: `auto.x` is the older form of `x`, and `slaX`
 * is short for `sla.x`.
 */
import * as Schema from "effect/Schema"
import { modeNames, packOfMode, WrittenWeights } from "./AutoWeights.ts"
import * as Field from "./Fields.ts"

/** Deepest nesting of combos. */
export const maxComboDepth = 10

/** `strict`: for every turn; `prompt`: until the user's next prompt, so not in the middle of a tool round; `off`: never. */
export const sessionAffinities = ["strict", "prompt", "off"] as const
export type SessionAffinity = (typeof sessionAffinities)[number]

const retry = {
  maxRetries: Field.whole(
    0,
    10,
    "More tries at one target, where another try may help. Default: the resilience settings."
  ),
  retryDelayMs: Field.waitMs("Milliseconds before another try at the same target. Default: the resilience settings."),
  failoverBeforeRetry: Field.flag("Whether other targets come before another try at the same one."),
  fallbackDelayMs: Field.waitMs("Milliseconds before the next target is called."),
  maxSetRetries: Field.whole(0, 10, "More rounds over all targets."),
  setRetryDelayMs: Field.waitMs("Milliseconds before another round."),
  targetTimeoutMs: Field.between(
    50,
    600_000,
    "Milliseconds that one target may take: a stream until its first content, a whole answer until its end. Default: the timeouts of the resilience settings, which it cannot exceed."
  )
}

const queue = {
  concurrencyPerModel: Field.whole(1, 20, "Calls of this combo to one model at once. Default: no limit."),
  queueTimeoutMs: Field.waitMs("Milliseconds that a request may wait in line there, and before a full connection."),
  queueDepth: Field.whole(0, 100, "Requests that may wait in line there. 0: the next target is called at once.")
}

const hedging = {
  hedging: Field.flag(
    "Whether a second target is called when the first is slow to begin. Default: the resilience settings."
  ),
  hedgeDelayMs: Field.waitMs("Milliseconds before the second target is called. Default: the resilience settings."),
  predictiveTtftMs: Field.waitMs("Targets that usually take more milliseconds to begin come after the others. 0: off.")
}

const turns = {
  stickyRoundRobinLimit: Field.whole(0, 1_000, "round-robin: successes that a turn lasts. 0: one request."),
  stickyWeightedLimit: Field.whole(0, 1_000, "weighted: successes that the drawn target is kept for. 0: one request."),
  sessionAffinity: Field.oneOf(
    sessionAffinities,
    "When a session stays at the account that served it last: for every turn, until the user's next prompt, or never. Default: by the strategy."
  ),
  trackMetrics: Field.flag("Whether calls count in the measured speed and reliability of their targets."),
  lkgpEnabled: Field.flag("Whether lkgp goes back to the target that answered last.")
}

const quota = {
  resetAwareSessionWeight: Field.between(0, 1, "reset-aware: weight of the short quota window."),
  resetAwareWeeklyWeight: Field.between(0, 1, "reset-aware: weight of the long quota window."),
  resetAwareTieBandPercent: Field.between(
    0,
    100,
    "reset-aware: percent of the best score within which targets are equal."
  ),
  resetAwareExhaustionGuardPercent: Field.between(
    0,
    100,
    "reset-aware: percent left in the short window below which a target loses score."
  ),
  resetWindowWindows: Field.someOf(
    ["weekly", "session", "monthly", "daily", "hourly", "5h"],
    "reset-window: the quota windows that count; session is 5h. Default: weekly, else the soonest."
  ),
  resetWindowTieBandMs: Field.between(
    0,
    3_600_000,
    "reset-window: milliseconds after the soonest reset within which targets are equal."
  )
}

const handoff = {
  handoffThreshold: Field.between(0.5, 0.94, "context-relay: used part of the quota from which on a summary is made."),
  handoffModel: Field.maybeEmpty("context-relay: the model that makes it. Empty: the one that has answered."),
  handoffProviders: Field.texts("context-relay: provider ids whose conversations are summed up. Empty: all."),
  maxMessagesForSummary: Field.whole(1, 1_000, "context-relay: the last messages that are read for it.")
}

const modePack = Schema.String.pipe(
  Schema.filter((word) => packOfMode(word) !== null, {
    description: `Weights of a mode, in any case: ${modeNames.join(", ")}.`,
    jsonSchema: {},
    message: () => ({ message: `must be one of ${modeNames.join(", ")}`, override: true })
  })
)

/** The names of router strategies are known at run time only, because plugins can add some. */
const autoFields = (routerStrategy: Schema.Schema<string>) => ({
  weights: WrittenWeights,
  candidatePool: Field.someTexts("auto: provider names to choose from. Default: all that are connected."),
  routerStrategy,
  modePack,
  budgetCap: Field.positive("auto: USD that a request may be expected to cost at most."),
  explorationRate: Field.between(0, 1, "auto: part of the requests that go to another than the best."),
  lkgpEnabled: turns.lkgpEnabled
})

const sla = {
  targetP95Ms: Field.positive("sla-aware: required p95 latency, in milliseconds."),
  maxErrorRate: Field.between(0, 1, "sla-aware: part of the calls that may fail."),
  maxCostPer1MTokens: Field.notNegative("sla-aware: USD per million tokens."),
  hardConstraints: Field.flag("sla-aware: whether exceeding the others decides before all else.")
}

const slaFlat = {
  slaTargetP95Ms: sla.targetP95Ms,
  slaMaxErrorRate: sla.maxErrorRate,
  slaMaxCostPer1MTokens: sla.maxCostPer1MTokens,
  slaHardConstraints: sla.hardConstraints
}

const fusionTuning = {
  minPanel: Field.notNegative(
    "fusion: answers after which the others get only the grace time; at least 2, at most the panel."
  ),
  stragglerGraceMs: Field.waitMs("fusion: the grace time in milliseconds."),
  panelHardTimeoutMs: Field.between(1, 3_600_000, "fusion: milliseconds after which the panel is no longer waited for.")
}

const evalRouting = {
  enabled: Field.flag("Whether the results of evaluations order the targets."),
  suiteIds: Field.texts("Ids of the suites that count. Empty: all."),
  maxAgeHours: Field.between(0, 8_760, "Hours after which a run no longer counts."),
  minCases: Field.whole(1, 10_000, "Answered cases that a target needs to have a score."),
  qualityWeight: Field.between(0, 1, "Weight of the part of the cases that passed."),
  latencyWeight: Field.between(0, 1, "Weight of the speed, compared with the fastest target."),
  cacheTtlMs: Field.only(
    0,
    "is not supported: a run counts as soon as it is complete, and nothing is read from a cache"
  )
}

/** Keys of other gateways that this one does not support. */
const elsewhere = {
  reasoningTokenBufferEnabled: Field.unsupported("a client's limit of tokens is never raised"),
  zeroLatencyOptimizationsEnabled: Field.unsupported("there is nothing behind it; use 'hedging'"),
  resetAwareQuotaCacheTtlMs: Field.only(0, "is not supported: quotas are kept up to date, and never read from a cache"),
  timeoutMs: Field.unsupported("use 'targetTimeoutMs'"),
  healthCheckEnabled: Field.unsupported("health is learned from live traffic"),
  healthCheckTimeoutMs: Field.unsupported("health is learned from live traffic"),
  fallbackCompressionMode: Field.unsupported("a request is never compressed for a fallback"),
  fallbackCompressionThreshold: Field.unsupported("a request is never compressed for a fallback"),
  complexityAwareRouting: Field.unsupported("use the strategy 'auto'"),
  manifestRouting: Field.unsupported("use the strategy 'auto'"),
  pipeline_enabled: Field.unsupported("there are no pipelines"),
  compositeTiers: Field.unsupported("nest combos instead"),
  shadowRouting: Field.unsupported("no request is sent twice; use 'gateway route replay'")
}

const nesting = {
  maxComboDepth: Field.whole(1, maxComboDepth, "How deep the combo may nest, itself included."),
  nestedComboMode: Field.only("flatten", "must be flatten: nested combos are replaced in place by their own targets")
}

/** The keys that need only their value or a default. */
export const simpleFields = {
  ...retry,
  ...queue,
  ...hedging,
  ...turns,
  ...quota,
  ...handoff,
  maxComboDepth: nesting.maxComboDepth,
  judgeModel: Field.text("fusion: the model that makes one answer of several. Default: one of those that answered.")
}

/** Defaults of keys that a combo does not set. For a key without one the settings of the gateway or the strategy decide. */
export const defaults = {
  failoverBeforeRetry: true,
  fallbackDelayMs: 0,
  maxSetRetries: 0,
  setRetryDelayMs: 2_000,
  predictiveTtftMs: 0,
  stickyRoundRobinLimit: 0,
  stickyWeightedLimit: 0,
  trackMetrics: true,
  lkgpEnabled: true,
  resetAwareSessionWeight: 0.35,
  resetAwareWeeklyWeight: 0.65,
  resetAwareTieBandPercent: 5,
  resetAwareExhaustionGuardPercent: 10,
  resetWindowTieBandMs: 60_000,
  handoffThreshold: 0.85,
  maxMessagesForSummary: 30,
  maxComboDepth
} as const

/** Values of keys that have neither a default nor a least value, for the OpenAPI document. */
export const configExamples = {
  candidatePool: ["openai", "groq"],
  routerStrategy: "rules",
  modePack: "fast",
  budgetCap: 0.05,
  handoffModel: "openai/gpt-4o-mini",
  handoffProviders: ["openai"],
  judgeModel: "openai/gpt-4o",
  suiteIds: ["golden-set"],
  slaTargetP95Ms: 3_000,
  targetP95Ms: 3_000
} as const

export const fusionDefaults = { minPanel: 2, stragglerGraceMs: 8_000, panelHardTimeoutMs: 90_000 } as const

export const evalDefaults = {
  enabled: false,
  maxAgeHours: 720,
  minCases: 1,
  qualityWeight: 0.85,
  latencyWeight: 0.15
} as const

export const slaDefaults = { hardConstraints: false } as const

/** All fields, and those that are objects with fields of their own. */
export const fieldsWith = (routerStrategy: Schema.Schema<string>) => {
  const auto = autoFields(routerStrategy)
  return {
    plain: { ...auto, ...simpleFields, ...slaFlat, ...nesting, ...elsewhere },
    nested: { auto, sla, fusionTuning, evalRouting }
  }
}

/** Fields of configs whose router strategy need not be known. */
export const anyFields = fieldsWith(
  Field.text("auto: who is first among the scored, by the name of a router strategy.")
)

export const routerStrategyOf = (names: ReadonlyArray<string>): Schema.Schema<string> =>
  Field.oneOf(names, "auto: who is first among the scored.")
