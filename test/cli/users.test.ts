/** Files of another user, closed folders, a read-only file system, and a database driver that cannot be loaded. */
import { assert, describe, it } from "@effect/vitest"
import { execFileSync, spawn, spawnSync } from "node:child_process"
import { once } from "node:events"
import {
  chmodSync,
  chownSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync
} from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { afterAll, beforeAll } from "vitest"
import { type Ended, program, project } from "./support.ts"
import { nodeFlags } from "./built.ts"

const { dataDir, main, run } = program()

const nobody = 65_534
const isRoot = process.getuid?.() === 0
const works = (command: string, ...args: ReadonlyArray<string>): boolean =>
  isRoot && spawnSync(command, args, { stdio: "ignore" }).status === 0
const asNobody = ["setpriv", `--reuid=${nobody}`, `--regid=${nobody}`, "--clear-groups", "--"]
/** Runs what follows with the folder mounted for reading only. */
const readOnly = (folder: string): ReadonlyArray<string> => [
  "unshare",
  "--mount",
  "sh",
  "-c",
  'mount --bind "$0" "$0" && mount -o remount,bind,ro "$0" && exec "$@"',
  folder
]
const canChange = works("setpriv", ...asNobody.slice(1), "true")
const canMount = works("unshare", "--mount", "sh", "-c", "mount --bind /tmp /tmp && mount -o remount,bind,ro /tmp")

const serving = ["serve", "--port", "0", "--no-open"]
const doctor = ["doctor", "--json", "--no-liveness"]

/** Runs the program behind another one, such as `setpriv`. */
const behind = async (
  before: ReadonlyArray<string>,
  args: ReadonlyArray<string>,
  folder: string,
  entry = main
): Promise<Ended> => {
  const [command = "", ...more] = [...before, process.execPath, ...nodeFlags, entry, ...args]
  const child = spawn(command, more, {
    env: { PATH: process.env.PATH, HOME: folder, DATA_DIR: folder, GATEWAY_ENV_CONNECTIONS: "false", PORT: "0" },
    stdio: ["ignore", "pipe", "pipe"]
  })
  let stdout = ""
  let stderr = ""
  child.stdout.on("data", (part) => {
    stdout += String(part)
    // One that starts although it should not has to end all the same.
    if (stdout.includes("Gateway listening")) child.kill("SIGTERM")
  })
  child.stderr.on("data", (part) => (stderr += String(part)))
  const [code] = await once(child, "close")
  return { code, stdout, stderr }
}

const noFault = (words: string): void => {
  assert.notMatch(words, /fault of the program/i)
  assert.notMatch(words, /\n\s+at /, "a stack trace is not for people")
}

/** `serve` ends with words that hold each part; the doctor has a failed row with them. */
const bothSay = async (
  before: ReadonlyArray<string>,
  folder: string,
  parts: ReadonlyArray<string>,
  row = "storage",
  entry = main
): Promise<void> => {
  const served = await behind(before, serving, folder, entry)
  assert.notStrictEqual(served.code, 0, served.stdout)
  assert.strictEqual(served.stdout, "")
  noFault(served.stderr)
  for (const part of parts) assert.include(served.stderr, part)
  const looked = await behind(before, doctor, folder, entry)
  assert.strictEqual(looked.code, 1, looked.stdout + looked.stderr)
  noFault(looked.stderr)
  const checks: ReadonlyArray<{ readonly name: string; readonly status: string; readonly message: string }> =
    JSON.parse(looked.stdout).checks
  const found = checks.find(({ name }) => name === row)
  assert.strictEqual(found?.status, "fail", looked.stdout)
  for (const part of parts) assert.include(found?.message, part)
}

const bothUsers = ["root (id 0)", "nobody (id 65534)"]

/** A folder that a gateway has used as this user. */
const used = async (): Promise<string> => {
  const folder = dataDir()
  const { code, stderr } = await run(
    ["setup", "--non-interactive", "--provider", "openai", "--api-key", "sk-0123456789abcdef"],
    { DATA_DIR: folder }
  )
  assert.strictEqual(code, 0, stderr)
  return folder
}

const give = (folder: string, uid: number, gid = uid): void => {
  chownSync(folder, uid, gid)
  for (const name of readdirSync(folder)) {
    const path = join(folder, name)
    chownSync(path, uid, gid)
  }
}

const limitMs = 120_000

// The folder of all tests may be this user's alone, and the other user has to get to those below it.
beforeAll(() => {
  if (canChange && (statSync(tmpdir()).mode & 0o001) === 0) chmodSync(tmpdir(), 0o711)
})

