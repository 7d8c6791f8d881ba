/** Compares the contents of two backups. */
import * as Effect from "effect/Effect"
import { createHash } from "node:crypto"
import { createReadStream } from "node:fs"
import type { BackupFile } from "./Backup.ts"

/** Counters of the header that change although nothing else does. */
const countersAt: ReadonlyArray<readonly [from: number, to: number]> = [
  [24, 28],
  [92, 96]
]

/** A hash of what a copy holds. */
const contentHash = (path: string): Effect.Effect<string, unknown> =>
  Effect.tryPromise(async () => {
    const hash = createHash("sha256")
    let position = 0
    for await (const chunk of createReadStream(path) as AsyncIterable<Buffer>) {
      if (position === 0) for (const [from, to] of countersAt) chunk.fill(0, from, Math.min(to, chunk.length))
      position += chunk.length
      hash.update(chunk)
    }
    return hash.digest("hex")
  })

/** Checks whether they have the same content; false when one of them cannot be read. */
export const isSame = (one: BackupFile, other: BackupFile): Effect.Effect<boolean> =>
  one.sizeBytes !== other.sizeBytes
    ? Effect.succeed(false)
    : Effect.zipWith(contentHash(one.path), contentHash(other.path), (a, b) => a === b).pipe(
        Effect.orElseSucceed(() => false)
      )
