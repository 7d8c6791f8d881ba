/** Routing decisions: those that were made, and those that would be. */
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as OpenApi from "@effect/platform/OpenApi"
import * as Schema from "effect/Schema"
import { FaultName, ScenarioName } from "../../contract/domain/SimulatedFaults.ts"
import { CreateCombo } from "../combos/routes.ts"
import { RequestHook } from "../plugins/entity.ts"
import { WireName } from "../../contract/domain/Wire.ts"
import { endpointsOf } from "../../contract/Endpoints.ts"
import { ConflictAnswer, NotFoundAnswer } from "../../contract/Errors.ts"
import { exampleId, exampleKeyId, exampleRequestId, exampleTime } from "../../contract/Examples.ts"
import { body, optional, Text } from "../../contract/Inputs.ts"
import { field } from "../../kernel/Documented.ts"

const Numbers = Schema.Record({ key: Schema.String, value: Schema.Number })
const NullableNumbers = Schema.NullOr(Numbers)
const MaybeText = Schema.NullOr(Schema.String)
const MaybeNumber = Schema.NullOr(Schema.Number)

/** Members that name the target of a candidate, an attempt or a simulation. */
const targetFields = {
  provider: field(Schema.String, "Id of the provider, or the prefix of a node.", "openai"),
  connectionId: field(Schema.String, "Id of the connection.", exampleId),
  model: field(Schema.String, "Id of the model at the provider.", "gpt-4o-mini")
}

export const DecisionView = Schema.Struct({
  requestId: field(Schema.String, "The answer's `X-Gateway-Request-Id`.", exampleRequestId),
  state: field(
    Schema.optionalWith(Schema.Literal("running", "ended"), { exact: true }),
    "Whether the request is under way: then the record is as it is now. Absent: nothing was asked.",
    "ended"
  ),
  requestedModel: field(Schema.String, "The model id of the request.", "auto"),
  fallbackModel: field(
    Schema.optionalWith(Schema.String, { exact: true }),
    "What stood in for it, by the settings `modelFallbacks` and `backgroundModel` or as the model's successor; absent: nothing did.",
    "openai/gpt-4o-mini"
  ),
  combo: field(MaybeText, "Id of the combo; null: none.", null),
  strategy: field(Schema.String, "What ordered the candidates.", "auto"),
  reason: field(
    Schema.optionalWith(Schema.String, { exact: true }),
    "Why the first target is first.",
    "best score 0.87"
  ),
  seed: field(Schema.Number, "Of everything that was left to chance; the same one decides the same.", 42),
  weights: field(NullableNumbers, "Weights of the factors; null: the strategy has none.", {
    health: 0.5,
    costInv: 0.5
  }),
  candidates: field(
    Schema.Array(
      Schema.Struct({
        ...targetFields,
        score: field(MaybeNumber, "Sum of weights times factors; null: the strategy has no scores.", 0.87),
        factors: field(NullableNumbers, "The factors, each from 0 to 1; null: the strategy has none.", {
          health: 1,
          costInv: 0.74
        }),
        excluded: field(
          Schema.NullOr(
            Schema.Struct({
              rule: field(Schema.String, "The rule that left it out.", "cooldown"),
              until: field(MaybeText, "Until when, ISO 8601; null: it does not end by itself.", exampleTime),
              detail: field(Schema.String, "The same, for people.", "The connection cools down after a failure.")
            })
          ),
          "Why it may not be called; null: it may.",
          null
        )
      })
    ),
    "Everything that could have served the request."
  ),
  candidatesLeftOut: field(
    Schema.optionalWith(Schema.Number, { exact: true }),
    "Candidates that a stored record does not show; absent: it shows all.",
    0
  ),
  order: field(Schema.Array(Schema.String), "The targets in the order they are called.", ["openai/gpt-4o-mini"]),
  attempts: field(
    Schema.Array(
      Schema.Struct({
        ...targetFields,
        status: field(MaybeNumber, "HTTP status of the upstream; null: none arrived.", 200),
        outcome: field(Schema.Literal("completed", "failed", "aborted"), "How it ended; `aborted`: the client left."),
        reason: field(Schema.String, "What the outcome was understood as.", "ok"),
        startedAt: field(Schema.String, "When it began, ISO 8601.", exampleTime),
        latencyMs: field(Schema.Number, "Milliseconds it took.", 1_830)
      })
    ),
    "The calls that were made."
  ),
  chosen: field(MaybeText, "The target that served it; null: none did.", "openai/gpt-4o-mini"),
  relaxedFilters: field(Schema.Array(Schema.String), "Conditions that no candidate met and that were dropped.", []),
  plugins: field(
    Schema.optionalWith(
      Schema.Array(
        Schema.Struct({
          name: field(Schema.String, "The plugin.", "word-guard"),
          hook: field(RequestHook, "The event that it was called for.", "onRequest"),
          action: field(Schema.Literal("none", "modified", "blocked", "failed"), "What came of it.", "none"),
          ms: field(Schema.Number, "Milliseconds it took.", 0.4)
        })
      ),
      { exact: true }
    ),
    "Calls of plugins that the request waited for, or that were about a whole answer; absent: there were none."
  ),
  metadata: field(
    Schema.optionalWith(Schema.Record({ key: Schema.String, value: Schema.Unknown }), { exact: true }),
    "What plugins have added to the request, at most 4 KB; absent: nothing.",
    { team: "blue" }
  ),
  node: field(
    Schema.optionalWith(Schema.String, { exact: true }),
    "The gateway that decided, of several on one database; absent where one has its database for itself.",
    "gateway-1:8080"
  )
}).annotations({ identifier: "Decision" })
export type DecisionView = typeof DecisionView.Type

