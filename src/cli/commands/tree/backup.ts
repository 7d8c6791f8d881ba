/** The commands about backups and versions. */
import { command } from "../../tree/Tree.ts"

export const backup = command(
  "backup",
  "Make or list backups of the database; see restore.",
  () => import("../backup/backup.ts"),
  (m) => m.backupCommand,
  { section: "Settings", aliases: ["backups"], examples: ["backup", "backup --list"] }
)

export const restore = command(
  "restore",
  "Put a backup in the place of the database.",
  () => import("../backup/restore.ts"),
  (m) => m.restoreCommand,
  { section: "Settings", examples: ["restore db_20260131T120000000Z_manual"] }
)

export const update = command(
  "update",
  "Ask whether there is a newer version.",
  () => import("../update.ts"),
  (m) => m.updateCommand,
  { section: "More", examples: ["update --check", "update --check --json"] }
)
