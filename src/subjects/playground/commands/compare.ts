/** `gateway playground compare`: models side by side. */
import * as Command from "@effect/cli/Command"
import * as Options from "@effect/cli/Options"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Ref from "effect/Ref"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { Compare } from "../routes.ts"
import { BadArgument, CommandFailed } from "../../../cli/Failure.ts"
import { body } from "../../../cli/flags/Flags.ts"
import * as Client from "../../../cli/gateway/Client.ts"
import { ask, Metrics } from "../../../cli/gateway/CompareStream.ts"
import * as Column from "../../../cli/output/Column.ts"
import { OutputFormat } from "../../../cli/output/Format.ts"
import * as Output from "../../../cli/output/Output.ts"
import { Screen } from "../../../cli/output/Screen.ts"
import { write } from "../../../cli/output/Stdout.ts"
import { begun, type Board, type BoardColumn, draw, ended, next, plain } from "./Board.ts"
import { params, prompt, readParams, readPrompt, system } from "./rows.ts"

const Compared = Schema.Struct({
  columns: Schema.Array(
    Schema.Struct({
      model: Schema.String,
      text: Schema.String,
      requestId: Schema.NullOr(Schema.String),
      metrics: Schema.NullOr(Metrics),
      error: Schema.NullOr(Schema.String)
    })
  )
})

const rows: ReadonlyArray<Column.Column<BoardColumn>> = [
  Column.name("MODEL", ({ model }) => model),
  Column.number("FIRST MS", ({ metrics }) => metrics?.ttftMs ?? null),
  Column.number("TOKENS/S", ({ metrics }) => metrics?.tokensPerSecond ?? null),
  Column.number("IN", ({ metrics }) => metrics?.tokensIn ?? null),
  Column.number("OUT", ({ metrics }) => metrics?.tokensOut ?? null),
  Column.number("COST USD", ({ metrics }) => metrics?.costUsd ?? null),
  Column.prose("ERROR", ({ error }) => error),
  Column.prose("TEXT", ({ text }) => text)
]

const models = Options.text("model").pipe(
  Options.withDescription("A model to ask; give it for each, four at most."),
  Options.repeated
)

/** Pause between two drawings of the columns. */
const drawn = "80 millis"
/** Lines that the answers may take while they come: what is above the screen cannot be drawn again. */
const liveLines = 12

const up = (lines: number): string => (lines === 0 ? "" : `\u001b[${lines}A\r\u001b[J`)

export const playgroundCompare = Command.make(
  "compare",
  { prompt, models, system, params, ...Client.connection },
  (given) =>
    Effect.gen(function* () {
      const payload = yield* body(
        Compare,
        {
          models: given.models,
          prompt: yield* readPrompt(given.prompt),
          system: Option.getOrUndefined(given.system),
          params: yield* readParams(given.params)
        },
        { models: "--model", prompt: "<prompt>", system: "--system" }
      )
      const twice = payload.models.find((model, at) => payload.models.indexOf(model) !== at)
      if (twice !== undefined) {
        return yield* new BadArgument({ message: `--model: '${twice}' is given twice, and each model is asked once.` })
      }
      const to = yield* Client.target(given)
      const format = yield* OutputFormat
      const width = (yield* Screen).columns()
      const isLive = width !== null && (format === "table" || format === "wide")
      const board = yield* Ref.make<Board>(begun(payload.models, yield* Clock.currentTimeMillis))
      let drawnLines = 0

      const show = (height: number | null) =>
        Effect.gen(function* () {
          const lines = draw(yield* Ref.get(board), width ?? 80, height, yield* Clock.currentTimeMillis)
          yield* write(`${up(drawnLines)}${lines.join("\n")}\n`)
          drawnLines = lines.length
        })

      const events = yield* ask(to, payload)
      if (isLive) yield* show(liveLines)
      yield* events.pipe(
        Stream.groupedWithin(1_000, drawn),
        Stream.runForEach((group) =>
          Effect.gen(function* () {
            const nowMs = yield* Clock.currentTimeMillis
            for (const event of group) yield* Ref.update(board, (now) => next(now, event, nowMs))
            if (isLive) yield* show(liveLines)
          })
        )
      )
      const done = ended(yield* Ref.get(board))
      yield* Ref.set(board, done)
      if (isLive) yield* show(null)
      else if (format === "table" || format === "wide") yield* Output.print(plain(done))
      else {
        const columns = done.columns.map(({ error, metrics, model, requestId, text }) => ({
          model,
          text,
          requestId,
          metrics,
          error
        }))
        yield* Output.list({ schema: Compared, value: { columns }, rows: done.columns, columns: rows, empty: "" })
      }
      if (done.columns.every(({ error }) => error !== null)) {
        return yield* new CommandFailed({
          message: "None of the models answered.",
          hint: "'gateway model list' shows what can be asked."
        })
      }
    })
)
