/** The name of a data folder among those of all gateways on one database. It is made once, and goes where the folder goes. */
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { onDisk } from "../DataFolder.ts"
import type { StoreFailure } from "../Errors.ts"

/** Name for people of the gateway whose rows are written, of several on one database; null: it has its database for itself. */
export class WritingNode extends Context.Reference<WritingNode>()("gateway/store/nodes/WritingNode", {
  defaultValue: (): string | null => null
}) {}

const read = (path: string): string => (existsSync(path) ? readFileSync(path, "utf8").trim() : "")

/** Gives the folder's name; `fresh` is written down as it where there is none. */
export const nodeNameIn = (dataDir: string, fresh: string): Effect.Effect<string, StoreFailure> => {
  const path = join(dataDir, "node-name")
  return onDisk(path, () => {
    const known = read(path)
    if (known !== "") return known
    // Whole or not at all: two folders with a name that was cut would be one.
    writeFileSync(`${path}.new`, `${fresh}\n`, { mode: 0o600 })
    renameSync(`${path}.new`, path)
    return fresh
  })
}
