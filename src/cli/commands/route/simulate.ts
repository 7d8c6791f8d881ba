/** `gateway route simulate`: who would serve how much, with upstreams that are made up. */
import * as Args from "@effect/cli/Args"
import * as Command from "@effect/cli/Command"
import * as Options from "@effect/cli/Options"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { SimulateInput, SimulationView } from "../../../api/Groups/Routing.ts"
import { CombinedScenario, FaultName } from "../../../domain/SimulatedFaults.ts"
import * as Client from "../../Client.ts"
import { BadArgument } from "../../Failure.ts"
import { about, body, json } from "../../Flags.ts"
import * as Output from "../../output/Output.ts"
import { fields } from "../../output/Table.ts"
import { ms, percent, simulatedColumns } from "../../output/simulation.ts"
import { faultsOf, scenarioOf } from "./faults.ts"

const named = (flag: string, text: string) =>
  Options.text(flag).pipe(Options.withDescription(`${text} May be given several times.`), Options.repeated)

const flags = {
  combo: Args.text({ name: "combo" }).pipe(Args.withDescription("A combo, an automatic id, or any other model id.")),
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
    Options.optional
  ),
  fault: named(
    "fault",
    `What else goes wrong, and when: one=402, one=503:0.3 for three calls of ten, one=503@10+5/20 from second 10 for 5 seconds of every 20. The faults are those of --scenario.`
  ),
  stream: Options.boolean("stream").pipe(
    Options.withDescription("Streamed answers: what breaks off after its beginning cannot be asked of somebody else.")
  ),
  errors: named("errors", "Fraction of calls that fail with 503: one=0.05, or *=0.05 for all."),
  latency: named("latency", "Median and 95th percentile in milliseconds: one=300,900."),
  quota: named("quota", "Requests per window in seconds; beyond it the answer is 429: one=100/60."),
  sessions: Options.text("sessions").pipe(
    Options.withDescription(
      "Sessions that the requests are of, and requests of each from one prompt to the next: 20,10."
    ),
    Options.optional
  ),
  tokens: Options.text("tokens").pipe(
    Options.withDescription("Tokens in and out of every request."),
    Options.withDefault("1000,300")
  ),
  ...Client.connection,
  json
}

const numbers = (text: string, separator: string): ReadonlyArray<number> =>
  text.split(separator).map((part) => (part.trim() === "" ? Number.NaN : Number(part)))

/** `name=a,b` pairs as an object; `read` gives null for what it does not understand. */
export const pairsOf = <A>(
  flag: string,
  shape: string,
  pairs: ReadonlyArray<string>,
  read: (value: string) => A | null
): Effect.Effect<Readonly<Record<string, A>>, BadArgument> =>
  Effect.map(
    Effect.forEach(pairs, (pair) => {
      // Names may hold the sign, values never do.
      const sign = pair.lastIndexOf("=")
      const value = sign < 1 ? null : read(pair.slice(sign + 1))
      return value === null
        ? new BadArgument({ message: `${flag}: '${pair}' is not of the form ${shape}.` })
        : Effect.succeed([pair.slice(0, sign), value] as const)
    }),
    Object.fromEntries
  )

const oneNumber = (text: string): number | null => {
  const [value = Number.NaN, ...more] = numbers(text, ",")
  return Number.isNaN(value) || more.length > 0 ? null : value
}

const twoNumbers =
  (separator: string) =>
  (text: string): readonly [number, number] | null => {
    const [one = Number.NaN, two = Number.NaN, ...more] = numbers(text, separator)
    return Number.isNaN(one) || Number.isNaN(two) || more.length > 0 ? null : [one, two]
  }

const quotaOf = (text: string): { readonly requests: number; readonly windowMs: number } | null => {
  const pair = twoNumbers("/")(text)
  return pair === null ? null : { requests: pair[0], windowMs: Math.round(pair[1] * 1_000) }
}

const sessionsOf = (given: Option.Option<string>): Effect.Effect<Pick<SimulateInput, "sessions">, BadArgument> => {
  if (Option.isNone(given)) return Effect.succeed({})
  const pair = twoNumbers(",")(given.value)
  return pair === null
    ? Effect.fail(new BadArgument({ message: `--sessions: '${given.value}' is not of the form 20,10.` }))
    : Effect.succeed({ sessions: { count: pair[0], turnsPerPrompt: pair[1] } })
}

const flagOf = {
  model: "<combo>",
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

export const routeSimulate = Command.make("simulate", flags, (given) =>
  Effect.gen(function* () {
    const tokens = twoNumbers(",")(given.tokens)
    if (tokens === null)
      return yield* new BadArgument({ message: `--tokens: '${given.tokens}' is not of the form 1000,300.` })
    const payload = yield* body(
      SimulateInput,
      {
        model: given.combo,
        requests: given.requests,
        seed: given.seed,
        ratePerSecond: given.rate,
        burst: given.burst,
        ...(yield* scenarioOf(given.scenario)),
        ...(given.stream ? { stream: true } : {}),
        faults: yield* faultsOf(given.fault),
        errors: yield* pairsOf("--errors", "name=0.05", given.errors, oneNumber),
        latency: yield* pairsOf("--latency", "name=300,900", given.latency, twoNumbers(",")),
        quotas: yield* pairsOf("--quota", "name=100/60", given.quota, quotaOf),
        ...(yield* sessionsOf(given.sessions)),
        promptTokens: tokens[0],
        outputTokens: tokens[1]
      },
      flagOf
    )
    const to = yield* Client.target(given)
    const client = yield* Client.group(to, "routing")
    const answer = yield* client.simulate({ payload }).pipe(Client.orExplain(to))
    if (given.json) return yield* Output.json(Schema.Struct({ simulation: SimulationView }), answer)
    const { simulation } = answer
    yield* Output.print(fields(headline(simulation)))
    yield* Output.print("")
    yield* Output.rows(simulation.targets, simulatedColumns, "There are no targets.")
    yield* Effect.forEach(simulation.notes, Output.note, { discard: true })
  })
).pipe(
  Command.withDescription(
    about(
      "Simulate a combo with made-up upstreams: shares, failures, latency, fairness and cost. Nothing is sent.",
      "route simulate my-combo --requests 10000 --seed 1",
      "route simulate my-combo --requests 1000 --scenario 429-daily-quota",
      "route simulate my-combo --fault openai=403-banned@60 --fault groq=503:0.2",
      "route simulate auto/fast --rate 50 --errors openai=0.05 --latency openai=300,900 --quota groq=30/60"
    )
  )
)
