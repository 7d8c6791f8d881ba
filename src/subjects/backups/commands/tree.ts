/** The commands about backups and versions. */
import { command, group, type TreeNode } from "../../../cli/tree/Tree.ts"
import { list } from "../../../cli/tree/verbs.ts"

const restoring = (examples: ReadonlyArray<string>) =>
  command(
    "restore",
    "Put a backup in the place of the database.",
    () => import("./restore.ts"),
    (m) => m.restoreCommand,
    { section: "Settings", skill: "cli-backup-sync", examples }
  )

const restore = restoring(["restore db_20260131T120000000Z_manual"])

const backup = group(
  "backup",
  "Make, list and restore backups of the database.",
  [
    command(
      "create",
      "Make a backup. Its id is printed on stdout.",
      () => import("./backup.ts"),
      (m) => m.backupCreate,
      { aliases: ["make", "add"], examples: ["backup create"] }
    ),
    command(
      "list",
      "List the backups, the newest first.",
      () => import("./backup.ts"),
      (m) => m.backupList,
      { ...list, examples: ["backup list"] }
    ),
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

const update = command(
  "update",
  "Ask whether there is a newer version.",
  () => import("../../../cli/commands/update.ts"),
  (m) => m.updateCommand,
  { section: "More", examples: ["update --check", "update --check --json"] }
)

/** The help of the program fits one screen without the last two; that of `backup` names the first of them. */
export const commands: ReadonlyArray<TreeNode> = [backup, { ...restore, hidden: true }, { ...update, hidden: true }]
