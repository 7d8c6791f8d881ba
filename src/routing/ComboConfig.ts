/**
 * What may stand in a combo's `config` (document 1 "Combo", and the keys of the strategies). Every wrong value is named by its place.
 * A key nobody knows is kept: it may be the operator's own, or a plugin's. Only one that is a letter or two away from a known key is
 * refused, because there somebody meant the known one and would wait for an effect in vain. Null counts as not given. Pure.
 */
import type { FieldProblem } from "../domain/Errors.ts"
import { builtInNames } from "./auto/RouterStrategies.ts"
import { modeNames, packOfMode, readWeights } from "./auto/Weights.ts"
import { sessionAffinities } from "./SessionAffinity.ts"

/** Longest `config`, as JSON text. */
export const maxConfigChars = 65_536

/** What is wrong with a value; null when nothing is. */
type Check = (value: unknown) => string | null
type Problems = ReadonlyArray<FieldProblem>
type Rule = (value: unknown, field: string) => Problems

const isNumber = (value: unknown): value is number => typeof value === "number" && Number.isFinite(value)

const between =
  (least: number, most: number): Check =>
  (value) =>
    isNumber(value) && value >= least && value <= most ? null : `must be a number from ${least} to ${most}`

const whole =
  (least: number, most: number): Check =>
  (value) =>
    isNumber(value) && Number.isInteger(value) && value >= least && value <= most
      ? null
      : `must be a whole number from ${least} to ${most}`

const positive: Check = (value) => (isNumber(value) && value > 0 ? null : "must be a number above 0")
const notNegative: Check = (value) => (isNumber(value) && value >= 0 ? null : "must be a number, not negative")
const flag: Check = (value) => (typeof value === "boolean" ? null : "must be true or false")
const isText = (value: unknown, longest: number): value is string =>
  typeof value === "string" && value.trim() !== "" && value.length <= longest
const text: Check = (value) => (isText(value, 300) ? null : "must be a text of 1 to 300 characters")
const maybeEmpty: Check = (value) =>
  typeof value === "string" && value.length <= 300 ? null : "must be a text of at most 300 characters"

const texts: Check = (value) =>
  Array.isArray(value) && value.length <= 1_000 && value.every((each) => isText(each, 300))
    ? null
    : "must be a list of at most 1000 texts"

const someTexts: Check = (value) =>
  texts(value) === null && Array.isArray(value) && value.length > 0 ? null : "must be a list of 1 to 1000 texts"

const oneOf =
  (words: ReadonlyArray<string>): Check =>
  (value) =>
    typeof value === "string" && words.includes(value) ? null : `must be one of ${words.join(", ")}`

const someOf =
  (words: ReadonlyArray<string>): Check =>
  (value) => {
    const given: ReadonlyArray<unknown> = Array.isArray(value) ? value : [value]
    const known = given.length > 0 && given.every((each) => typeof each === "string" && words.includes(each))
    return known ? null : `must be one or a list of ${words.join(", ")}`
  }

/** A switch that other gateways have and this one does not: only its off position may be saved. */
const off =
  (why: string): Check =>
  (value) =>
    value === false ? null : `is not supported: ${why}`

/** What other gateways have and this one does not. */
const unsupported =
  (why: string): Check =>
  (value) =>
    value === false || value === null ? null : `is not supported: ${why}`

/** The only one there is; the other that is known elsewhere would be a promise nobody keeps. */
const flatten: Check = (value) =>
  value === "flatten" ? null : "must be flatten: nested combos are replaced in place by their own targets"

const mode: Check = (value) =>
  typeof value === "string" && packOfMode(value) !== null ? null : `must be one of ${modeNames.join(", ")}`

const waitMs = between(0, 600_000)
const percent = between(0, 100)

const rule =
  (check: Check): Rule =>
  (value, field) => {
    const message = check(value)
    return message === null ? [] : [{ field, message }]
  }

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const weights: Rule = (value, field) => readWeights(value, field).problems

/** Shorter names are too near to one another to be taken for mistakes. */
const shortestTypo = 5

const typoOf = (key: string, known: ReadonlyArray<string>): string | null => {
  const plain = (name: string) => name.toLowerCase().replaceAll(/[-_]/g, "")
  const within = (letters: number) => known.find((name) => isWithin(letters, plain(key), plain(name)))
  return within(0) ?? (key.length < shortestTypo ? null : (within(1) ?? within(2) ?? null))
}

/** Whether two names become one by at most so many letters put in, taken out or changed. */
const isWithin = (letters: number, one: string, other: string): boolean => {
  let at = 0
  while (at < one.length && at < other.length && one[at] === other[at]) at += 1
  const [a, b] = [one.slice(at), other.slice(at)]
  if (a === "" || b === "") return a.length + b.length <= letters
  if (letters === 0) return false
  return (
    isWithin(letters - 1, a.slice(1), b.slice(1)) ||
    isWithin(letters - 1, a.slice(1), b) ||
    isWithin(letters - 1, a, b.slice(1))
  )
}

