/** The files of a tool: read, changed, written together or not at all. */
import * as Effect from "effect/Effect"
import { existsSync } from "node:fs"
import * as ConfigFile from "../../../platform/files/ConfigFile.ts"
import { applied, staleOf, reverted } from "../config/Edits.ts"
import { isUnreadable } from "../config/formats/Format.ts"
import { formats } from "../config/formats/index.ts"
import type { ToolFile } from "../config/ToolSetup.ts"
import type { FileRecord } from "./Records.ts"

export interface Change {
  readonly file: ConfigFile.ConfigFile
  readonly after: string
  /** Permissions of it afterwards. */
  readonly mode: number
}

const refused = (path: string, problem: string) => new ConfigFile.ConfigFileRefused({ path, problem })

/** The text of the file before it was set up; null: it is not known, or there was no file. */
export const formerText = ({ backupPath }: FileRecord, home: string) =>
  backupPath !== null && existsSync(backupPath)
    ? Effect.map(ConfigFile.read(backupPath, home), ({ text }) => text)
    : Effect.succeed(null)

/** Removes the members that a former run set and this one does not, such as a model that is gone. */
const withoutStale = ({ edits, format, path }: ToolFile, text: string, record: FileRecord | undefined, home: string) =>
  Effect.gen(function* () {
    const stale = staleOf(record?.paths ?? [], edits)
    if (record === undefined || stale.length === 0) return text
    const former = yield* formerText(record, home)
    const after = reverted(
      formats[format],
      text,
      former ?? "",
      stale.map((each) => ({ path: each, value: null }))
    )
    return isUnreadable(after) ? yield* refused(path, after.message) : after
  })

/** Computes the changes for each file. `records`: of a former run. */
export const changesOf = (
  files: ReadonlyArray<ToolFile>,
  home: string,
  records: ReadonlyArray<FileRecord>
): Effect.Effect<ReadonlyArray<Change>, ConfigFile.ConfigFileRefused> =>
  Effect.forEach(files, (wanted) =>
    Effect.gen(function* () {
      const { edits, format, keyAt, path } = wanted
      const file = yield* ConfigFile.read(path, home)
      const set = applied(formats[format], file.text ?? "", edits)
      if (isUnreadable(set)) return yield* refused(path, set.message)
      const record = records.find((each) => each.path === path)
      const after = yield* withoutStale(wanted, set, record, home)
      return { file, after, mode: keyAt === undefined ? file.mode : file.mode & ConfigFile.ownerOnly }
    })
  )

export interface Written {
  readonly path: string
  readonly backupPath: string | null
  /** Folders that were made for it. */
  readonly folders: ReadonlyArray<string>
}

/** Steps done so far, so that they can be undone. */
interface Done {
  readonly changes: Array<Change>
  readonly backupPaths: Array<string>
  readonly folders: Array<string>
}

/** Puts files back as they were, without the copies and folders that were made. */
const rollBack = ({ backupPaths, changes, folders }: Done, home: string): Effect.Effect<void> =>
  Effect.gen(function* () {
    for (const { file } of changes.toReversed()) {
      yield* Effect.flatMap(
        ConfigFile.read(file.path, home),
        (now): Effect.Effect<unknown, ConfigFile.ConfigFileRefused> =>
          file.text === null ? ConfigFile.remove(now, home) : ConfigFile.write(now, file.text, home, file.mode)
      ).pipe(Effect.ignore)
    }
    yield* Effect.forEach(backupPaths, (path) => forget(path, home), { discard: true })
    yield* ConfigFile.removeFolders(folders)
  })

/** Removes the copy of a file that is as it was. */
export const forget = (backupPath: string | null, home: string): Effect.Effect<void> =>
  backupPath === null
    ? Effect.void
    : Effect.flatMap(ConfigFile.read(backupPath, home), (file) => ConfigFile.remove(file, home)).pipe(Effect.ignore)

/** Writes all files; when one cannot be written, the others are as they were. `nowMs` names the copies; null: none are made. */
export const writeAll = (
  changes: ReadonlyArray<Change>,
  home: string,
  nowMs: number | null
): Effect.Effect<ReadonlyArray<Written>, ConfigFile.ConfigFileRefused> =>
  Effect.gen(function* () {
    const done: Done = { changes: [], backupPaths: [], folders: [] }
    const written: Array<Written> = []
    for (const change of changes) {
      const { after, file, mode } = change
      const step = Effect.gen(function* () {
        const backupPath = nowMs === null ? null : yield* ConfigFile.backup(file, nowMs)
        if (backupPath !== null) done.backupPaths.push(backupPath)
        const folders = yield* ConfigFile.write(file, after, home, mode)
        done.folders.push(...folders)
        done.changes.push(change)
        written.push({ path: file.path, backupPath, folders })
      })
      yield* Effect.tapError(step, () => rollBack(done, home))
    }
    return written
  })
