/** `gateway store migrate`: the store of this machine's data folder, copied to a server of Postgres and back. */
import * as Command from "@effect/cli/Command"
import * as Options from "@effect/cli/Options"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { loadConfig } from "../flags/EnvFile.ts"
import { BadArgument, CommandFailed } from "../Failure.ts"
import { loadModule } from "../lazy.ts"
import * as Column from "../output/Column.ts"
import * as Output from "../output/Output.ts"

const engines = ["sqlite", "postgres"] as const

const from = Options.choice("from", engines).pipe(Options.withDescription("The store that is copied."))
const to = Options.choice("to", engines).pipe(Options.withDescription("The empty store that takes the copy."))
const dryRun = Options.boolean("dry-run").pipe(
  Options.withDescription("Count what would be copied, and change nothing.")
)

const Copied = Schema.Struct({ table: Schema.String, rows: Schema.Number, checksum: Schema.String })
const Report = Schema.Struct({ copied: Schema.Boolean, tables: Schema.Array(Copied) })

const columns: ReadonlyArray<Column.Column<typeof Copied.Type>> = [
  Column.name("TABLE", ({ table }) => table),
  Column.number("ROWS", ({ rows }) => rows),
  Column.text("SHA-256", ({ checksum }) => checksum, { in: "wide" })
]

const load = loadModule(() => import("../../store/postgres/Copies.ts"))

const next = {
  postgres: "The copy is the same, table by table. Start the gateway with GATEWAY_DATABASE_URL to use it.",
  sqlite: "The copy is the same, table by table. Start the gateway without GATEWAY_DATABASE_URL to use it."
}

export const storeMigrate = Command.make("migrate", { from, to, dryRun }, (flags) =>
  Effect.gen(function* () {
    if (flags.from === flags.to) {
      return yield* new BadArgument({ message: "--from and --to name the same store.", hint: "One is sqlite." })
    }
    const config = yield* loadConfig
    const url = config.databaseUrl
    if (url === null) {
      return yield* new BadArgument({
        message: "No database of Postgres is named.",
        hint: "Set GATEWAY_DATABASE_URL for this command, such as postgres://user:password@host:5432/gateway."
      })
    }
    const store = yield* load
    const options = { config, url, to: flags.to }
    const tables: Array<typeof Copied.Type> = []
    const copying = flags.dryRun
      ? Effect.map(store.plannedCopy(options), (planned) => void tables.push(...planned))
      : store.copyStore(options, (table) => Effect.sync(() => void (table.rows > 0 && tables.push(table))))
    yield* Effect.mapError(
      copying,
      (error) =>
        new CommandFailed({
          message: error._tag === "CopyRefused" ? error.message : store.describeStoreFailure(error)
        })
    )
    yield* Output.list({
      schema: Report,
      value: { copied: !flags.dryRun, tables },
      rows: tables,
      columns,
      empty: "There are no rows."
    })
    yield* Output.remark(flags.dryRun ? "Nothing was changed." : next[flags.to])
  })
)
