/** `gateway route simulate`: who would serve how much, with upstreams that are made up. */
import * as Command from "@effect/cli/Command"
import * as Options from "@effect/cli/Options"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { SimulateInput, SimulationAnswer, type SimulationView } from "../routes.ts"
import { CombinedScenario, FaultName } from "../../../contract/domain/SimulatedFaults.ts"
import * as Client from "../../../cli/gateway/Client.ts"
import { body } from "../../../cli/flags/Flags.ts"
import { each, FiniteNumber, named, notOf, taking, twoNumbers } from "../../../cli/flags/Forms.ts"
import * as Output from "../../../cli/output/Output.ts"
import { fields } from "../../../cli/output/Table.ts"
import { ms, percent, signed, simulatedColumns } from "../../../cli/output/simulation.ts"
import { ask, comboFile, compareWith, modelOrFile, triedOf } from "./trial.ts"
import { byTarget, Faults, noScenario, Scenario } from "./faults.ts"

const repeated = (flag: string, text: string) =>
  Options.text(flag).pipe(Options.withDescription(`${text} May be given several times.`), Options.repeated)

/** `name=value` of several targets, as an object. */
const perTarget = <A>(flag: string, text: string, shape: string, value: Schema.Schema<A, string>) =>
  repeated(flag, text).pipe(
    Options.withSchema(each(named(value), notOf(`--${flag}`, shape))),
    Options.map((pairs): Readonly<Record<string, A>> => Object.fromEntries(pairs))
  )

const Quota = Schema.transform(twoNumbers("/"), Schema.Struct({ requests: Schema.Number, windowMs: Schema.Number }), {
  strict: true,
  decode: ([requests, seconds]) => ({ requests, windowMs: Math.round(seconds * 1_000) }),
  encode: ({ requests, windowMs }) => [requests, windowMs / 1_000] as const
})

export const flags = {
  model: modelOrFile("combo", "A combo, an automatic id, or any other model id."),
  comboFile,
  compareWith,
  requests: Options.integer("requests").pipe(
    Options.withDescription("Requests to simulate."),
    Options.withDefault(10_000)
  ),
  seed: Options.integer("seed").pipe(
    Options.withDescription("A whole number that decides what is left to chance: the same seed gives the same output."),
    Options.withDefault(1)
  ),
  rate: Options.float("rate").pipe(Options.withDescription("Mean arrivals per second."), Options.withDefault(10)),
  burst: Options.integer("burst").pipe(
    Options.withDescription("Requests that arrive together."),
    Options.withDefault(1)
  ),
  scenario: Options.text("scenario").pipe(
    Options.withDescription(
      `What goes wrong: ${CombinedScenario.literals.join(", ")}; or a fault that the first account has always: ${FaultName.literals.join(", ")}.`
    ),
    taking(Scenario, noScenario),
    Options.optional
  ),
  fault: repeated(
    "fault",
    `What else goes wrong, and when: one=402, one=503:0.3 for three calls of ten, one=503@10+5/20 from second 10 for 5 seconds of every 20. The faults are those of --scenario.`
  ).pipe(Options.withSchema(Faults), Options.map(byTarget)),
  stream: Options.boolean("stream").pipe(
    Options.withDescription("Streamed answers: one that breaks after its first content cannot go to another target.")
  ),
  errors: perTarget(
    "errors",
    "Fraction of calls that fail with 503: one=0.05, or *=0.05 for all.",
    "name=0.05",
    FiniteNumber
  ),
  latency: perTarget(
    "latency",
    "Median and 95th percentile in milliseconds: one=300,900.",
    "name=300,900",
    twoNumbers(",")
  ),
  quota: perTarget(
    "quota",
    "Requests per window in seconds; beyond it the answer is 429: one=100/60.",
    "name=100/60",
    Quota
  ),
  sessions: Options.text("sessions").pipe(
    Options.withDescription(
      "Sessions that the requests are of, and requests of each from one prompt to the next: 20,10."
    ),
    taking(twoNumbers(","), notOf("--sessions", "20,10")),
    Options.optional
  ),
  tokens: Options.text("tokens").pipe(
    Options.withDescription("Tokens in and out of every request."),
    Options.withDefault("1000,300"),
    taking(twoNumbers(","), notOf("--tokens", "1000,300"))
  ),
  ...Client.connection
}

