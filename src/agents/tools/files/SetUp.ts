/** Setting up a tool on this machine, without the key: what is there, what would be written, writing it. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as ConfigFile from "../../../platform/files/ConfigFile.ts"
import { staleOf } from "../config/Edits.ts"
import { isUnreadable, valueAt } from "../config/formats/Format.ts"
import { formats } from "../config/formats/index.ts"
import type { Places, ToolPlan } from "../config/ToolSetup.ts"
import { dirname } from "node:path"
import { restorationOf } from "./UndoSetup.ts"
import { type Change, changesOf, type Written, writeAll } from "./Files.ts"
import * as Records from "./Records.ts"

/** A key that is in a tool's file. */
export interface KeyOfTool {
  readonly secret: string
  /** Null: it was given, not made for the tool. */
  readonly id: string | null
}

/** State of a tool before it is set up. */
export interface StateBefore {
  readonly records: Records.Records
  readonly former: Records.ToolRecord | undefined
  /** The key that a former run has put into the tool's file; null: there is none. */
  readonly key: KeyOfTool | null
}

const keyIn = (plan: ToolPlan, former: Records.ToolRecord | undefined, { home }: Places) =>
  Effect.gen(function* () {
    const file = plan.files.find(({ keyAt }) => keyAt !== undefined)
    if (former === undefined || file?.keyAt === undefined) return null
    const { text } = yield* ConfigFile.read(file.path, home)
    const root = formats[file.format].parse(text ?? "")
    const secret = isUnreadable(root) ? undefined : valueAt(root, file.keyAt)
    return typeof secret === "string" && secret !== "" ? ({ secret, id: former.keyId } satisfies KeyOfTool) : null
  })

/** Files of a former run that this one does not write, such as profiles of families that are gone. */
const goneOf = (former: Records.ToolRecord | undefined, { files }: ToolPlan) =>
  (former?.files ?? []).filter(({ path }) => files.every((file) => file.path !== path))

/** Fails where something cannot be read or written: before a key is made. */
export const presentOf = (id: string, draft: ToolPlan, places: Places) =>
  Effect.gen(function* () {
    const records = yield* Records.read(Records.recordsFile(places), places.home)
    const former = records[id]
    yield* changesOf(draft.files, places.home, former?.files ?? [])
    yield* Effect.forEach(goneOf(former, draft), (file) => restorationOf(file, places.home), { discard: true })
    return { records, former, key: yield* keyIn(draft, former, places) } satisfies StateBefore
  })

/** Computes the changes of a plan. */
export const changesFor = (plan: ToolPlan, { former }: StateBefore, { home }: Places) =>
  changesOf(plan.files, home, former?.files ?? [])

export const isChanging = ({ after, file }: Change): boolean => after !== (file.text ?? "")

/** The first copy is the one from before the set-up: a later run keeps it. */
const recordOf = (
  plan: ToolPlan,
  changes: ReadonlyArray<Change>,
  written: ReadonlyArray<Written>,
  former: Records.ToolRecord | undefined,
  facts: { readonly gateway: string; readonly keyId: string | null }
): Records.ToolRecord => {
  const files = plan.files.map(({ edits, format, path }): Records.FileRecord => {
    const before = former?.files.find((file) => file.path === path)
    const paths = edits.map((edit) => edit.path)
    if (before !== undefined) {
      // A part of what is written now may have been written before as a whole, and the reverse.
      const stale = new Set([...staleOf(before.paths, edits), ...paths].map((each) => JSON.stringify(each)))
      return { ...before, paths: [...before.paths.filter((each) => !stale.has(JSON.stringify(each))), ...paths] }
    }
    const file = changes.find((change) => change.file.path === path)?.file
    return {
      path,
      format,
      backupPath: written.find((each) => each.path === path)?.backupPath ?? null,
      paths,
      made: file?.text === null,
      mode: file?.mode ?? ConfigFile.ownerOnly
    }
  })
  const folders = new Set([...(former?.folders ?? []), ...written.flatMap((each) => each.folders)])
  return { ...facts, files, folders: [...folders] }
}

/**
 * Writes the files of a plan, undoes the changes that a former run made and this one does not, and records it for
 * `--undo`.
 */
export const carryOut = (
  id: string,
  plan: ToolPlan,
  present: StateBefore,
  places: Places,
  facts: { readonly gateway: string; readonly keyId: string | null }
) =>
  Effect.gen(function* () {
    const { home } = places
    const { former, records } = present
    const changes = yield* changesFor(plan, present, places)
    const backs = yield* Effect.forEach(goneOf(former, plan), (file) => restorationOf(file, home))
    const nowMs = yield* Clock.currentTimeMillis
    const written = yield* writeAll(
      [...changes.filter(isChanging), ...backs.flatMap(({ change }) => change ?? [])],
      home,
      nowMs
    )
    for (const { removes } of backs) {
      if (removes === null) continue
      yield* ConfigFile.remove(removes, home)
      yield* ConfigFile.removeFolders((former?.folders ?? []).filter((folder) => folder === dirname(removes.target)))
    }
    // A tool without files has a key all the same, which an undo ends.
    if (plan.files.length > 0 || facts.keyId !== null) {
      const record = recordOf(plan, changes, written, former, facts)
      const file = Records.recordsFile(places)
      const made = yield* Records.write(file, home, { ...records, [id]: record })
      if (made.length > 0) {
        // Its own folder is known only now.
        const folders = [...made, ...record.folders]
        yield* Records.write(file, home, { ...records, [id]: { ...record, folders } })
      }
    }
    return { changes, written }
  })
