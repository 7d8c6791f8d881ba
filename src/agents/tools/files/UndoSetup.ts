/** Undoes a setup in a file: later changes by others stay. */
import * as Effect from "effect/Effect"
import * as ConfigFile from "../../../platform/files/ConfigFile.ts"
import { reverted } from "../config/Edits.ts"
import { isUnreadable } from "../config/formats/Format.ts"
import { formats } from "../config/formats/index.ts"
import { type Change, formerText } from "./Files.ts"
import type { FileRecord } from "./Records.ts"

export interface Restoration {
  readonly change: Change | null
  /** The file was made by the set-up, and holds nothing else. */
  readonly removes: ConfigFile.ConfigFile | null
}

const isBlank = (value: unknown): boolean => JSON.stringify(value) === "{}"

export const restorationOf = (record: FileRecord, home: string) =>
  Effect.gen(function* () {
    const { format, made, mode, path, paths } = record
    const file = yield* ConfigFile.read(path, home)
    if (file.text === null) return { change: null, removes: null } satisfies Restoration
    const former = yield* formerText(record, home)
    const edits = paths.map((each) => ({ path: each, value: null }))
    const after = reverted(formats[format], file.text, former ?? "", edits)
    if (isUnreadable(after)) {
      return yield* new ConfigFile.ConfigFileRefused({ path, problem: after.message })
    }
    if (made && isBlank(formats[format].parse(after))) return { change: null, removes: file } satisfies Restoration
    // Formats may be written a little otherwise: where nothing else was changed, the copy is what was there.
    const same =
      former !== null && JSON.stringify(formats[format].parse(after)) === JSON.stringify(formats[format].parse(former))
    const text = same && former !== null ? former : after
    return { change: text === file.text ? null : { file, after: text, mode }, removes: null } satisfies Restoration
  })
