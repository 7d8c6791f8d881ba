/** `gateway env …`: the settings file of the data folder, read by every start below the real environment. */
import * as Args from "@effect/cli/Args"
import * as Command from "@effect/cli/Command"
import * as Options from "@effect/cli/Options"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { closest } from "../../kernel/text/Closest.ts"
import * as AppConfig from "../../platform/AppConfig.ts"
import * as EnvFile from "../flags/EnvFile.ts"
import { BadArgument, CommandFailed, configProblem } from "../Failure.ts"
import { flagNames, knownNames, ownNames } from "../flags/variables.ts"
import * as Output from "../output/Output.ts"
import * as Column from "../output/Column.ts"
import { asSentence } from "../../kernel/text/Sentence.ts"

const Entry = Schema.Struct({
  name: Schema.String,
  value: Schema.String,
  source: Schema.Literal("environment", "file")
})
type Entry = typeof Entry.Type

const columns: ReadonlyArray<Column.Column<Entry>> = [
  Column.name("NAME", (entry) => entry.name),
  Column.text("VALUE", (entry) => entry.value, { fit: "keep" }),
  Column.text("FROM", (entry) => entry.source)
]

export { ownNames }

const telling = /KEY|TOKEN|SECRET|PASSWORD|CREDENTIAL|AUTH|HEADERS|COOKIE|DATABASE_URL/i

/** A flag is no secret, whatever its name. */
const isSecret = (name: string, flags: ReadonlySet<string>): boolean => telling.test(name) && !flags.has(name)

export const envShow = Command.make("show", {}, () =>
  Effect.gen(function* () {
    const { dataDir, environment } = yield* EnvFile.loadConfig
    const file = yield* EnvFile.read(dataDir)
    const known = yield* knownNames
    const switches = yield* flagNames
    const names = [...new Set([...known, ...file.keys()])].filter((name) => environment.has(name)).sort()
    const variables = names.map((name): Entry => {
      const value = environment.get(name) ?? ""
      return {
        name,
        value: isSecret(name, switches) ? "(set, not shown)" : value,
        source: file.get(name) === value ? "file" : "environment"
      }
    })
    yield* Output.list({
      schema: Schema.Struct({ file: Schema.String, variables: Schema.Array(Entry) }),
      value: { file: EnvFile.envFile(dataDir), variables },
      rows: variables,
      columns,
      empty: "No variable of the gateway is set."
    })
  })
)

const name = Args.text({ name: "name" })

const reveal = Options.boolean("reveal").pipe(Options.withDescription("Print the value also when it is a secret."))

export const envGet = Command.make("get", { name, reveal }, (given) =>
  Effect.gen(function* () {
    const { environment } = yield* EnvFile.loadConfig
    const value = environment.get(given.name)
    if (value === undefined) return yield* new CommandFailed({ message: `${given.name} is not set.` })
    if (!given.reveal && isSecret(given.name, yield* flagNames)) {
      return yield* new BadArgument({
        message: `${given.name} is set, and a secret.`,
        hint: "Give --reveal to have it printed."
      })
    }
    yield* Output.result({
      schema: Schema.Struct({ name: Schema.String, value: Schema.String }),
      value: { name: given.name, value },
      text: Output.print(value),
      name: value
    })
  })
)

/** Checks whether the configuration could be read with these values. */
const checked = (values: ReadonlyMap<string, string>) =>
  AppConfig.make.pipe(
    Effect.withConfigProvider(ConfigProvider.fromMap(new Map(values))),
    Effect.mapError(
      (error) => new BadArgument({ message: `${asSentence(configProblem(error))}`, hint: "Nothing was changed." })
    )
  )

export const envSet = Command.make("set", { name, value: Args.text({ name: "value" }) }, (given) =>
  Effect.gen(function* () {
    if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(given.name)) {
      return yield* new BadArgument({ message: `'${given.name}' cannot be the name of a variable.` })
    }
    if (given.name === "DATA_DIR") {
      return yield* new BadArgument({
        message: "DATA_DIR says where this file is, so it cannot stand in it.",
        hint: "Set it in the environment."
      })
    }
    const folder = yield* EnvFile.dataDir
    const values = new Map(yield* EnvFile.read(folder))
    if (given.value === "") values.delete(given.name)
    else values.set(given.name, given.value)
    yield* checked(values)
    const problem = yield* EnvFile.flagProblems(values)
    if (problem !== null)
      return yield* new BadArgument({ message: `${asSentence(problem)}`, hint: "Nothing was changed." })
    yield* EnvFile.write(folder, values)
    yield* Output.done(
      { name: given.name, set: given.value !== "" },
      given.value === ""
        ? `${given.name} is no longer in ${EnvFile.envFile(folder)}.`
        : `${given.name} is in ${EnvFile.envFile(folder)}; the next start reads it unless the environment sets it too.`,
      given.name
    )
    const known = yield* knownNames
    if (given.value !== "" && !known.has(given.name)) {
      const near = closest(given.name, [...known], 3)
      yield* Output.note(
        `The gateway knows no variable of this name.${near.length === 0 ? "" : ` Did you mean: ${near.join(", ")}?`}`
      )
    }
  })
)