describe.skipIf(!canChange)("a gateway that runs as another user than the owner of", () => {
  it(
    "the folder names both users",
    async () => {
      const folder = dataDir()
      chmodSync(folder, 0o700)
      await bothSay(asNobody, folder, [folder, ...bothUsers, `chown -R ${nobody}`])
    },
    limitMs
  )

  it(
    "a folder that it may only look into names both users",
    async () => {
      const folder = dataDir()
      chmodSync(folder, 0o755)
      await bothSay(asNobody, folder, [folder, ...bothUsers, "mode 0755"])
    },
    limitMs
  )

  it(
    "a folder of a group it is not in names both users",
    async () => {
      const folder = dataDir()
      chownSync(folder, 0, nobody - 1)
      chmodSync(folder, 0o770)
      await bothSay(asNobody, folder, [folder, ...bothUsers, "mode 0770"])
    },
    limitMs
  )

  it.each(["gateway.sqlite", "gateway.lock", "master.key", ".env"])(
    "the file %s names it and both users",
    async (name) => {
      const folder = await used()
      const file = join(folder, name)
      if (!readdirSync(folder).includes(name)) writeFileSync(file, "", { mode: 0o600 })
      give(folder, nobody)
      chownSync(file, 0, 0)
      chmodSync(file, 0o600)
      await bothSay(asNobody, folder, [file, ...bothUsers])
    },
    limitMs
  )

  it.each(["usage-journal", "reservations", "files", "batches", "uploads"])(
    "the folder %s names it and both users",
    async (name) => {
      const folder = await used()
      give(folder, nobody)
      const inner = join(folder, name)
      mkdirSync(inner, { recursive: true, mode: 0o700 })
      chownSync(inner, 0, 0)
      chmodSync(inner, 0o700)
      await bothSay(asNobody, folder, [inner, ...bothUsers])
    },
    limitMs
  )

  it(
    "nothing, but whose own folder is closed to itself, is told the mode",
    async () => {
      const folder = dataDir()
      give(folder, nobody)
      chmodSync(folder, 0o000)
      await bothSay(asNobody, folder, [folder, "mode 0000", `chmod u+rwx ${folder}`])
    },
    limitMs
  )
})

describe.skipIf(!canMount)("a read-only file system", () => {
  it("is told, for a new folder and for one that was used", async () => {
    for (const folder of [dataDir(), await used()]) {
      await bothSay(readOnly(folder), folder, [folder, "read-only", "DATA_DIR"])
    }
  }, 240_000)
})

describe("a database driver that", () => {
  let copy = ""
  const driver = () => join(copy, "node_modules/better-sqlite3")
  const addon = () => join(driver(), "build/Release/better_sqlite3.node")

  /** The built program beside packages of its own, of which the driver is a copy. */
  beforeAll(() => {
    copy = mkdtempSync(join(tmpdir(), "gateway-driver-"))
    cpSync(dirname(main), join(copy, "dist"), { recursive: true })
    cpSync(join(project, "package.json"), join(copy, "package.json"))
    mkdirSync(join(copy, "node_modules"))
    for (const name of readdirSync(join(project, "node_modules"))) {
      if (name === "better-sqlite3" || name.startsWith(".")) continue
      symlinkSync(join(project, "node_modules", name), join(copy, "node_modules", name))
    }
    const from = join(project, "node_modules/better-sqlite3")
    for (const name of ["package.json", "lib"]) cpSync(join(from, name), join(driver(), name), { recursive: true })
  }, limitMs)
  afterAll(() => rmSync(copy, { recursive: true, force: true }))

  const entry = () => join(copy, "dist/main.cjs")

  it(
    "was not built is told with the command that builds it",
    async () => {
      rmSync(join(driver(), "build"), { recursive: true, force: true })
      await bothSay(["env"], dataDir(), ["was not built", "npm rebuild better-sqlite3"], "native", entry())
      await bothSay(["env"], await used(), ["was not built", "npm rebuild better-sqlite3"], "native", entry())
    },
    limitMs
  )

  it(
    "was built for another Node.js is told with this one's version",
    async () => {
      mkdirSync(dirname(addon()), { recursive: true })
      writeFileSync(addon(), "no library")
      const parts = [process.version, "npm rebuild better-sqlite3"]
      await bothSay(["env"], dataDir(), parts, "native", entry())
    },
    limitMs
  )
})

describe("the tools of these tests", () => {
  it.skipIf(!canChange)("run a program as nobody", () => {
    const [command = "", ...args] = [...asNobody, "id", "--user"]
    assert.strictEqual(execFileSync(command, args, { encoding: "utf8" }).trim(), String(nobody))
  })
})
