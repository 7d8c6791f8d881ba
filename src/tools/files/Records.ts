/** `$XDG_CONFIG_HOME/gateway/tools.json`: which tools were set up, so that it can be undone. It holds no key. */
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Schema from "effect/Schema"
import { join } from "node:path"
import * as ConfigFile from "../../platform/ConfigFile.ts"
import type { Places } from "../config/ToolSetup.ts"

const Step = Schema.Union(Schema.String, Schema.Struct({ member: Schema.String, is: Schema.String }))

const FileRecord = Schema.Struct({
  path: Schema.String,
  format: Schema.Literal("json", "yaml", "toml", "env"),
  /** The file as it was; null: there was none. */
  backupPath: Schema.NullOr(Schema.String),
  /** What was set, without the values. */
  paths: Schema.Array(Schema.Array(Step)),
  /** Whether the file was made. */
  made: Schema.Boolean,
  /** Its permissions before. */
  mode: Schema.Number
})
export type FileRecord = typeof FileRecord.Type

export const ToolRecord = Schema.Struct({
  /** The gateway the tool uses. */
  gateway: Schema.String,
  /** Id of the key that was made for it; null: one was given. */
  keyId: Schema.NullOr(Schema.String),
  files: Schema.Array(FileRecord)
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

export const write = (
  file: string,
  home: string,
  records: Records
): Effect.Effect<void, ConfigFile.ConfigFileRefused> =>
  Effect.flatMap(ConfigFile.read(file, home), (before) =>
    ConfigFile.write(before, `${encode(records)}\n`, home, ConfigFile.ownerOnly)
  )
