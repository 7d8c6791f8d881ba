/** The files of a tool: read, changed, written together or not at all. */
import * as Effect from "effect/Effect"
import * as ConfigFile from "../../../platform/ConfigFile.ts"
import { applied } from "../../../tools/config/Edits.ts"
import { isUnreadable } from "../../../tools/config/formats/Format.ts"
import { formats } from "../../../tools/config/formats/index.ts"
import type { ToolFile } from "../../../tools/config/ToolSetup.ts"
import { CommandFailed } from "../../Failure.ts"

export interface Change {
  readonly file: ConfigFile.ConfigFile
  readonly after: string
  /** Its permissions afterwards. */
  readonly mode: number
}

export const failure = ({ message }: { readonly message: string }): CommandFailed =>
  new CommandFailed({ message, hint: "Nothing was changed." })

/** What would be written, for each file. */
export const changesOf = (
  files: ReadonlyArray<ToolFile>,
  home: string
): Effect.Effect<ReadonlyArray<Change>, CommandFailed> =>
  Effect.forEach(files, ({ edits, format, keyAt, path }) =>
    Effect.gen(function* () {
      const file = yield* Effect.mapError(ConfigFile.read(path, home), failure)
      const after = applied(formats[format], file.text ?? "", edits)
      if (isUnreadable(after)) return yield* failure({ message: `${path} ${after.message}.` })
      return { file, after, mode: keyAt === undefined ? file.mode : file.mode & ConfigFile.ownerOnly }
    })
  )

export interface Written {
  readonly path: string
  readonly backupPath: string | null
}

/** Puts files back as they were. */
const rollBack = (done: ReadonlyArray<Change>, home: string): Effect.Effect<void> =>
  Effect.forEach(
    done.toReversed(),
    ({ file }) =>
      Effect.gen(function* () {
        const now = yield* ConfigFile.read(file.path, home)
        yield* file.text === null ? ConfigFile.remove(now, home) : ConfigFile.write(now, file.text, home, file.mode)
      }).pipe(Effect.ignore),
    { discard: true }
  )

/** Writes all files; when one cannot be written, the others are as they were. `nowMs` names the copies; null: none are made. */
export const writeAll = (
  changes: ReadonlyArray<Change>,
  home: string,
  nowMs: number | null
): Effect.Effect<ReadonlyArray<Written>, CommandFailed> =>
  Effect.gen(function* () {
    const done: Array<Change> = []
    const written: Array<Written> = []
    for (const change of changes) {
      const { after, file, mode } = change
      const step = Effect.gen(function* () {
        const backupPath = nowMs === null ? null : yield* ConfigFile.backup(file, nowMs)
        yield* ConfigFile.write(file, after, home, mode)
        written.push({ path: file.path, backupPath })
        done.push(change)
      })
      yield* step.pipe(
        Effect.mapError(failure),
        Effect.tapError(() => rollBack(done, home))
      )
    }
    return written
  })