const object =
  (rules: Readonly<Record<string, Rule>>): Rule =>
  (value, field) => {
    if (!isRecord(value)) return [{ field, message: "must be an object" }]
    const known = Object.keys(rules)
    return Object.entries(value).flatMap(([key, inner]): Problems => {
      const place = `${field}.${key}`
      const found = Object.hasOwn(rules, key) ? rules[key] : undefined
      if (found !== undefined) return inner === null ? [] : found(inner, place)
      const meant = typoOf(key, known)
      return meant === null ? [] : [{ field: place, message: `is not known; did you mean '${meant}'?` }]
    })
  }

const sla = object({
  targetP95Ms: rule(positive),
  maxErrorRate: rule(between(0, 1)),
  maxCostPer1MTokens: rule(notNegative),
  hardConstraints: rule(flag)
})

const fusionTuning = object({
  // Clamped to the panel where it is used.
  minPanel: rule(notNegative),
  stragglerGraceMs: rule(waitMs),
  panelHardTimeoutMs: rule(between(1, 3_600_000))
})

/** Keys that configs of other gateways bring along. Kept as unknown they would look like promises. */
const elsewhere = {
  timeoutMs: rule(unsupported("use 'targetTimeoutMs'")),
  healthCheckEnabled: rule(unsupported("health is learned from live traffic")),
  healthCheckTimeoutMs: rule(unsupported("health is learned from live traffic")),
  fallbackCompressionMode: rule(unsupported("a request is never compressed for a fallback")),
  fallbackCompressionThreshold: rule(unsupported("a request is never compressed for a fallback")),
  complexityAwareRouting: rule(unsupported("use the strategy 'auto'")),
  manifestRouting: rule(unsupported("use the strategy 'auto'")),
  pipeline_enabled: rule(unsupported("there are no pipelines")),
  compositeTiers: rule(unsupported("nest combos instead")),
  shadowRouting: rule(unsupported("no request is sent twice; use 'gateway route replay'")),
  evalRouting: rule(unsupported("use the strategy 'auto'"))
}

const configRule = (routerStrategies: ReadonlyArray<string>): Rule => {
  const routerStrategy = rule(oneOf(routerStrategies))
  const auto = {
    weights,
    candidatePool: rule(someTexts),
    routerStrategy,
    modePack: rule(mode),
    budgetCap: rule(positive),
    explorationRate: rule(between(0, 1)),
    lkgpEnabled: rule(flag)
  }
  return object({
    ...auto,
    auto: object(auto),
    sla,
    slaTargetP95Ms: rule(positive),
    slaMaxErrorRate: rule(between(0, 1)),
    slaMaxCostPer1MTokens: rule(notNegative),
    slaHardConstraints: rule(flag),
    judgeModel: rule(text),
    fusionTuning,
    maxRetries: rule(whole(0, 10)),
    retryDelayMs: rule(waitMs),
    fallbackDelayMs: rule(waitMs),
    maxSetRetries: rule(whole(0, 10)),
    setRetryDelayMs: rule(waitMs),
    failoverBeforeRetry: rule(flag),
    targetTimeoutMs: rule(between(50, 600_000)),
    concurrencyPerModel: rule(whole(1, 20)),
    queueTimeoutMs: rule(waitMs),
    queueDepth: rule(whole(0, 100)),
    stickyRoundRobinLimit: rule(whole(0, 1_000)),
    stickyWeightedLimit: rule(whole(0, 1_000)),
    handoffThreshold: rule(between(0.5, 0.94)),
    handoffModel: rule(maybeEmpty),
    handoffProviders: rule(texts),
    maxMessagesForSummary: rule(whole(1, 1_000)),
    sessionAffinity: rule(oneOf(sessionAffinities)),
    trackMetrics: rule(flag),
    reasoningTokenBufferEnabled: rule(off("a client's limit of tokens is never raised")),
    zeroLatencyOptimizationsEnabled: rule(off("there is nothing behind it; use 'hedging'")),
    hedging: rule(flag),
    hedgeDelayMs: rule(waitMs),
    predictiveTtftMs: rule(waitMs),
    maxComboDepth: rule(whole(1, 10)),
    nestedComboMode: rule(flatten),
    resetAwareSessionWeight: rule(between(0, 1)),
    resetAwareWeeklyWeight: rule(between(0, 1)),
    resetAwareTieBandPercent: rule(percent),
    resetAwareExhaustionGuardPercent: rule(percent),
    resetAwareQuotaCacheTtlMs: rule((value) =>
      value === 0 ? null : "is not supported: quotas are kept up to date, and never read from a cache"
    ),
    resetWindowWindows: rule(someOf(["weekly", "session", "monthly", "daily", "hourly", "5h"])),
    resetWindowTieBandMs: rule(between(0, 3_600_000)),
    ...elsewhere
  })
}

/** Everything that is wrong with a combo's `config`; empty when nothing is. `routerStrategies`: the names that are known now. */
export const configProblems = (
  config: Readonly<Record<string, unknown>>,
  routerStrategies: ReadonlyArray<string> = builtInNames
): Problems =>
  JSON.stringify(config).length > maxConfigChars
    ? [{ field: "config", message: `must not be longer than ${maxConfigChars} characters` }]
    : configRule(routerStrategies)(config, "config")
