/** Routing decisions: those that were made, and those that would be. */
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as Schema from "effect/Schema"
import { FaultName, ScenarioName } from "../../domain/SimulatedFaults.ts"
import { WireName } from "../../domain/Wire.ts"
import { endpointsOf } from "../Endpoints.ts"
import { NotFoundAnswer } from "../Errors.ts"
import { body, optional, Text } from "../Inputs.ts"

const Numbers = Schema.Record({ key: Schema.String, value: Schema.Number })

export const DecisionView = Schema.Struct({
  requestId: Schema.String,
  requestedModel: Schema.String,
  /** What stood in for it, by the setting `modelFallbacks`; absent where the requested id itself was asked. */
  fallbackModel: Schema.optionalWith(Schema.String, { exact: true }),
  combo: Schema.NullOr(Schema.String),
  strategy: Schema.String,
  /** Why the first target is first. */
  reason: Schema.optionalWith(Schema.String, { exact: true }),
  seed: Schema.Number,
  weights: Schema.NullOr(Numbers),
  candidates: Schema.Array(
    Schema.Struct({
      provider: Schema.String,
      connectionId: Schema.String,
      model: Schema.String,
      score: Schema.NullOr(Schema.Number),
      factors: Schema.NullOr(Numbers),
      excluded: Schema.NullOr(
        Schema.Struct({ rule: Schema.String, until: Schema.NullOr(Schema.String), detail: Schema.String })
      )
    })
  ),
  /** Candidates that a stored record does not show; absent when it shows all. */
  candidatesLeftOut: Schema.optionalWith(Schema.Number, { exact: true }),
  order: Schema.Array(Schema.String),
  attempts: Schema.Array(
    Schema.Struct({
      provider: Schema.String,
      connectionId: Schema.String,
      model: Schema.String,
      status: Schema.NullOr(Schema.Number),
      outcome: Schema.Literal("completed", "failed", "aborted"),
      reason: Schema.String,
      startedAt: Schema.String,
      latencyMs: Schema.Number
    })
  ),
  chosen: Schema.NullOr(Schema.String),
  relaxedFilters: Schema.Array(Schema.String)
}).annotations({ identifier: "Decision" })
export type DecisionView = typeof DecisionView.Type

/** A request as it would come in. Nothing is sent upstream, and nothing is remembered of it. */
export const ExplainInput = Schema.Struct({
  model: Text.pipe(Schema.maxLength(1_000)),
  wire: optional(WireName),
  body: optional(Schema.Record({ key: Schema.String, value: Schema.Unknown })),
  /** Names in any case. */
  headers: optional(
    Schema.Record({ key: Schema.String, value: Schema.Union(Schema.String, Schema.Number, Schema.Boolean) })
  ),
  /** Who asks: a quota share may be refused to some. Absent: a caller without an API key. */
  apiKeyId: optional(Text),
  /** Of everything that is left to chance; the same one gives the same decision. */
  seed: optional(
    Schema.Number.pipe(Schema.filter((seed) => (Number.isSafeInteger(seed) ? true : "must be a whole number")))
  )
}).annotations(body("ExplainRouting"))
export type ExplainInput = typeof ExplainInput.Type

const Decision = Schema.Struct({ decision: DecisionView })

const Part = Schema.Number.pipe(Schema.between(0, 1))
const Milliseconds = Schema.Number.pipe(Schema.between(1, 3_600_000))
const LatencyPercentiles = Schema.Tuple(Milliseconds, Milliseconds).pipe(
  Schema.filter(([p50Ms, p95Ms]) => (p50Ms <= p95Ms ? true : "must hold the median first, then the 95th percentile"))
)
const SimulatedQuota = Schema.Struct({
  requests: Schema.Int.pipe(Schema.between(1, 1_000_000)),
  windowMs: Schema.Int.pipe(Schema.between(1, 31 * 86_400_000))
})
export const SimulatedFault = Schema.Struct({
  fault: FaultName,
  /** Part of the calls; absent: all of them. */
  rate: optional(Part),
  /** Milliseconds since the first arrival. */
  fromMs: optional(Schema.Int.pipe(Schema.between(0, 31 * 86_400_000))),
  /** Absent: from then on always. */
  forMs: optional(Schema.Int.pipe(Schema.between(1, 31 * 86_400_000))),
  /** It comes back as often as this. */
  everyMs: optional(Schema.Int.pipe(Schema.between(1, 31 * 86_400_000)))
})
const SimulatedSessions = Schema.Struct({
  count: Schema.Int.pipe(Schema.between(1, 20_000)),
  /** Requests from one prompt to the next: the prompt itself, then rounds of tools. Absent: 10. */
  turnsPerPrompt: optional(Schema.Int.pipe(Schema.between(1, 1_000)))
})
const named = <A, I>(value: Schema.Schema<A, I>) => optional(Schema.Record({ key: Schema.String, value }))
const Tokens = Schema.Int.pipe(Schema.between(0, 10_000_000))
const Seed = Schema.Int.pipe(Schema.filter((seed) => (Number.isSafeInteger(seed) ? true : "must be a whole number")))

/**
 * Keys of `errors`, `latency`, `quotas` and `faults` name targets: a connection's id or name, `provider/model`, a provider, a model, or `*` for
 * all; the most particular name counts.
 */
