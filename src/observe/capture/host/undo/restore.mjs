// @ts-check
// The journal of changes of the machine: one file per change, on disk before the change is made and removed when it is undone.
import { chmodSync, mkdirSync, readdirSync, rmSync, statSync } from "node:fs"
import { dirname, join } from "node:path"
import { exists, readBounded, replaceFile, syncFolder } from "./files.mjs"
import { locked } from "./lock.mjs"
import { isAlive } from "./owner.mjs"
import { undoStep } from "./steps.mjs"

/**
 * @typedef {import("./steps.mjs").UndoStep} UndoStep
 * @typedef {import("./owner.mjs").Owner} Owner
 */

/**
 * @typedef {object} JournalEntry
 * @property {1} version
 * @property {string} id sorts by age
 * @property {string} kind such as `hosts`
 * @property {string} what one line for a person
 * @property {number} createdAtMs
 * @property {Owner} owner
 * @property {string} session of the journal that wrote it: a process may have several, one after the other
 * @property {Readonly<Record<string, string>>} environment of the programs that are run
 * @property {ReadonlyArray<UndoStep>} steps carried out in this order
 * @property {Readonly<Record<string, unknown>>} facts values before and ours, for people and for who wrote it
 */

/** @typedef {{ id: string, kind: string, what: string }} Named */

/**
 * @typedef {object} RestoreReport
 * @property {ReadonlyArray<Named>} restored everything of ours is undone
 * @property {ReadonlyArray<Named>} kept as `restored`, but some value was changed by another program meanwhile and was left as it is
 * @property {ReadonlyArray<Named & { problem: string }>} failed stays in the journal
 * @property {ReadonlyArray<Named>} live belongs to a gateway that runs
 */

export const limits = { entries: 1_000, entryBytes: 1_048_576, lockMs: 60_000 }

const suffix = ".json"
const entryName = /^\d{15}-\d{6}-[a-z0-9-]{1,80}\.json$/u

/** @param {string} folder @param {string} id */
const fileOf = (folder, id) => join(folder, id + suffix)

/** @param {string} folder */
export const ensureFolder = (folder) => {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  chmodSync(folder, 0o700)
}

/** Writes an entry; it is on disk when this returns. @param {string} folder @param {JournalEntry} entry */
export const writeEntry = (folder, entry) => {
  const text = `${JSON.stringify(entry)}\n`
  if (text.length > limits.entryBytes) throw new Error("is too large for the journal")
  if (readdirSync(folder).length > limits.entries) throw new Error("has too many entries")
  replaceFile(fileOf(folder, entry.id), text)
}

/** @param {string} folder @param {string} id */
export const removeEntry = (folder, id) => {
  rmSync(fileOf(folder, id), { force: true })
  syncFolder(folder)
}

/**
 * Checks the owner of a file: its entries are run as programs, so that it must not be another user's.
 * @param {string} path @param {number} folderUid
 */
const isTrusted = (path, folderUid) => {
  const self = process.getuid?.()
  if (self === undefined) return true
  const { mode, uid } = statSync(path)
  return (mode & 0o022) === 0 && (uid === self || uid === 0 || (self === 0 && uid === folderUid))
}

/**
 * @param {string} folder
 * @param {string} id
 * @returns {JournalEntry | { problem: string }}
 */
export const readEntry = (folder, id) => {
  try {
    const file = fileOf(folder, id)
    const folderUid = statSync(folder).uid
    if (!isTrusted(folder, folderUid) || !isTrusted(file, folderUid))
      return { problem: "may be changed by other users" }
    const { bytes } = readBounded(file)
    if (bytes.length > limits.entryBytes) return { problem: "is too large" }
    const entry = JSON.parse(bytes.toString("utf8"))
    if (entry?.version !== 1 || entry.id !== id || !Array.isArray(entry.steps))
      return { problem: "is of another version" }
    return entry
  } catch (error) {
    return { problem: error instanceof Error ? error.message : String(error) }
  }
}

/** Ids, oldest first. @param {string} folder @returns {string[]} */
export const entryIds = (folder) =>
  exists(folder)
    ? readdirSync(folder)
        .filter((name) => entryName.test(name))
        .sort()
        .slice(0, limits.entries)
        .map((name) => name.slice(0, -suffix.length))
    : []

/**
 * Every step is tried, also behind one that failed.
 * @param {string} folder @param {JournalEntry} entry
 * @returns {Promise<{ wasKept: boolean, problem: string | null }>}
 */
const undoEntry = async (folder, entry) => {
  let wasKept = false
  /** @type {string | null} */
  let problem = null
  for (const step of entry.steps) {
    const result = await undoStep(step, { environment: entry.environment ?? {}, folder })
    if (result.outcome === "kept") wasKept = true
    if (result.outcome === "failed") problem ??= result.problem
  }
  if (problem === null) removeEntry(folder, entry.id)
  return { wasKept, problem }
}

/**
 * Undoes the chosen entries, the newest first. Safe to run twice at once and again after being killed.
 * @param {string} folder
 * @param {(entry: JournalEntry) => boolean} isChosen the others are `live`
 * @returns {Promise<RestoreReport>}
 */
export const restoreWhere = async (folder, isChosen) => {
  /** @type {{ restored: Named[], kept: Named[], failed: (Named & { problem: string })[], live: Named[] }} */
  const report = { restored: [], kept: [], failed: [], live: [] }
  if (entryIds(folder).length === 0) return report
  return await locked(folder, "restore", limits.lockMs, async () => {
    for (const id of entryIds(folder).toReversed()) {
      const entry = readEntry(folder, id)
      if ("problem" in entry) {
        // Undone by another process since the folder was listed.
        if (exists(fileOf(folder, id))) report.failed.push({ id, kind: "unknown", what: id, problem: entry.problem })
        continue
      }
      const named = { id, kind: entry.kind, what: entry.what }
      if (!isChosen(entry)) {
        report.live.push(named)
        continue
      }
      const { problem, wasKept } = await undoEntry(folder, entry)
      if (problem !== null) report.failed.push({ ...named, problem })
      else if (wasKept) report.kept.push(named)
      else report.restored.push(named)
    }
    return report
  })
}

/** Undoes the changes that ended gateways left. @param {string} folder */
export const restoreEnded = (folder) => restoreWhere(folder, (entry) => !isAlive(entry.owner))

/** Returns the folder of the journal of a data folder. @param {string} dataDir */
export const journalFolder = (dataDir) => join(dataDir, "capture", "journal")

/** @param {string} folder */
export const ensureJournal = (folder) => {
  ensureFolder(dirname(folder))
  ensureFolder(folder)
}
