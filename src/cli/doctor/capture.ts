/** Checks of `gateway doctor` for changes that capture has made on this machine. Needs no running gateway, and changes nothing. */
import * as Effect from "effect/Effect"
import { existsSync } from "node:fs"
import { join } from "node:path"
import { loadModule } from "../lazy.ts"
import * as Finding from "./Finding.ts"

export const capture = (dataDir: string): Effect.Effect<Finding.Finding> =>
  Effect.gen(function* () {
    if (!existsSync(join(dataDir, "capture", "journal"))) {
      return Finding.ok("Nothing of this machine is changed for capture")
    }
    const { entryIds, journalFolder, readEntry } = yield* loadModule(
      () => import("../../observe/capture/host/undo/restore.mjs")
    )
    const { isAlive } = yield* loadModule(() => import("../../observe/capture/host/undo/owner.mjs"))
    const folder = journalFolder(dataDir)
    const entries = entryIds(folder).map((id) => readEntry(folder, id))
    const left = entries.flatMap((entry) => ("problem" in entry || isAlive(entry.owner) ? [] : [entry.what]))
    if (left.length > 0) {
      return Finding.fail(
        `A gateway that has ended left on this machine: ${left.join("; ")}`,
        "Take it back with 'gateway capture restore'; the next start of the gateway does it as well."
      )
    }
    return Finding.ok(
      entries.length === 0
        ? "Nothing of this machine is changed for capture"
        : `The running gateway has changed: ${entries.flatMap((entry) => ("problem" in entry ? [] : [entry.what])).join("; ")}`
    )
  }).pipe(Effect.catchAll(({ hint, message }) => Effect.succeed(Finding.fail(message, hint ?? ""))))
