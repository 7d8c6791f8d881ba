import { assert, describe, it } from "@effect/vitest"
import { once } from "node:events"
import { chmodSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { createServer } from "node:net"
import { join } from "node:path"
import { type Ended, freePort, program } from "./support.ts"

const { dataDir, run, serve } = program()

const doctor = ["doctor", "--json", "--no-liveness"]
const database = (folder: string) => join(folder, "gateway.sqlite")

interface Check {
  readonly name: string
  readonly status: "ok" | "warn" | "fail" | "skip"
  readonly message: string
}

const checksOf = ({ stdout }: Ended): ReadonlyMap<string, Check> =>
  new Map(JSON.parse(stdout).checks.map((check: Check) => [check.name, check]))

const statusOf = (ended: Ended, name: string) => checksOf(ended).get(name)?.status

/** A data folder that a gateway has used, with one connection in it. */
const usedFolder = async (): Promise<{ readonly DATA_DIR: string; readonly PORT: string }> => {
  const environment = { DATA_DIR: dataDir(), PORT: "0" }
  const { code, stderr } = await run(
    ["setup", "--non-interactive", "--provider", "openai", "--api-key", "sk-0123456789abcdef"],
    environment
  )
  assert.strictEqual(code, 0, stderr)
  return environment
}

describe("gateway doctor", () => {
  it("passes on an empty folder and changes nothing in it", async () => {
    const ended = await run(doctor, { DATA_DIR: dataDir(), PORT: "0" })
    assert.deepStrictEqual([ended.code, ended.stderr], [0, ""])
    assert.isTrue(JSON.parse(ended.stdout).ok)
    assert.deepStrictEqual(
      [...checksOf(ended).keys()],
      [
        "config",
        "runtime",
        "native",
        "memory",
        "open-files",
        "disk",
        "capture",
        "database",
        "storage",
        "port",
        "liveness"
      ]
    )
  })

  it("passes right after a kill -9, and beside a running gateway", async () => {
    const DATA_DIR = dataDir()
    const PORT = String(await freePort())
    const environment = { DATA_DIR, PORT, GATEWAY_ADMIN_KEY: "admin-of-the-doctor" }
    const serving = await serve(environment)
    const remote = { ...environment, GATEWAY_URL: serving.url }
    assert.strictEqual((await run(["keys", "add", "one"], remote)).code, 0)

    const beside = await run(["doctor", "--json", "--liveness-url", `${serving.url}/api/health/ping`], environment)
    assert.strictEqual(beside.code, 0, beside.stdout)
    assert.strictEqual(statusOf(beside, "liveness"), "ok")
    // The gateway of the folder is found wherever it listens.
    const elsewhere = await run(["doctor", "--json"], { ...environment, PORT: String(await freePort()) })
    assert.include(checksOf(elsewhere).get("liveness")?.message, serving.url)

    await serving.stop("SIGKILL")
    const ended = await run(doctor, environment)
    assert.strictEqual(ended.code, 0, ended.stdout)
    assert.strictEqual(statusOf(ended, "storage"), "ok")
  })

  it("fails when no gateway answers, unless it was not to ask", async () => {
    const environment = { DATA_DIR: dataDir(), PORT: String(await freePort()) }
    const asked = await run(["doctor", "--json"], environment)
    assert.strictEqual(asked.code, 1)
    assert.strictEqual(statusOf(asked, "liveness"), "fail")
    assert.strictEqual((await run(doctor, environment)).code, 0)
  })

  it("fails on a port that another program holds", async () => {
    const other = createServer((socket) => socket.destroy()).listen(0, "127.0.0.1")
    await once(other, "listening")
    const address = other.address()
    const PORT = String(typeof address === "object" && address !== null ? address.port : 0)
    const ended = await run(doctor, { DATA_DIR: dataDir(), PORT })
    other.close()
    assert.strictEqual(ended.code, 1)
    assert.strictEqual(statusOf(ended, "port"), "fail")
  })

  it("finds a damaged database and leaves it as it was", async () => {
    const environment = await usedFolder()
    const file = database(environment.DATA_DIR)
    const bytes = readFileSync(file)
    bytes.fill(0xff, 4096, 12_288)
    writeFileSync(file, bytes)
    for (const side of ["-wal", "-shm"]) rmSync(`${file}${side}`, { force: true })
    const ended = await run(doctor, environment)
    assert.strictEqual(ended.code, 1)
    assert.strictEqual(statusOf(ended, "database"), "fail")
    assert.strictEqual(statusOf(ended, "storage"), "skip")
    assert.isTrue(readFileSync(file).equals(bytes))
  })

  it("finds a file that is no database", async () => {
    const DATA_DIR = dataDir()
    writeFileSync(database(DATA_DIR), "this is not a database, however long the text may be".repeat(100))
    const ended = await run(doctor, { DATA_DIR, PORT: "0" })
    assert.strictEqual(ended.code, 1)
    assert.strictEqual(statusOf(ended, "database"), "fail")
  })

  it("finds a master key that does not fit", async () => {
    const environment = await usedFolder()
    const ended = await run(doctor, { ...environment, GATEWAY_ENCRYPTION_KEY: "another key than before" })
    assert.strictEqual(ended.code, 1)
    assert.strictEqual(statusOf(ended, "database"), "ok")
    assert.strictEqual(statusOf(ended, "storage"), "fail")
    assert.strictEqual((await run(doctor, environment)).code, 0)
  })

  it("finds a lost key file", async () => {
    const environment = await usedFolder()
    rmSync(join(environment.DATA_DIR, "master.key"))
    const ended = await run(doctor, environment)
    assert.strictEqual(statusOf(ended, "storage"), "fail")
    assert.include(checksOf(ended).get("storage")?.message ?? "", "reset-encrypted-columns")
  })

  it("names a wrong variable, and still checks the machine", async () => {
    const ended = await run(doctor, { DATA_DIR: dataDir(), PORT: "many" })
    assert.strictEqual(ended.code, 1)
    assert.include(checksOf(ended).get("config")?.message ?? "", "PORT")
    assert.strictEqual(statusOf(ended, "native"), "ok")
  })

  // The superuser may write everywhere, so there is nothing to find.
  it.skipIf(process.getuid?.() === 0)("finds a folder it cannot write", async () => {
    const environment = await usedFolder()
    chmodSync(database(environment.DATA_DIR), 0o400)
    chmodSync(environment.DATA_DIR, 0o500)
    const ended = await run(doctor, environment)
    chmodSync(environment.DATA_DIR, 0o700)
    assert.strictEqual(ended.code, 1)
  })
})