const flagOf = {
  model: "<combo>",
  compareWith: "--compare-with",
  requests: "--requests",
  seed: "--seed",
  ratePerSecond: "--rate",
  burst: "--burst",
  scenario: "--scenario",
  faults: "--fault",
  stream: "--stream",
  errors: "--errors",
  latency: "--latency",
  quotas: "--quota",
  sessions: "--sessions",
  promptTokens: "--tokens",
  outputTokens: "--tokens"
}

const number = (value: number | null): string => (value === null ? "-" : value.toFixed(3))

const headline = ({ fairness, ...simulation }: SimulationView): ReadonlyArray<readonly [string, string]> => [
  ["Asked for", simulation.model],
  ["Strategy", simulation.strategy],
  ...(simulation.scenario === null ? [] : [["Scenario", simulation.scenario] as const]),
  ["Seed", String(simulation.seed)],
  ["Requests", `${simulation.requests} in ${(simulation.durationMs / 1_000).toFixed(1)} s`],
  [
    "Served",
    `${simulation.served}, ${percent(simulation.requests === 0 ? null : simulation.served / simulation.requests)} (${simulation.fallbacks} by a fallback, ${simulation.calls} calls${simulation.retries === 0 ? "" : `, ${simulation.retries} of them retries`})`
  ],
  [
    "Failed",
    `${simulation.failed}${simulation.broken === 0 ? "" : ` (${simulation.broken} broke off after their beginning)`}`
  ],
  ["Latency", `p50 ${ms(simulation.p50Ms)}, p95 ${ms(simulation.p95Ms)}`],
  [
    "Cost",
    `${simulation.costUsd.toFixed(6)} USD${simulation.targets.every(({ priced }) => priced) ? "" : " (not all priced)"}`
  ],
  [
    "Fairness",
    [
      `Jain ${number(fairness.jainIndex)}`,
      `shares at most ${percent(fairness.maxDeviation)} from the weights`,
      `first choices at most ${fairness.largestLagRequests.toFixed(2)} requests`
    ].join(", ")
  ]
]

/** Figures of another one for the same requests, and how much more this is. */
const comparedWith = (
  simulation: SimulationView,
  { difference, simulation: other }: NonNullable<SimulationAnswer["comparison"]>
): ReadonlyArray<readonly [string, string]> => [
  ["Compared with", `${other.model} (${other.strategy})`],
  ["Served", `${other.served} -> ${simulation.served}, ${signed(difference.served)}`],
  ["Fallbacks", `${other.fallbacks} -> ${simulation.fallbacks}, ${signed(difference.fallbacks)}`],
  ["p50", `${ms(other.p50Ms)} -> ${ms(simulation.p50Ms)}`],
  ["p95", `${ms(other.p95Ms)} -> ${ms(simulation.p95Ms)}`],
  ["Cost", `${other.costUsd.toFixed(6)} -> ${simulation.costUsd.toFixed(6)} USD, ${signed(difference.costUsd, 6)}`]
]

export const routeSimulate = Command.make("simulate", flags, (given) =>
  Effect.gen(function* () {
    const [promptTokens, outputTokens] = given.tokens
    const { combo, ...tried } = yield* triedOf(given, "<combo>")
    const checked = yield* body(
      SimulateInput,
      {
        ...tried,
        requests: given.requests,
        seed: given.seed,
        ratePerSecond: given.rate,
        burst: given.burst,
        scenario: Option.getOrUndefined(given.scenario),
        ...(given.stream ? { stream: true } : {}),
        faults: given.fault,
        errors: given.errors,
        latency: given.latency,
        quotas: given.quota,
        sessions: Option.getOrUndefined(
          Option.map(given.sessions, ([count, turnsPerPrompt]) => ({ count, turnsPerPrompt }))
        ),
        promptTokens,
        outputTokens
      },
      flagOf
    )
    const to = yield* Client.target(given)
    const answer = yield* ask(to, {
      path: "simulate",
      payload: { ...checked, combo },
      schema: SimulationAnswer,
      label: "Simulating",
      total: given.requests * (Option.isSome(given.compareWith) ? 2 : 1)
    })
    const { comparison, simulation } = answer
    const targets = Output.rows(simulation.targets, simulatedColumns, "There are no targets.")
    const text = Effect.gen(function* () {
      yield* Output.print(fields(headline(simulation)))
      yield* Output.print("")
      yield* targets
      if (comparison !== undefined) {
        yield* Output.print("")
        yield* Output.print(fields(comparedWith(simulation, comparison)))
      }
      yield* Effect.forEach(simulation.notes, Output.note, { discard: true })
    })
    yield* Output.result({
      schema: SimulationAnswer,
      value: answer,
      text,
      csv: targets,
      name: simulation.model
    })
  })
)
