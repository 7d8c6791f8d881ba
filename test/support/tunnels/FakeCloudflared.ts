/** `cloudflared.mjs` in a folder of its own, as a program. */
import * as Effect from "effect/Effect"
import { copyFileSync, chmodSync, existsSync, readFileSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { temporaryFolder } from "../TemporaryFolder.ts"

export const fakeCloudflared = Effect.map(temporaryFolder, (folder) => {
  const path = join(folder, "cloudflared.mjs")
  copyFileSync(new URL("cloudflared.mjs", import.meta.url), path)
  chmodSync(path, 0o755)
  // Where it is started with a PATH of this folder alone.
  symlinkSync(process.execPath, join(folder, "node"))
  const seenFile = join(folder, "seen.json")
  return {
    folder,
    path,
    behave: (behaviour: string) => writeFileSync(join(folder, "behaviour"), behaviour),
    /** Whether it has said all that it says before it stays. */
    hasSaid: () => existsSync(join(folder, "said")),
    /** What it was started with last; null when it was not. */
    seen: (): {
      readonly args: ReadonlyArray<string>
      readonly variables: ReadonlyArray<string>
      readonly pid: number
    } | null => (existsSync(seenFile) ? JSON.parse(readFileSync(seenFile, "utf8")) : null)
  }
})
