/** `gateway flags …`: the feature flags. The owner of the data folder needs nothing more; elsewhere the admin password is asked for. */
import * as Args from "@effect/cli/Args"
import * as Command from "@effect/cli/Command"
import * as Options from "@effect/cli/Options"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { FlagChange, FlagView, Summary } from "./routes.ts"
import * as Client from "../../cli/gateway/Client.ts"
import { BadArgument } from "../../cli/Failure.ts"
import * as Column from "../../cli/output/Column.ts"
import * as Output from "../../cli/output/Output.ts"
import { fields } from "../../cli/output/Table.ts"
import { passwordFlag, withFlags } from "../../cli/asking/session.ts"
import { didYouMean, near } from "../../cli/tree/Near.ts"

const columns: ReadonlyArray<Column.Column<FlagView>> = [
  Column.name("FLAG", ({ key }) => key),
  Column.text(
    "VALUE",
    ({ effectiveValue, pendingRestart }) => (pendingRestart ? `${effectiveValue} (after a restart)` : effectiveValue),
    { fit: "keep" }
  ),
  Column.text("SET BY", ({ source }) => ({ db: "this API", env: "environment", default: "-" })[source]),
  Column.text("CATEGORY", ({ category }) => category, { in: "wide" }),
  Column.prose("WHAT IT DOES", ({ description }) => description)
]

const connection = { ...passwordFlag, ...Client.connection }
const flag = Args.text({ name: "flag" }).pipe(Args.withDescription("Its name, such as REQUIRE_API_KEY."))

const found = (all: ReadonlyArray<FlagView>, name: string) => {
  const wanted = name.toUpperCase().replaceAll("-", "_")
  const known = all.find(({ key }) => key === wanted)
  if (known !== undefined) return Effect.succeed(known)
  return new BadArgument({
    message: `There is no flag '${name}'.`,
    hint:
      didYouMean(
        near(
          wanted,
          all.map(({ key }) => key)
        )
      ) ?? "See 'gateway flags list'."
  })
}

type Flags = Effect.Effect.Success<ReturnType<typeof Client.group<"flags">>>

const listed = (client: Flags, to: Client.Target) => client.list().pipe(Client.orExplain(to))

/** Sets a flag; without a value it goes back to its default. */
const put = (given: Parameters<typeof withFlags>[0], name: string, value: string | undefined) =>
  withFlags(given, (client, to) =>
    Effect.gen(function* () {
      const { key } = yield* found((yield* listed(client, to)).flags, name)
      const payload = value === undefined ? { key } : { key, value }
      return yield* client.set({ payload }).pipe(Client.orExplain(to))
    })
  )

export const flagsList = Command.make("list", connection, (given) =>
  Effect.gen(function* () {
    const answer = yield* withFlags(given, listed)
    yield* Output.list({
      schema: Schema.Struct({ flags: Schema.Array(FlagView), summary: Summary }),
      value: answer,
      rows: answer.flags,
      columns,
      empty: "There are no flags."
    })
  })
)

export const flagsShow = Command.make("show", { flag, ...connection }, (given) =>
  Effect.gen(function* () {
    const { flags } = yield* withFlags(given, listed)
    const shown = yield* found(flags, given.flag)
    const page = fields([
      ["Flag", shown.key],
      ["What it does", shown.description],
      ["Value", shown.effectiveValue],
      ["Set by", { db: "this API", env: "the environment", default: "default" }[shown.source]],
      ["Default", shown.defaultValue],
      ["Values", shown.enumValues?.join(", ") ?? "true, false"],
      ["Category", shown.category],
      ["Holds", shown.requiresRestart ? "from the next start" : "at once"],
      ...(shown.pendingRestart ? [["Now", "another value is in force until the gateway restarts"] as const] : [])
    ])
    yield* Output.result({ schema: FlagView, value: shown, text: Output.print(page), name: shown.key })
  })
)

const changed = ({ effectiveValue, key, pendingRestart }: typeof FlagChange.Type): string =>
  `${key} is ${effectiveValue}${pendingRestart ? " from the next start on" : " now"}.`

export const flagsSet = Command.make(
  "set",
  {
    flag,
    value: Args.text({ name: "value" }).pipe(
      Args.withDescription("true, false, or one of the values that 'flags show' names.")
    ),
    ...connection
  },
  (given) =>
    Effect.gen(function* () {
      const answer = yield* put(given, given.flag, given.value)
      yield* Output.result({ schema: FlagChange, value: answer, text: Output.note(changed(answer)), name: answer.key })
    })
)

export const flagsUnset = Command.make(
  "unset",
  {
    flag: Args.text({ name: "flag" }).pipe(
      Args.withDescription("The flag that goes back to its default."),
      Args.withDefault("")
    ),
    all: Options.boolean("all").pipe(Options.withDescription("Every flag that was set.")),
    ...connection
  },
  (given) =>
    Effect.gen(function* () {
      if (given.all === (given.flag !== "")) {
        return yield* new BadArgument({
          message: "Which flag is to go back to its default is not said, or said twice.",
          hint: "Give the name of one, or --all."
        })
      }
      if (given.all) {
        const { cleared } = yield* withFlags(given, (client, to) => client.clear().pipe(Client.orExplain(to)))
        return yield* Output.done(
          { cleared },
          `${Output.counted(cleared, "flag")} went back to the default.`,
          String(cleared)
        )
      }
      const answer = yield* put(given, given.flag, undefined)
      yield* Output.result({ schema: FlagChange, value: answer, text: Output.note(changed(answer)), name: answer.key })
    })
)
