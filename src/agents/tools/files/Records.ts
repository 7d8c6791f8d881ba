/** `$XDG_CONFIG_HOME/gateway/tools.json`: which tools were set up, so that it can be undone. It holds no key. */
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Schema from "effect/Schema"
import { dirname, join } from "node:path"
import * as ConfigFile from "../../../platform/files/ConfigFile.ts"
import type { Places } from "../config/ToolSetup.ts"

const Step = Schema.Union(Schema.String, Schema.Struct({ member: Schema.String, is: Schema.String }))

const FileRecord = Schema.Struct({
  path: Schema.String,
  format: Schema.Literal("json", "yaml", "toml", "env"),
  /** The file as it was; null: there was none. */
  backupPath: Schema.NullOr(Schema.String),
  /** Paths that were set, without the values. */
  paths: Schema.Array(Schema.Array(Step)),
  /** True when the file was made. */
  made: Schema.Boolean,
  /** Permissions of it before. */
  mode: Schema.Number
})
export type FileRecord = typeof FileRecord.Type

export const ToolRecord = Schema.Struct({
  /** The gateway the tool uses. */
  gateway: Schema.String,
  /** Id of the key that was made for it; null: one was given. */
  keyId: Schema.NullOr(Schema.String),
  files: Schema.Array(FileRecord),
  /** Folders that were made for the files, which an undo removes once they are empty. */
  folders: Schema.optionalWith(Schema.Array(Schema.String), { default: () => [] })
})
export type ToolRecord = typeof ToolRecord.Type

const Records = Schema.Record({ key: Schema.String, value: ToolRecord })
export type Records = typeof Records.Type

const Text = Schema.parseJson(Records, { space: 2 })
const decode = Schema.decodeUnknownEither(Text)
const encode = Schema.encodeSync(Text)

export const recordsFile = ({ configHome }: Places): string => join(configHome, "gateway", "tools.json")

export const read = (file: string, home: string): Effect.Effect<Records, ConfigFile.ConfigFileRefused> =>
  Effect.flatMap(ConfigFile.read(file, home), ({ text }) =>
    text === null
      ? Effect.succeed({})
      : Either.mapLeft(
          decode(text),
          () =>
            new ConfigFile.ConfigFileRefused({
              path: file,
              problem:
                "does not hold what 'gateway setup-<tool>' writes: move it away, and undo what was set up before from the copies beside the tools' files"
            })
        )
  )

/** The folders that were made for it, the outermost first. */
export const write = (
  file: string,
  home: string,
  records: Records
): Effect.Effect<ReadonlyArray<string>, ConfigFile.ConfigFileRefused> =>
  Effect.flatMap(ConfigFile.read(file, home), (before) =>
    ConfigFile.write(before, `${encode(records)}\n`, home, ConfigFile.ownerOnly)
  )

/** Takes the record of a tool out, and the file away where it was the last one. */
const writeWithout = (file: string, home: string, others: Records) =>
  Object.keys(others).length > 0
    ? write(file, home, others)
    : Effect.flatMap(ConfigFile.read(file, home), (before) => ConfigFile.remove(before, home))

/**
 * Forgets a tool, and removes the folders that were made for it as far as nothing else is in them. A folder that another tool uses is
 * removed with that one.
 */
export const forget = (
  file: string,
  home: string,
  id: string,
  { [id]: record, ...others }: Records
): Effect.Effect<void, ConfigFile.ConfigFileRefused> =>
  Effect.gen(function* () {
    yield* writeWithout(file, home, others)
    const left = yield* ConfigFile.removeFolders(record?.folders ?? [])
    const [heir] = Object.keys(others)
    const inherits = heir === undefined ? undefined : others[heir]
    if (heir === undefined || inherits === undefined) {
      // The gateway's own folder, which older versions did not note; what else is in it keeps it.
      return yield* Effect.asVoid(ConfigFile.removeFolders([dirname(file)]))
    }
    if (left.length === 0) return
    const folders = [...new Set([...inherits.folders, ...left])]
    yield* write(file, home, { ...others, [heir]: { ...inherits, folders } })
  })
