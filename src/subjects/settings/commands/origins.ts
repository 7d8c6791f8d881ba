/** `settings origins`: what is set, by whom, and what it would be otherwise. */
import * as Command from "@effect/cli/Command"
import * as Options from "@effect/cli/Options"
import * as Effect from "effect/Effect"
import * as Client from "../../../cli/gateway/Client.ts"
import * as Column from "../../../cli/output/Column.ts"
import * as Output from "../../../cli/output/Output.ts"
import { SettingOrigins } from "../routes.ts"
import { valueText } from "./Tables.ts"

interface Row {
  readonly name: string
  readonly value: string
  readonly usual: string
  readonly source: string
  readonly by: string
}

const rowsOf = ({ settings, variables }: SettingOrigins): ReadonlyArray<Row> => [
  ...settings.map(({ changedBy, defaultValue, name, source, value }) => ({
    name,
    value: valueText(value),
    usual: valueText(defaultValue),
    source,
    by: changedBy ?? ""
  })),
  ...variables.map(({ defaultValue, isSecret, name, source, value }) => ({
    name,
    value: isSecret && source === "env" ? "(set)" : (value ?? ""),
    usual: defaultValue,
    source,
    by: ""
  }))
]

const columns: ReadonlyArray<Column.Column<Row>> = [
  Column.name("SETTING", ({ name }) => name),
  { header: "VALUE", value: ({ value }) => value, fit: "cut" },
  { header: "DEFAULT", value: ({ usual }) => usual, fit: "cut" },
  { header: "SOURCE", value: ({ source }) => source },
  { header: "BY", value: ({ by }) => by }
]

const all = Options.boolean("all").pipe(Options.withAlias("a"), Options.withDescription("Also what is at its default."))

export const originsShow = Command.make("origins", { all, ...Client.connection }, (given) =>
  Effect.gen(function* () {
    const to = yield* Client.target(given)
    const client = yield* Client.group(to, "gatewaySettings")
    const value = yield* client.origins().pipe(Client.orExplain(to))
    yield* Output.list({
      schema: SettingOrigins,
      value,
      rows: rowsOf(value).filter(({ source }) => given.all || source !== "default"),
      columns,
      empty: "Everything is at its default."
    })
  })
)
