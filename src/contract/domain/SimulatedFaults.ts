/**
 * The faults a simulated upstream can have, and the scenarios that combine them (`/api/routing/simulate`, `gateway route simulate`).
 * Their behaviour is in `simulation/faults`.
 */
import * as Schema from "effect/Schema"

/** Names of simulated faults. A row of the same name in the fault tests (`test/faults/wall`) is the same fault. */
export const FaultName = Schema.Literal(
  "connection-refused",
  "dns-failure",
  "tls-failure",
  "reset-before-headers",
  "connect-timeout",
  "no-response",
  "headers-then-silence",
  "half-then-silence",
  "slow-drip",
  "429",
  "429-retry-after-seconds",
  "429-retry-after-date",
  "429-retry-after-far",
  "429-clock-skew",
  "429-quota",
  "429-daily-quota",
  "429-model-quota",
  "401-refreshable",
  "401-refresh-in-vain",
  "401-dead",
  "402",
  "403-banned",
  "403",
  "404-model",
  "404-no-access",
  "400-context-overflow",
  "400",
  "400-content-refused",
  "413",
  "500",
  "502",
  "503",
  "503-retry-after",
  "504",
  "529",
  "502-html",
  "200-html",
  "200-error-body",
  "200-empty-answer",
  "error-event-first",
  "error-event-midway",
  "cut-mid-text",
  "cut-mid-tool-call",
  "cut-mid-letter",
  "no-finish-reason",
  "end-without-finish-reason",
  "terminator-twice",
  "content-type-plain",
  "gzip-garbage",
  "100-megabytes",
  "usage-missing"
)
export type FaultName = typeof FaultName.Type

/** Several targets, or a fault that comes and goes. The name of a fault is a scenario as well: the first target always has it. */
export const CombinedScenario = Schema.Literal(
  "healthy",
  "slow-first",
  "errors-everywhere",
  "first-down-a-while",
  "first-flapping",
  "first-limited",
  "first-unreliable",
  "first-cuts-some",
  "dies-midway",
  "two-in-trouble",
  "all-but-last-down",
  "all-limited",
  "all-rate-limited",
  "all-exhausted",
  "all-down",
  "all-refuse-the-request"
)
export type CombinedScenario = typeof CombinedScenario.Type

export const ScenarioName = Schema.Literal(...CombinedScenario.literals, ...FaultName.literals)
export type ScenarioName = typeof ScenarioName.Type
