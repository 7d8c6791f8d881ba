/** `gateway restore`: on a running gateway, else in this machine's data folder. */
import * as Args from "@effect/cli/Args"
import * as Command from "@effect/cli/Command"
import * as Effect from "effect/Effect"
import { basename } from "node:path"
import { confirm, yes } from "../../../cli/asking/confirm.ts"
import { BadArgument } from "../../../cli/Failure.ts"
import * as Client from "../../../cli/gateway/Client.ts"
import { restoreBackup } from "../../../cli/local/backups.ts"
import * as Output from "../../../cli/output/Output.ts"
import { backupsAt, backupsOf } from "./backup.ts"

/** More are of no use to a reader. */
const mostNamed = 4

const name = Args.text({ name: "backup" }).pipe(
  Args.withDescription("Its id, the beginning of it, or its file; see 'gateway backup list'.")
)

/** The id of the backup that a word means: as `backup list` prints it, or as the folder `backups` shows its file. */
const checked = (backups: ReadonlyArray<{ readonly id: string }>, word: string) => {
  const wanted = basename(word).replace(/\.sqlite$/, "")
  const fitting = wanted === "" ? [] : backups.filter(({ id }) => id.startsWith(wanted))
  const found = fitting.find(({ id }) => id === wanted) ?? (fitting.length === 1 ? fitting[0] : undefined)
  if (found !== undefined) return Effect.succeed(found.id)
  const [problem, hint] =
    fitting.length === 0
      ? [
          `There is no backup '${word}'.`,
          "'gateway backup list' shows them. A copy that lies elsewhere is moved into the folder 'backups' first, under its own name."
        ]
      : [
          `'${word}' is the beginning of several ids: ${fitting
            .slice(0, mostNamed)
            .map(({ id }) => id)
            .join(", ")}${fitting.length > mostNamed ? ", …" : ""}.`,
          "Give more of the id."
        ]
  return new BadArgument({ message: problem, hint })
}

const question = (found: string): string =>
  `Put the backup ${found} in the place of the database? A backup of what is there now is made first.`

export const restoreCommand = Command.make("restore", { name, yes, ...Client.connection }, (flags) =>
  Effect.gen(function* () {
    const { backups } = yield* backupsOf(flags)
    const backupId = yield* checked(backups, flags.name)
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
