/** Packs the project and installs the package, once for all suites of this folder; they get the folder that `gateway` is in. */
import { execFile } from "node:child_process"
import { mkdtempSync, rmSync, symlinkSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { promisify } from "node:util"
import type { TestProject } from "vitest/node"
import { pack } from "../../bin/release/stage.mjs"

export interface Packed {
  readonly filename: string
  /** Bytes of the file. */
  readonly size: number
  readonly files: ReadonlyArray<{ readonly path: string }>
}

declare module "vitest" {
  export interface ProvidedContext {
    readonly packed: Packed
    /** The prefix of the installation: `bin` and `lib` are in it. */
    readonly installed: string
    readonly installMs: number
    /** What npm wrote to its second output. */
    readonly installSaid: string
    /** What the program wrote to its second output before the driver was there. */
    readonly withoutDriver: string
    /** The packed file. */
    readonly packedFile: string
  }
}

const running = promisify(execFile)

/** How long an installation takes at most, with the packages on the way. */
export const longestInstallMs = 20_000

/** Node has SQLite with backups since 22.16, 23.8 and 24.0 (bin/gateway). */
export const hasDatabase = (): boolean => {
  const [major = 0, minor = 0] = process.versions.node.split(".").map(Number)
  return major > 23 || (major === 23 && minor >= 8) || (major === 22 && minor >= 16)
}

export default async (project: TestProject): Promise<() => void> => {
  const folder = mkdtempSync(join(tmpdir(), "gateway-package-"))
  const root = project.config.root
  await running(process.execPath, ["bin/build.mjs"], { cwd: root })
  const packed: Packed = pack(root, folder)
  const prefix = join(folder, "prefix")
  const install = async (place: string): Promise<{ readonly stderr: string; readonly ms: number }> => {
    const begunMs = performance.now()
    const npm = ["install", "--global", "--prefix", place, join(folder, packed.filename)]
    const { stderr } = await running("npm", npm, { cwd: folder })
    return { stderr, ms: Math.round(performance.now() - begunMs) }
  }
  const { ms, stderr } = await install(prefix)
  // A machine that is busy for a moment is given a second try.
  const installMs = ms > longestInstallMs ? Math.min(ms, (await install(join(folder, "again"))).ms) : ms
  // Where Node has no SQLite of its own, the driver of the checkout stands beside the gateway, as `npm install --global better-sqlite3` puts it.
  const driver = join(prefix, "lib/node_modules/better-sqlite3")
  const { stderr: withoutDriver } = await running(join(prefix, "bin/gateway"), ["doctor", "--no-liveness"], {
    env: { PATH: process.env["PATH"], DATA_DIR: join(folder, "data") }
  }).catch((error: { readonly stderr: string }) => error)
  if (!hasDatabase()) symlinkSync(join(root, "node_modules/better-sqlite3"), driver)
  project.provide("installSaid", stderr)
  project.provide("withoutDriver", withoutDriver)
  project.provide("packed", packed)
  project.provide("installed", join(folder, "prefix"))
  project.provide("packedFile", join(folder, packed.filename))
  project.provide("installMs", installMs)
  return () => rmSync(folder, { recursive: true, force: true })
}
