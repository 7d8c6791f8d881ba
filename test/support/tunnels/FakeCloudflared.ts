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
  const publicFile = join(folder, "public.json")
  return {
    folder,
    path,
    behave: (behaviour: string) => writeFileSync(join(folder, "behaviour"), behaviour),
    /** The public host name of tunnels that are opened from now on. */
    nameHost: (host: string) => writeFileSync(join(folder, "host"), host),
    /**
     * Returns where the outside reaches the tunnel that was opened last, and the process that carries it; null: none
     * was.
     */
    outside: (): { readonly pid: number; readonly port: number } | null =>
      existsSync(publicFile) ? JSON.parse(readFileSync(publicFile, "utf8")) : null,
    /** Checks whether it has printed everything that it prints before it stays. */
    hasSaid: () => existsSync(join(folder, "said")),
    /** Returns the arguments and variables of its last start; null when there was none. */
    seen: (): {
      readonly args: ReadonlyArray<string>
      readonly variables: ReadonlyArray<string>
      readonly pid: number
    } | null => (existsSync(seenFile) ? JSON.parse(readFileSync(seenFile, "utf8")) : null)
  }
})
