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
  const begunMs = performance.now()
  const prefix = join(folder, "prefix")
  const { stderr } = await running("npm", ["install", "--global", "--prefix", prefix, join(folder, packed.filename)], {
    cwd: folder
  })
  const installMs = Math.round(performance.now() - begunMs)
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
