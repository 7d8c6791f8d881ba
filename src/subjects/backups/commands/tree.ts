/** The commands about backups and versions. */
import { type TreeNode, from, group } from "../../../cli/tree/Tree.ts"
import { list } from "../../../cli/tree/verbs.ts"

const fromRestore = from(() => import("./restore.ts"))
const fromBackup = from(() => import("./backup.ts"))
const fromUpdate = from(() => import("../../../cli/commands/update.ts"))

const restoring = (examples: ReadonlyArray<string>) =>
  fromRestore("restore", "restoreCommand", "Put a backup in the place of the database.", {
    section: "Settings",
    skill: "cli-backup-sync",
    examples
  })

const restore = restoring(["restore db_20260131T120000000Z_manual"])

const backup = group(
  "backup",
  "Make, list and restore backups of the database; see store.",
  [
    fromBackup("create", "backupCreate", "Make a backup. Its id is printed on stdout.", {
      aliases: ["make", "add"],
      examples: ["backup create"]
    }),
    fromBackup("list", "backupList", "List the backups, the newest first.", { ...list, examples: ["backup list"] }),
    restoring(["backup restore db_20260131T120000000Z_manual"])
  ],
  {
    section: "Settings",
    skill: "cli-backup-sync",
    aliases: ["backups"],
    otherwise: { name: "create", takesWords: false },
    examples: ["backup", "backup list"]
  }
)

const update = fromUpdate("update", "updateCommand", "Ask whether there is a newer version.", {
  section: "More",
  examples: ["update --check", "update --check --json"]
})

/** The help of the program fits one screen without the last two; that of `backup` names the first of them. */
export const commands: ReadonlyArray<TreeNode> = [backup, { ...restore, hidden: true }, { ...update, hidden: true }]
