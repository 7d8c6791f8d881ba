/** `gateway backup create` and `backup list`: on a running gateway, else of this machine's data folder. */
import * as Command from "@effect/cli/Command"
import * as Options from "@effect/cli/Options"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { BackupView } from "../routes.ts"
import * as Client from "../../../cli/gateway/Client.ts"
import type { GatewayFlags } from "../../../cli/gateway/Target.ts"
import { createBackup, listBackups } from "../../../cli/local/backups.ts"
import * as Column from "../../../cli/output/Column.ts"
import * as Output from "../../../cli/output/Output.ts"

const columns: ReadonlyArray<Column.Column<BackupView>> = [
  Column.name("ID", (backup) => backup.id),
  Column.time("MADE", (backup) => backup.createdAt),
  Column.text("WHY", (backup) => backup.reason),
  Column.number("BYTES", (backup) => backup.sizeBytes),
  Column.number("SCHEMA", (backup) => backup.schemaVersion)
]

/** List that both a gateway and the folder give. */
export interface Backups {
  readonly backups: ReadonlyArray<BackupView>
}

export const backupsAt = (to: Client.Target) => Client.group(to, "backups")

const list = Options.boolean("list").pipe(Options.withDescription("The same as 'backup list'."))

/** The backups of a running gateway, else of the data folder. */
export const backupsOf = (flags: GatewayFlags) =>
  Client.atPlace(flags, {
    gateway: (to) =>
      Effect.flatMap(backupsAt(to), (client) =>
        Effect.map(client.list().pipe(Client.orExplain(to)), (answer): Backups => answer)
      ),
    folder: listBackups
  })

const listed = (flags: GatewayFlags) =>
  Effect.gen(function* () {
    const { backups } = yield* backupsOf(flags)
    yield* Output.list({
      schema: Schema.Struct({ backups: Schema.Array(BackupView) }),
      value: { backups },
      rows: backups,
      columns,
      empty: "There are no backups yet. Make one with 'gateway backup'."
    })
  })

const make = (flags: GatewayFlags) =>
  Effect.gen(function* () {
    const made = yield* Client.atPlace(flags, {
      gateway: (to) => Effect.flatMap(backupsAt(to), (client) => client.create().pipe(Client.orExplain(to, "1 hour"))),
      folder: createBackup
    })
    yield* Output.result({
      schema: Schema.Struct({ backup: BackupView }),
      value: made,
      text: Output.print(made.backup.id),
      name: made.backup.id
    })
  })

export const backupCreate = Command.make("create", { list, ...Client.connection }, (flags) =>
  flags.list ? listed(flags) : make(flags)
)

export const backupList = Command.make("list", Client.connection, listed)
