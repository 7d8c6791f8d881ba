/** A small disk of its own for a test of what happens when it is full. */
import * as Effect from "effect/Effect"
import { execFileSync } from "node:child_process"
import { mkdirSync } from "node:fs"

/** Mounts a disk of so many KiB at a folder, as long as the scope; false where this user may mount none. */
export const mounted = (folder: string, kib: number) =>
  Effect.acquireRelease(
    Effect.sync(() => {
      mkdirSync(folder, { recursive: true })
      try {
        execFileSync("mount", ["-t", "tmpfs", "-o", `size=${kib}k,mode=0700`, "tmpfs", folder], { stdio: "pipe" })
        return true
      } catch {
        return false
      }
    }),
    (isMounted) => Effect.sync(() => (isMounted ? execFileSync("umount", [folder]) : undefined))
  )
