/** `gateway route replay`: recorded traffic, decided anew under another policy. */
import * as Command from "@effect/cli/Command"
import * as Options from "@effect/cli/Options"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { ReplayInput, ReplayView } from "../routes.ts"
import * as Client from "../../../cli/gateway/Client.ts"
import { body } from "../../../cli/flags/Flags.ts"
import { taking } from "../../../cli/flags/Forms.ts"
import * as Output from "../../../cli/output/Output.ts"
import { fields } from "../../../cli/output/Table.ts"
import { ms, shareColumns } from "../../../cli/output/simulation.ts"

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
  combo: Options.text("combo").pipe(Options.withDescription("The combo, or any other model id, to decide by.")),
  seed: Options.integer("seed").pipe(
    Options.withDescription(
      "A whole number that decides what is left to chance: the same seed gives the same decisions."
    ),
    Options.withDefault(1)
  ),
  ...Client.connection
}

const signed = (usd: number): string => `${usd > 0 ? "+" : ""}${usd.toFixed(6)}`

const unpriced = (count: number): string => (count === 0 ? "" : ` (${count} unpriced)`)

const headline = ({ cost, latency, ...replay }: ReplayView): ReadonlyArray<readonly [string, string]> => [
  ["Decided by", `${replay.model} (${replay.strategy})`],
  ["Seed", String(replay.seed)],
  ["Requests", `${replay.replayed} replayed, ${replay.leftOut} left out that did not end well`],
  ["Elsewhere", String(replay.moved)],
  [
    "Cost",
    `${cost.beforeUsd.toFixed(6)}${unpriced(cost.unpricedBefore)} -> ${cost.afterUsd.toFixed(6)}${unpriced(cost.unpricedAfter)} USD, ${signed(cost.differenceUsd)}`
  ],
  ["Latency", `mean ${ms(latency.meanBeforeMs)} -> ${ms(latency.meanAfterMs)} expected`],
  [
    "Known from",
    `${latency.basis.live} live measurements, ${latency.basis.recorded} records of the target, ${latency.basis.unknown} not known (own latency taken)`
  ]
]

export const routeReplay = Command.make("replay", flags, (given) =>
  Effect.gen(function* () {
    const payload = yield* body(
      ReplayInput,
      { model: given.combo, sinceMs: given.since, seed: given.seed },
      { model: "--combo", sinceMs: "--since", seed: "--seed" }
    )
    const to = yield* Client.target(given)
    const client = yield* Client.group(to, "routing")
    const answer = yield* client.replay({ payload }).pipe(Client.orExplain(to))
    const { replay } = answer
    const shares = Output.rows(replay.providers, shareColumns, "No request was recorded in this time.")
    const text = Effect.gen(function* () {
      yield* Output.print(fields(headline(replay)))
      yield* Output.print("")
      yield* shares
      yield* Effect.forEach(replay.notes, Output.note, { discard: true })
    })
    yield* Output.result({
      schema: Schema.Struct({ replay: ReplayView }),
      value: answer,
      text,
      csv: shares,
      name: replay.model
    })
  })
)