const model = field(
  optional(Text.pipe(Schema.maxLength(1_000))),
  "Any model id a client may send, also a combo or `auto`. Absent: the name of `combo`.",
  "auto"
)
const combo = field(
  optional(CreateCombo),
  "A combo that is not stored, checked and used as if it were: the body of `POST /api/combos`. Where a combo of its id or name is stored, it stands in for that one, and what it leaves out is as stored.",
  { name: "cheaper", strategy: "cost-optimized", targets: [{ model: "openai/gpt-4o-mini" }] }
)
const compareWith = field(
  optional(Text.pipe(Schema.maxLength(1_000))),
  "A model id or combo, as it is stored, that does the same for comparison.",
  "auto"
)

/** A request as it would come in. Nothing is sent upstream, and nothing is remembered of it. */
export const ExplainInput = Schema.Struct({
  model,
  combo,
  wire: field(optional(WireName), "The wire format of the body; absent: chat.", "chat"),
  body: field(
    optional(Schema.Record({ key: Schema.String, value: Schema.Unknown })),
    "The rest of the request, as a client would send it.",
    { messages: [{ role: "user", content: "Hello" }], max_tokens: 200 }
  ),
  headers: field(
    optional(Schema.Record({ key: Schema.String, value: Schema.Union(Schema.String, Schema.Number, Schema.Boolean) })),
    "Its headers; names in any letter case.",
    { "x-gateway-mode": "cheap" }
  ),
  apiKeyId: field(
    optional(Text),
    "Who asks: what its rules leave out is excluded by the rule `key`. Absent: a caller without an API key.",
    exampleKeyId
  ),
  seed: field(
    optional(
      Schema.Number.pipe(Schema.filter((seed) => (Number.isSafeInteger(seed) ? true : "must be a whole number")))
    ),
    "Of everything that is left to chance; the same one gives the same decision.",
    42
  )
}).annotations(body("ExplainRouting"))
export type ExplainInput = typeof ExplainInput.Type

const Decision = Schema.Struct({ decision: field(DecisionView, "The decision.") }).annotations({
  identifier: "DecisionAnswer"
})

const Part = Schema.Number.pipe(Schema.between(0, 1))
const Milliseconds = Schema.Number.pipe(Schema.between(1, 3_600_000))
const LatencyPercentiles = Schema.Tuple(Milliseconds, Milliseconds).pipe(
  Schema.filter(([p50Ms, p95Ms]) => (p50Ms <= p95Ms ? true : "must hold the median first, then the 95th percentile"))
)
const SimulatedQuota = Schema.Struct({
  requests: field(Schema.Int.pipe(Schema.between(1, 1_000_000)), "Requests that are served in a window.", 100),
  windowMs: field(Schema.Int.pipe(Schema.between(1, 31 * 86_400_000)), "Milliseconds of a window.", 60_000)
})
export const SimulatedFault = Schema.Struct({
  fault: field(FaultName, "What goes wrong.", "503"),
  rate: field(optional(Part), "Part of the calls, from 0 to 1; absent: all of them.", 0.5),
  fromMs: field(
    optional(Schema.Int.pipe(Schema.between(0, 31 * 86_400_000))),
    "Milliseconds since the first arrival; absent: from the beginning.",
    10_000
  ),
  forMs: field(
    optional(Schema.Int.pipe(Schema.between(1, 31 * 86_400_000))),
    "Milliseconds it lasts; absent: from then on always.",
    30_000
  ),
  everyMs: field(
    optional(Schema.Int.pipe(Schema.between(1, 31 * 86_400_000))),
    "Milliseconds after which it comes back; absent: never.",
    120_000
  )
})
const SimulatedSessions = Schema.Struct({
  count: field(Schema.Int.pipe(Schema.between(1, 20_000)), "How many sessions.", 20),
  turnsPerPrompt: field(
    optional(Schema.Int.pipe(Schema.between(1, 1_000))),
    "Requests from one prompt to the next: the prompt itself, then rounds of tools. Absent: 10.",
    10
  )
})
const named = <A, I>(value: Schema.Schema<A, I>) => optional(Schema.Record({ key: Schema.String, value }))
const Tokens = Schema.Int.pipe(Schema.between(0, 10_000_000))
const seed = field(
  optional(Schema.Int.pipe(Schema.filter((given) => (Number.isSafeInteger(given) ? true : "must be a whole number")))),
  "Of everything that is left to chance; the same one gives the same result. Absent: 1.",
  1
)

