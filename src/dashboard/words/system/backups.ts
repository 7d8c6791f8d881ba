/** Words of the area of backups. */
import { plural } from "../plural.ts"

const reasons: Readonly<Record<string, string>> = {
  manual: "asked for",
  scheduled: "by the schedule",
  "pre-restore": "before a restore",
  "pre-import": "before an upload"
}

export const words = {
  title: "Backups",
  hint: "Whole copies of the database. Credentials in them are encrypted; the key for them is in `master.key`, which no backup holds.",
  make: "Make a backup",
  making: "Making it …",
  made: "The backup is made.",
  underWay: "A backup is being made",
  none: "No backup yet. Make one now: requests are served meanwhile, and it is the way back from a wrong change.",
  list: "Backups",
  columns: ["Made", "Why", "Size", "Tables", "Actions"],
  found: (value: number): string => plural(value, { one: "1 backup", other: `${value} backups` }),
  reason: (reason: string): string =>
    reasons[reason] ?? (reason.startsWith("before-migration") ? "before an update" : reason),
  restore: "Restore",
  restoreTitle: "Restore a backup",
  restoreMeans: (time: string): string =>
    `The gateway restarts with everything as it was on ${time}: connections, keys, combos and settings made since are gone. A backup of the present state is made first.`,
  restored: (id: string): string => `Restored. To undo it, restore ${id}.`,
  schedule: "By itself",
  byItself: "Make backups by itself, when anything has changed",
  frequency: "How often",
  frequencies: { hourly: "every hour", daily: "every day", weekly: "every week" },
  keepLast: "How many of these are kept",
  saved: "The schedule is saved.",
  elsewhere: "To another machine",
  elsewhereHint:
    "The database alone, or everything with a manifest and readable lists. Neither holds a credential that can be read without the key.",
  download: "Download the database",
  downloadAll: "Download everything",
  upload: "Replace by a file …",
  uploadTitle: "Replace the database by a file",
  uploadMeans:
    "The gateway restarts with what is in the file; all that it knows now is replaced. The file is checked first, and a backup of the present state is made.",
  replace: "Replace"
} as const
