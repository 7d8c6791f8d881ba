/** Presets as a table, how one is found, and flags that several commands of the playground share. */
import * as Args from "@effect/cli/Args"
import * as Options from "@effect/cli/Options"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { readFileSync } from "node:fs"
import { PresetView } from "../routes.ts"
import { PlaygroundParams } from "../entity.ts"
import { BadArgument } from "../../../cli/Failure.ts"
import { body } from "../../../cli/flags/Flags.ts"
import * as Column from "../../../cli/output/Column.ts"
import { fit } from "../../../cli/output/Table.ts"
import { noun } from "../../../cli/verbs/noun.ts"

export const Presets = Schema.Struct({ presets: Schema.Array(PresetView) })
export const OnePreset = Schema.Struct({ preset: PresetView })

const shownChars = 60

/** A prompt may be long, and of many lines. */
const beginning = (text: string | null): string =>
  Column.orDash(text === null ? null : fit(text.slice(0, 1_000).replaceAll(/\s+/g, " ").trim(), shownChars))

export const columns: ReadonlyArray<Column.Column<PresetView>> = [
  Column.name("NAME", ({ name }) => name),
  Column.text("ENDPOINT", ({ endpoint }) => endpoint),
  Column.text("MODEL", ({ model }) => model),
  { ...Column.prose<PresetView>("SYSTEM", ({ system }) => system), value: ({ system }) => beginning(system) },
  Column.text("PARAMS", ({ params_json }) => params_json, { in: "wide" }),
  Column.time("CREATED", ({ created_at }) => created_at),
  Column.id("ID", ({ id }) => id)
]

export const preset = Args.text({ name: "preset" }).pipe(
  Args.withDescription("Its name, its id or the beginning of it.")
)

export const presets = noun({
  what: "preset",
  group: "playground",
  argument: preset,
  listing: "gateway playground presets list",
  one: (client, id) => Effect.map(client.preset({ path: { id } }), (answer) => answer.preset),
  list: (client) => client.presets(),
  rows: (answer) => answer.presets,
  nameOf: ({ name }) => name
})

export const system = Options.text("system").pipe(Options.withDescription("The system prompt."), Options.optional)

export const params = Options.text("params").pipe(
  Options.withDescription("Parameters as a JSON object, such as '{\"temperature\":0.2}'."),
  Options.optional
)

export const model = Options.text("model").pipe(Options.withDescription("A model id, alias or combo."))

export const endpoint = Options.text("endpoint").pipe(
  Options.withDescription("chat, completions, embeddings, images, audio, speech, transcriptions and so on.")
)

/** Reads `--params`; undefined without it. */
export const readParams = (given: Option.Option<string>): Effect.Effect<PlaygroundParams | undefined, BadArgument> =>
  Option.match(given, {
    onNone: () => Effect.succeed(undefined),
    onSome: (text) =>
      Effect.try({
        try: (): unknown => JSON.parse(text),
        catch: () => new BadArgument({ message: "--params: it is not valid JSON." })
      }).pipe(
        Effect.flatMap((value) =>
          typeof value === "object" && value !== null && !Array.isArray(value)
            ? body(PlaygroundParams, { ...value }, {})
            : new BadArgument({ message: "--params: it must be a JSON object." })
        )
      )
  })

/** A prompt as it was typed; of `-` what comes on standard input. */
export const readPrompt = (word: string): Effect.Effect<string, BadArgument> =>
  word !== "-"
    ? Effect.succeed(word)
    : Effect.try({
        try: () => readFileSync(0, "utf8").replace(/\n$/, ""),
        catch: () => new BadArgument({ message: "Standard input cannot be read." })
      })

export const prompt = Args.text({ name: "prompt" }).pipe(Args.withDescription("The prompt; '-' reads standard input."))
