/** The program built from this source, once per run of the tests: the first file that needs it builds it, the others wait for that. */
import { execFile } from "node:child_process"
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { eventually } from "../support/eventually.ts"

const project = fileURLToPath(new URL("../..", import.meta.url))

/** Those of bin/gateway. The compiled code that the build keeps belongs to them: with others the program is compiled anew at each start. */
export const nodeFlags: ReadonlyArray<string> =
  readFileSync(join(project, "bin/gateway"), "utf8").split("\n", 1)[0]?.split(" ").slice(3) ?? []

/** Inside the project, so that the bundle finds its native addons; in a folder that version control leaves out. */
const folder = join(project, ".gateway", `built-${process.env["GATEWAY_TEST_RUN"] ?? "now"}`)

/** Where the build is, as soon as `build` has come back. */
export const builtFolder = join(folder, "dist")

/** Program and first arguments that start what is built there. */
export const launch: readonly [string, ...ReadonlyArray<string>] = [
  process.execPath,
  ...nodeFlags,
  join(builtFolder, "main.cjs")
]

/** The same for a shell. */
export const launchLine = launch.map((word) => `'${word}'`).join(" ")

const isTaken = (): boolean => {
  mkdirSync(join(project, ".gateway"), { recursive: true })
  try {
    mkdirSync(folder)
    return false
  } catch {
    return true
  }
}

export const build = async (): Promise<void> => {
  const end = join(folder, "ended")
  if (isTaken()) await eventually("the build of another file", () => existsSync(end), Boolean, { withinMs: 240_000 })
  else {
    try {
      await promisify(execFile)(process.execPath, [join(project, "bin/build.mjs"), "--out", builtFolder])
    } finally {
      writeFileSync(end, "")
    }
  }
  if (!existsSync(join(builtFolder, "main.cjs"))) throw new Error("The program could not be built.")
}

export const removeBuild = (): void => rmSync(folder, { recursive: true, force: true })
