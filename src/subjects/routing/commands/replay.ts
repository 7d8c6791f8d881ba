/** `gateway route replay`: recorded traffic, decided anew under another policy. */
import * as Command from "@effect/cli/Command"
import * as Options from "@effect/cli/Options"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { ReplayAnswer, ReplayInput, type ReplayView } from "../routes.ts"
import * as Client from "../../../cli/gateway/Client.ts"
import { body } from "../../../cli/flags/Flags.ts"
import { taking } from "../../../cli/flags/Forms.ts"
import * as Output from "../../../cli/output/Output.ts"
import { ask, comboFile, compareWith, triedOf } from "./trial.ts"
import { fields } from "../../../cli/output/Table.ts"
import { ms, shareColumns, signed } from "../../../cli/output/simulation.ts"

const units: Readonly<Record<string, Duration.DurationInput>> = {
  s: "1 second",
  m: "1 minute",
  h: "1 hour",
  d: "1 day",
  w: "1 week"
}

const mostDays = 366

/** Milliseconds of `90s`, `30m`, `24h`, `7d` or `2w`. */
export const Span = Schema.transform(Schema.Trim.pipe(Schema.pattern(/^\d{1,9}[smhdw]$/)), Schema.Number, {
  strict: true,
  decode: (text) => Number.parseInt(text, 10) * Duration.toMillis(units[text.slice(-1)] ?? 0),
  encode: (ms) => `${Math.round(ms / 1_000)}s`
}).pipe(Schema.between(1_000, mostDays * 86_400_000))

export const noSpan = (text: string): string =>
  `--since: '${text}' is no time from 1s to ${mostDays}d, such as 30m, 24h, 7d or 2w.`

export const flags = {
  since: Options.text("since").pipe(
    Options.withDescription("How far to look back: 30m, 24h, 7d or 2w."),
    Options.withDefault("24h"),
    taking(Span, noSpan)
  ),
  model: Options.text("combo").pipe(
    Options.withDescription("The combo, or any other model id, to decide by."),
    Options.optional
  ),
  comboFile,
  compareWith,
  seed: Options.integer("seed").pipe(
    Options.withDescription(
      "A whole number that decides what is left to chance: the same seed gives the same decisions."
    ),
    Options.withDefault(1)
  ),
  ...Client.connection
}

const unpriced = (count: number): string => (count === 0 ? "" : ` (${count} unpriced)`)

const headline = ({ cost, latency, ...replay }: ReplayView): ReadonlyArray<readonly [string, string]> => [
  ["Decided by", `${replay.model} (${replay.strategy})`],
  ["Seed", String(replay.seed)],
  ["Requests", `${replay.replayed} replayed, ${replay.leftOut} left out that did not end well`],
  ["Elsewhere", String(replay.moved)],
  [
    "Cost",
    `${cost.beforeUsd.toFixed(6)}${unpriced(cost.unpricedBefore)} -> ${cost.afterUsd.toFixed(6)}${unpriced(cost.unpricedAfter)} USD, ${signed(cost.differenceUsd, 6)}`
  ],
  ["Latency", `mean ${ms(latency.meanBeforeMs)} -> ${ms(latency.meanAfterMs)} expected`],
  [
    "Known from",
    `${latency.basis.live} live measurements, ${latency.basis.recorded} records of the target, ${latency.basis.unknown} not known (own latency taken)`
  ]
]

/** Figures of another one for the same requests, and how much more this is. */
const comparedWith = (
  replay: ReplayView,
  { difference, replay: other }: NonNullable<ReplayAnswer["comparison"]>
): ReadonlyArray<readonly [string, string]> => [
  ["Compared with", `${other.model} (${other.strategy})`],
  ["Elsewhere", `${other.moved} -> ${replay.moved}, ${signed(difference.moved)}`],
  [
    "Cost",
    `${other.cost.afterUsd.toFixed(6)} -> ${replay.cost.afterUsd.toFixed(6)} USD, ${signed(difference.costUsd, 6)}`
  ],
  ["Latency", `mean ${ms(other.latency.meanAfterMs)} -> ${ms(replay.latency.meanAfterMs)} expected`]
]

export const routeReplay = Command.make("replay", flags, (given) =>
  Effect.gen(function* () {
    const { combo, ...tried } = yield* triedOf(given, "--combo")
    const checked = yield* body(
      ReplayInput,
      { ...tried, sinceMs: given.since, seed: given.seed },
      {
        model: "--combo",
        compareWith: "--compare-with",
        sinceMs: "--since",
        seed: "--seed"
      }
    )
    const to = yield* Client.target(given)
    const answer = yield* ask(to, {
      path: "replay",
      payload: { ...checked, combo },
      schema: ReplayAnswer,
      label: "Replaying",
      total: null
    })
    const { comparison, replay } = answer
    const shares = Output.rows(replay.providers, shareColumns, "No request was recorded in this time.")
    const text = Effect.gen(function* () {
      yield* Output.print(fields(headline(replay)))
      yield* Output.print("")
      yield* shares
      if (comparison !== undefined) {
        yield* Output.print("")
        yield* Output.print(fields(comparedWith(replay, comparison)))
      }
      yield* Effect.forEach(replay.notes, Output.note, { discard: true })
    })
    yield* Output.result({
      schema: ReplayAnswer,
      value: answer,
      text,
      csv: shares,
      name: replay.model
    })
  })
)