/**
 * Keys of `errors`, `latency`, `quotas` and `faults` name targets: a connection's id or name, `provider/model`, a provider, a model, or `*` for
 * all; the most particular name counts.
 */
export const SimulateInput = Schema.Struct({
  model,
  combo,
  compareWith,
  requests: field(optional(Schema.Int.pipe(Schema.between(1, 100_000))), "How many requests; absent: 10,000.", 1_000),
  seed,
  ratePerSecond: field(
    optional(Schema.Number.pipe(Schema.between(0.001, 100_000))),
    "Mean arrivals per second, in groups of `burst`; absent: 10.",
    10
  ),
  burst: field(optional(Schema.Int.pipe(Schema.between(1, 1_000))), "Requests that arrive at once; absent: 1.", 1),
  errors: field(named(Part), "Fraction of calls that fail with 503, by target.", { openai: 0.1 }),
  latency: field(named(LatencyPercentiles), "Median and 95th percentile in milliseconds, by target.", {
    openai: [800, 3_000]
  }),
  quotas: field(
    named(SimulatedQuota),
    "Requests a connection serves in a window, by target; beyond them it answers 429.",
    { openai: { requests: 100, windowMs: 60_000 } }
  ),
  faults: field(
    named(Schema.Array(SimulatedFault).pipe(Schema.maxItems(16))),
    "Additional faults, and when they occur, by target; of several the first that applies.",
    { openai: [{ fault: "503", fromMs: 10_000, forMs: 30_000 }] }
  ),
  scenario: field(optional(ScenarioName), "A scenario of faults; the behaviours above come first.", "first-flapping"),
  stream: field(optional(Schema.Boolean), "The answers are streamed; absent: as the scenario has it.", true),
  sessions: field(optional(SimulatedSessions), "Sessions that the requests belong to, in turn; absent: no sessions."),
  promptTokens: field(optional(Tokens), "Tokens of each prompt; absent: 1,000.", 1_000),
  outputTokens: field(optional(Tokens), "Tokens of each answer; absent: 300.", 300)
}).annotations(body("SimulateRouting"))
export type SimulateInput = typeof SimulateInput.Type

const percentiles = {
  p50Ms: field(MaybeNumber, "Milliseconds that half of the answers took at most; null: there were none.", 810),
  p95Ms: field(MaybeNumber, "Milliseconds that 95 % of the answers took at most; null: there were none.", 2_950)
}
const requestCount = field(Schema.Number, "Requests that arrived.", 1_000)
const notes = field(Schema.Array(Schema.String), "What else there is to know.", [])

