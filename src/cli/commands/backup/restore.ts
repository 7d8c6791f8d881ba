/** `gateway restore`: on a running gateway, else in this machine's data folder. */
import * as Args from "@effect/cli/Args"
import * as Command from "@effect/cli/Command"
import * as Effect from "effect/Effect"
import { confirm, yes } from "../../asking/confirm.ts"
import { BadArgument } from "../../Failure.ts"
import * as Client from "../../gateway/Client.ts"
import { restoreBackup } from "../../local/backups.ts"
import * as Output from "../../output/Output.ts"
import { backupsAt, backupsOf } from "./backup.ts"

const id = Args.text({ name: "backup" }).pipe(Args.withDescription("The id of a backup; see 'gateway backup --list'."))

const checked = (backups: ReadonlyArray<{ readonly id: string }>, wanted: string) => {
  const fitting = backups.filter((backup) => backup.id === wanted || backup.id.startsWith(wanted))
  const found = fitting.find((backup) => backup.id === wanted) ?? (fitting.length === 1 ? fitting[0] : undefined)
  return found === undefined
    ? new BadArgument({
        message:
          fitting.length === 0 ? `There is no backup '${wanted}'.` : `'${wanted}' is the beginning of several ids.`,
        hint: "See 'gateway backup --list'."
      })
    : Effect.succeed(found.id)
}

const question = (found: string): string =>
  `Put the backup ${found} in the place of the database? A backup of what is there now is made first.`

export const restoreCommand = Command.make("restore", { id, yes, ...Client.connection }, (flags) =>
  Effect.gen(function* () {
    const { backups } = yield* backupsOf(flags)
    const backupId = yield* checked(backups, flags.id)
    yield* confirm(flags, question(backupId))
    const { preRestoreBackupId } = yield* Client.atPlace(flags, {
      gateway: (to) =>
        Effect.flatMap(backupsAt(to), (client) =>
          client.restore({ payload: { backupId } }).pipe(Client.orExplain(to, "1 hour"))
        ),
      folder: restoreBackup(backupId)
    })
    yield* Output.done(
      { restored: backupId, preRestoreBackupId },
      `The backup ${backupId} was restored. What was there before is the backup ${preRestoreBackupId}.`,
      backupId
    )
  })
)
