/** Small files of the gateway's own in its data folder: read whole, written in one step, mode 0600. */
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import { mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs"
import { dirname } from "node:path"

export class SmallFileFailed extends Data.TaggedError("SmallFileFailed")<{
  readonly path: string
  readonly cause: unknown
}> {}

const mostBytes = 65_536

/** Null: it is not there, cannot be read, or is larger than the gateway writes. */
export const readSmallFile = (path: string): Effect.Effect<string | null> =>
  Effect.sync(() => {
    try {
      return statSync(path).size > mostBytes ? null : readFileSync(path, "utf8")
    } catch {
      return null
    }
  })

export const writeSmallFile = (path: string, text: string): Effect.Effect<void, SmallFileFailed> =>
  Effect.try({
    try: () => {
      mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
      const fresh = `${path}.new`
      rmSync(fresh, { force: true })
      writeFileSync(fresh, text, { flag: "wx", mode: 0o600 })
      renameSync(fresh, path)
    },
    catch: (cause) => new SmallFileFailed({ path, cause })
  })

export const removeSmallFile = (path: string): Effect.Effect<void> =>
  Effect.sync(() => {
    try {
      rmSync(path, { force: true })
    } catch {
      // It stays; what it says is looked at again before it is acted on.
    }
  })