export const SimulationView = Schema.Struct({
  model: field(Schema.String, "The model id.", "auto"),
  combo: field(MaybeText, "Id of the combo; null: none.", null),
  strategy: field(Schema.String, "What ordered the targets.", "auto"),
  scenario: field(Schema.NullOr(ScenarioName), "The scenario; null: none.", "first-flapping"),
  streamed: field(Schema.Boolean, "Whether the answers were streamed.", true),
  seed: field(Schema.Number, "What was given as `seed`.", 1),
  requests: requestCount,
  served: field(Schema.Number, "Requests that were answered.", 998),
  failed: field(Schema.Number, "Requests that were not.", 2),
  broken: field(Schema.Number, "Of the failed: the client had the beginning of an answer that broke off.", 1),
  retries: field(Schema.Number, "Calls to a target that had failed for the same request.", 0),
  fallbacks: field(Schema.Number, "Requests that another target than the first choice served.", 104),
  calls: field(Schema.Number, "Calls to upstreams.", 1_106),
  durationMs: field(Schema.Number, "Milliseconds of simulated time.", 100_400),
  ...percentiles,
  costUsd: field(Schema.Number, "What it would have cost, in USD.", 0.33),
  fairness: field(
    Schema.Struct({
      maxDeviation: field(MaybeNumber, "Largest difference between a target's share and its weight; null: none.", 0.02),
      jainIndex: field(MaybeNumber, "Jain's index: 1 is even, 1/n is one target alone; null: none.", 0.99),
      largestLagRequests: field(Schema.Number, "Requests that a target was behind its weight at most.", 4)
    }),
    "How evenly the targets were used."
  ),
  targets: field(
    Schema.Array(
      Schema.Struct({
        ...targetFields,
        weightShare: field(Schema.Number, "Its part by weight, from 0 to 1.", 0.5),
        share: field(Schema.Number, "Its part of the answers, from 0 to 1.", 0.48),
        served: field(Schema.Number, "Requests it answered.", 480),
        firstChoices: field(Schema.Number, "Requests whose first choice it was.", 520),
        calls: field(Schema.Number, "Calls to it.", 522),
        errors: field(Schema.Number, "Calls that failed.", 42),
        rateLimited: field(Schema.Number, "Calls that were answered with 429.", 0),
        cooldowns: field(Schema.Number, "How often it cooled down.", 3),
        breakerOpenings: field(Schema.Number, "How often its breaker opened.", 1),
        lastFailure: field(
          Schema.NullOr(
            Schema.Struct({
              kind: field(Schema.String, "The kind of the failure.", "server_error"),
              status: field(Schema.Number, "Its HTTP status.", 503)
            })
          ),
          "What its last failed call was understood as; null: none failed."
        ),
        left: field(
          Schema.NullOr(
            Schema.Struct({
              rule: field(Schema.String, "What holds it back.", "cooldown"),
              remainingMs: field(
                MaybeNumber,
                "Milliseconds it lasts; null: an operator has to act, or the time is unknown.",
                2_400
              )
            })
          ),
          "Why it cannot be used at the end; null: it can."
        ),
        ...percentiles,
        costUsd: field(Schema.Number, "What it would have cost, in USD.", 0.17),
        priced: field(Schema.Boolean, "Whether a price is known; without one the cost is 0.", true)
      })
    ),
    "What became of each target."
  ),
  notes
}).annotations({ identifier: "Simulation" })
export type SimulationView = typeof SimulationView.Type

/** Recorded requests of the last `sinceMs` milliseconds, decided anew by `model`. */
export const ReplayInput = Schema.Struct({
  model,
  combo,
  compareWith,
  sinceMs: field(
    Schema.Int.pipe(Schema.between(1, 366 * 86_400_000)),
    "Milliseconds back from now: requests since then are decided anew.",
    86_400_000
  ),
  seed
}).annotations(body("ReplayRouting"))
export type ReplayInput = typeof ReplayInput.Type

export const ReplayView = Schema.Struct({
  model: field(Schema.String, "The model id.", "auto"),
  strategy: field(Schema.String, "What ordered the targets.", "auto"),
  seed: field(Schema.Number, "What was given as `seed`.", 1),
  replayed: field(Schema.Number, "Requests that were decided anew.", 240),
  leftOut: field(Schema.Number, "Requests that could not be decided anew.", 3),
  moved: field(Schema.Number, "Requests that would have gone to another target.", 61),
  providers: field(
    Schema.Array(
      Schema.Struct({
        provider: field(Schema.String, "Id of the provider.", "openai"),
        before: field(Schema.Number, "Requests it served.", 200),
        after: field(Schema.Number, "Requests it would have served.", 160),
        shareBefore: field(Schema.Number, "Its part, from 0 to 1.", 0.83),
        shareAfter: field(Schema.Number, "The part it would have had, from 0 to 1.", 0.67)
      })
    ),
    "What becomes of each provider."
  ),
  cost: field(
    Schema.Struct({
      beforeUsd: field(Schema.Number, "What it cost, in USD.", 1.2),
      afterUsd: field(Schema.Number, "What it would have cost, in USD.", 0.9),
      differenceUsd: field(Schema.Number, "The difference, in USD.", -0.3),
      unpricedBefore: field(Schema.Number, "Requests without a known price.", 0),
      unpricedAfter: field(Schema.Number, "Requests that would have had no known price.", 0)
    }),
    "What it would have cost."
  ),
  latency: field(
    Schema.Struct({
      meanBeforeMs: field(MaybeNumber, "Mean milliseconds; null: unknown.", 1_900),
      meanAfterMs: field(MaybeNumber, "Mean milliseconds it would have taken; null: unknown.", 1_700),
      basis: field(
        Schema.Struct({
          live: field(Schema.Number, "Requests by the speed measured now.", 180),
          recorded: field(Schema.Number, "Requests by the recorded speed.", 60),
          unknown: field(Schema.Number, "Requests without a known speed.", 0)
        }),
        "What the second mean is made from."
      )
    }),
    "How long it would have taken."
  ),
  notes
}).annotations({ identifier: "Replay" })
export type ReplayView = typeof ReplayView.Type

