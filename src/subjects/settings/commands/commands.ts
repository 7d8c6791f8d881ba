/** `show` and `set` of one group of settings, made from the contract's schemas. */
import * as Args from "@effect/cli/Args"
import * as Command from "@effect/cli/Command"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as ParseResult from "effect/ParseResult"
import * as Schema from "effect/Schema"
import { expectedOf } from "../../../kernel/Expectation.ts"
import { withoutValue } from "../../../cli/flags/Flags.ts"
import * as Client from "../../../cli/gateway/Client.ts"
import { BadArgument, type CliFailure } from "../../../cli/Failure.ts"
import { each, NamedAny, notOf } from "../../../cli/flags/Forms.ts"
import * as Column from "../../../cli/output/Column.ts"
import * as Output from "../../../cli/output/Output.ts"
import { latestVersion } from "../../../cli/gateway/Versions.ts"
import { didYouMean, near } from "../../../cli/tree/Near.ts"
import { patchOf, type Setting, settingsOf, valueText } from "./Tables.ts"

export interface SettingsGroup<A, I, P, PI> {
  /** The command that shows them, without `gateway`. */
  readonly show: string
  readonly schema: Schema.Schema<A, I>
  readonly patch: Schema.Schema<P, PI>
  readonly read: (to: Client.Target) => Effect.Effect<A, CliFailure>
  readonly write: (to: Client.Target, patch: P) => Effect.Effect<A, CliFailure>
}

const columns: ReadonlyArray<Column.Column<Setting>> = [
  Column.name("SETTING", ({ name }) => name),
  { header: "VALUE", value: ({ value }) => valueText(value), data: ({ value }) => valueText(value), fit: "cut" }
]

const printed = <A, I>(schema: Schema.Schema<A, I>, value: A, rows: ReadonlyArray<Setting>) =>
  Output.list({ schema, value, rows, columns, empty: "There are no such settings." })

const part = Args.text({ name: "setting" }).pipe(
  Args.withDescription("The name of a setting or the beginning of it; without it all are shown."),
  Args.withDefault("")
)

const unknownSetting = (show: string, name: string, settings: unknown) => {
  const known = settingsOf(settings).map((setting) => setting.name)
  return new BadArgument({
    message: `There is no setting '${name}'.`,
    hint: didYouMean(near(name, known)) ?? `See 'gateway ${show}'.`
  })
}

export const showSettings = <A, I, P, PI>({ read, schema, show }: SettingsGroup<A, I, P, PI>) =>
  Command.make("show", { part, ...Client.connection }, (given) =>
    Effect.gen(function* () {
      const to = yield* Client.target(given)
      const settings = yield* read(to)
      const rows = settingsOf(settings).filter(({ name }) => name.startsWith(given.part))
      if (rows.length === 0) return yield* unknownSetting(show, given.part, settings)
      yield* printed(schema, settings, rows)
      const version = latestVersion(to)
      if (version !== undefined) yield* Output.remark(`Version ${version.replaceAll('"', "")}`)
    })
  )

const changes = Args.text({ name: "setting=value" }).pipe(
  Args.withDescription(
    "Its name as 'show' prints it, and the value; several at once are in force together or not at all."
  ),
  Args.atLeast(1),
  Args.map((texts): Array<string> => texts),
  Args.withSchema(each(NamedAny, notOf("<setting=value>", "<setting>=<value>")))
)

/** Describes the problem of each setting, not of its group, which is only wrong because of it. */
const complaint = (error: ParseResult.ParseError): string => {
  const byName = new Map<string, Array<string>>()
  for (const { message, path } of ParseResult.ArrayFormatter.formatErrorSync(error)) {
    const name = path.join(".")
    byName.set(name, [...(byName.get(name) ?? []), withoutValue(message)])
  }
  const names = [...byName.keys()]
  return names
    .filter((name) => !names.some((other) => other.startsWith(name === "" ? name : `${name}.`) && other !== name))
    .map((name) => `${name === "" ? "" : `${name}: `}${expectedOf(byName.get(name) ?? [])}`)
    .join("; ")
}

export const setSettings = <A, I, P, PI>({ patch, read, schema, show, write }: SettingsGroup<A, I, P, PI>) =>
  Command.make("set", { changes, ...Client.editing }, (given) =>
    Effect.gen(function* () {
      const to = yield* Client.target(given)
      const before = yield* read(to)
      const change = patchOf(before, given.changes)
      if (Either.isLeft(change)) return yield* unknownSetting(show, change.left, before)
      const decoded = yield* Effect.mapError(
        Schema.decodeUnknown(patch, { errors: "all", onExcessProperty: "error" })(change.right),
        (error) => new BadArgument({ message: complaint(error), hint: `See 'gateway ${show}'.` })
      )
      const after = yield* write(to, decoded)
      const names = new Set(given.changes.map(([name]) => name))
      const rows = settingsOf(after).filter(({ name }) => [...names].some((each) => `${name}.`.startsWith(`${each}.`)))
      yield* printed(schema, after, rows)
    })
  )