export const SimulateInput = Schema.Struct({
  model: Text.pipe(Schema.maxLength(1_000)),
  requests: optional(Schema.Int.pipe(Schema.between(1, 100_000))),
  seed: optional(Seed),
  /** Mean arrivals, in groups of `burst`. */
  ratePerSecond: optional(Schema.Number.pipe(Schema.between(0.001, 100_000))),
  burst: optional(Schema.Int.pipe(Schema.between(1, 1_000))),
  /** Fraction of calls that fail with 503. */
  errors: named(Part),
  /** Median and 95th percentile in milliseconds. */
  latency: named(LatencyPercentiles),
  /** Requests a connection serves in a window; beyond them it answers 429. */
  quotas: named(SimulatedQuota),
  /** Additional faults, and when they occur; of several the first that applies. */
  faults: named(Schema.Array(SimulatedFault).pipe(Schema.maxItems(16))),
  /** A scenario of faults; the behaviours above come first. */
  scenario: optional(ScenarioName),
  /** The answers are streamed; absent: as the scenario has it. */
  stream: optional(Schema.Boolean),
  /** Sessions that the requests belong to, in turn; absent: no sessions. */
  sessions: optional(SimulatedSessions),
  promptTokens: optional(Tokens),
  outputTokens: optional(Tokens)
}).annotations(body("SimulateRouting"))
export type SimulateInput = typeof SimulateInput.Type

const MaybeNumber = Schema.NullOr(Schema.Number)

export const SimulationView = Schema.Struct({
  model: Schema.String,
  combo: Schema.NullOr(Schema.String),
  strategy: Schema.String,
  scenario: Schema.NullOr(ScenarioName),
  streamed: Schema.Boolean,
  seed: Schema.Number,
  requests: Schema.Number,
  served: Schema.Number,
  failed: Schema.Number,
  /** Of the failed: the client had the beginning of an answer that broke off. */
  broken: Schema.Number,
  /** Calls to a target that had failed for the same request. */
  retries: Schema.Number,
  /** Served by another than the first choice. */
  fallbacks: Schema.Number,
  calls: Schema.Number,
  durationMs: Schema.Number,
  p50Ms: MaybeNumber,
  p95Ms: MaybeNumber,
  costUsd: Schema.Number,
  fairness: Schema.Struct({
    maxDeviation: MaybeNumber,
    jainIndex: MaybeNumber,
    largestLagRequests: Schema.Number
  }),
  targets: Schema.Array(
    Schema.Struct({
      provider: Schema.String,
      connectionId: Schema.String,
      model: Schema.String,
      weightShare: Schema.Number,
      share: Schema.Number,
      served: Schema.Number,
      firstChoices: Schema.Number,
      calls: Schema.Number,
      errors: Schema.Number,
      rateLimited: Schema.Number,
      cooldowns: Schema.Number,
      breakerOpenings: Schema.Number,
      /** What its last failed call was understood as. */
      lastFailure: Schema.NullOr(Schema.Struct({ kind: Schema.String, status: Schema.Number })),
      /** Why it cannot be used at the end; `remainingMs` null: an operator has to act, or the time is unknown. */
      left: Schema.NullOr(Schema.Struct({ rule: Schema.String, remainingMs: MaybeNumber })),
      p50Ms: MaybeNumber,
      p95Ms: MaybeNumber,
      costUsd: Schema.Number,
      priced: Schema.Boolean
    })
  ),
  notes: Schema.Array(Schema.String)
}).annotations({ identifier: "Simulation" })
export type SimulationView = typeof SimulationView.Type

/** Recorded requests of the last `sinceMs` milliseconds, decided anew by `model`. */
export const ReplayInput = Schema.Struct({
  model: Text.pipe(Schema.maxLength(1_000)),
  sinceMs: Schema.Int.pipe(Schema.between(1, 366 * 86_400_000)),
  seed: optional(Seed)
}).annotations(body("ReplayRouting"))
export type ReplayInput = typeof ReplayInput.Type

export const ReplayView = Schema.Struct({
  model: Schema.String,
  strategy: Schema.String,
  seed: Schema.Number,
  replayed: Schema.Number,
  leftOut: Schema.Number,
  moved: Schema.Number,
  providers: Schema.Array(
    Schema.Struct({
      provider: Schema.String,
      before: Schema.Number,
      after: Schema.Number,
      shareBefore: Schema.Number,
      shareAfter: Schema.Number
    })
  ),
  cost: Schema.Struct({
    beforeUsd: Schema.Number,
    afterUsd: Schema.Number,
    differenceUsd: Schema.Number,
    unpricedBefore: Schema.Number,
    unpricedAfter: Schema.Number
  }),
  latency: Schema.Struct({
    meanBeforeMs: MaybeNumber,
    meanAfterMs: MaybeNumber,
    basis: Schema.Struct({ live: Schema.Number, recorded: Schema.Number, unknown: Schema.Number })
  }),
  notes: Schema.Array(Schema.String)
}).annotations({ identifier: "Replay" })
export type ReplayView = typeof ReplayView.Type

const at = endpointsOf("routing")

export class Routing extends HttpApiGroup.make("routing")
  .add(at("explain").setPayload(ExplainInput).addSuccess(Decision).addError(NotFoundAnswer))
  .add(
    at("simulate")
      .setPayload(SimulateInput)
      .addSuccess(Schema.Struct({ simulation: SimulationView }))
      .addError(NotFoundAnswer)
  )
  .add(
    at("replay")
      .setPayload(ReplayInput)
      .addSuccess(Schema.Struct({ replay: ReplayView }))
      .addError(NotFoundAnswer)
  )
  .add(at("decision").addSuccess(Decision).addError(NotFoundAnswer)) {}