const difference = (words: string, example: number) => field(MaybeNumber, words, example)

export const SimulationAnswer = Schema.Struct({
  simulation: field(SimulationView, "What became of the requests."),
  comparison: field(
    Schema.optionalWith(
      Schema.Struct({
        simulation: field(SimulationView, "What `compareWith` made of the same requests."),
        difference: field(
          Schema.Struct({
            served: difference("Requests that were answered.", 2),
            failed: difference("Requests that were not.", -2),
            fallbacks: difference("Requests that another target than the first choice served.", -40),
            calls: difference("Calls to upstreams.", -42),
            p50Ms: difference("Milliseconds that half of the answers took; null: one of both is unknown.", -120),
            p95Ms: difference("Milliseconds that 95 % of the answers took; null: one of both is unknown.", -800),
            costUsd: difference("Cost in USD.", -0.12)
          }),
          "How much more it is than with `compareWith`."
        )
      }),
      { exact: true }
    ),
    "Absent: nothing was to be compared."
  )
}).annotations({ identifier: "SimulationAnswer" })
export type SimulationAnswer = typeof SimulationAnswer.Type

export const ReplayAnswer = Schema.Struct({
  replay: field(ReplayView, "What would have changed."),
  comparison: field(
    Schema.optionalWith(
      Schema.Struct({
        replay: field(ReplayView, "What would have changed with `compareWith`."),
        difference: field(
          Schema.Struct({
            moved: difference("Requests that would have gone to another target.", 12),
            costUsd: difference("Cost in USD.", -0.12),
            meanMs: difference("Mean milliseconds; null: one of both is unknown.", -120)
          }),
          "How much more it is than with `compareWith`."
        )
      }),
      { exact: true }
    ),
    "Absent: nothing was to be compared."
  )
}).annotations({ identifier: "ReplayAnswer" })
export type ReplayAnswer = typeof ReplayAnswer.Type

const asEvents =
  "With `Accept: text/event-stream` it answers a stream: events `progress` with `{done, total}`, then one `result` with the same JSON, or `error` with the body of an error. Who leaves ends it."

const at = endpointsOf("routing", { requestId: ["The `X-Gateway-Request-Id` of an answer.", exampleRequestId] })

export class Routing extends HttpApiGroup.make("routing")
  .annotate(OpenApi.Title, "Routing")
  .annotate(OpenApi.Description, "Routing decisions: those that were made, and those that would be.")
  .add(
    at("explain", {
      summary: "Explain a routing decision",
      description: "Decides a request as it would be decided now. Nothing is sent upstream, and nothing is remembered.",
      example: { model: "auto", body: { messages: [{ role: "user", content: "Hello" }] }, seed: 42 }
    })
      .setPayload(ExplainInput)
      .addSuccess(Decision)
      .addError(ConflictAnswer)
      .addError(NotFoundAnswer)
  )
  .add(
    at("simulate", {
      summary: "Simulate routing",
      description:
        "Runs requests against made-up upstreams on a virtual clock. Keys of `errors`, `latency`, `quotas` and `faults` name targets: a connection's id or name, `provider/model`, a provider, a model, or `*` for all; the most particular name counts. " +
        asEvents,
      example: { model: "auto", requests: 100, errors: { "*": 0.1 }, seed: 1 }
    })
      .setPayload(SimulateInput)
      .addSuccess(SimulationAnswer)
      .addError(ConflictAnswer)
      .addError(NotFoundAnswer)
  )
  .add(
    at("replay", {
      summary: "Replay recorded requests",
      description: `Decides the requests of the last \`sinceMs\` milliseconds anew with another model id or combo. ${asEvents}`,
      example: { model: "auto", sinceMs: 86_400_000 }
    })
      .setPayload(ReplayInput)
      .addSuccess(ReplayAnswer)
      .addError(ConflictAnswer)
      .addError(NotFoundAnswer)
  )
  .add(
    at("decision", {
      summary: "Show a routing decision",
      description: "Why a request went where it went. Decisions are kept for a time (`decisions` of `/api/settings`)."
    })
      .addSuccess(Decision)
      .addError(NotFoundAnswer)
  ) {}
