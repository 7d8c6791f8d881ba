/** Packs the project and installs the package, once for all suites of this folder; they get the folder that `gateway` is in. */
import { execFile } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { promisify } from "node:util"
import type { TestProject } from "vitest/node"

export interface Packed {
  readonly filename: string
  readonly files: ReadonlyArray<{ readonly path: string }>
}

declare module "vitest" {
  export interface ProvidedContext {
    readonly packed: Packed
    /** The prefix of the installation: `bin` and `lib` are in it. */
    readonly installed: string
    readonly installMs: number
  }
}

const running = promisify(execFile)

export default async (project: TestProject): Promise<() => void> => {
  const folder = mkdtempSync(join(tmpdir(), "gateway-package-"))
  const root = project.config.root
  const npm = async (args: ReadonlyArray<string>, cwd: string): Promise<string> =>
    (await running("npm", args, { cwd, maxBuffer: 16 * 1_048_576 })).stdout
  await running(process.execPath, ["bin/build.mjs"], { cwd: root })
  const list = await npm(["pack", "--json", "--ignore-scripts", "--pack-destination", folder], root)
  const [packed] = JSON.parse(list) as [Packed]
  const begunMs = performance.now()
  await npm(["install", "--global", "--prefix", join(folder, "prefix"), join(folder, packed.filename)], folder)
  project.provide("packed", packed)
  project.provide("installed", join(folder, "prefix"))
  project.provide("installMs", Math.round(performance.now() - begunMs))
  return () => rmSync(folder, { recursive: true, force: true })
}
