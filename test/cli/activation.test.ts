/** Socket activation, and the files of `docs/systemd`. */
import { spawn, spawnSync } from "node:child_process"
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { once } from "node:events"
import { createServer } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, assert, describe, it } from "vitest"
import { activationIn } from "../../src/platform/programs/ActivatedSocket.ts"
import { nodeFlags } from "./built.ts"
import { program, project } from "./support.ts"

const { dataDir, main } = program()

interface Handle {
  readonly fd: number
}

/** Starts the program with a listening socket as its descriptor 3, as systemd does. */
const activated = async (host: string, environment: Readonly<Record<string, string>>, sockets = 1) => {
  const server = createServer().listen(0, host)
  await once(server, "listening")
  const address = server.address()
  const port = typeof address === "object" && address !== null ? address.port : 0
  // Node names the descriptor of a listening socket nowhere else.
  const { fd } = (server as unknown as { readonly _handle: Handle })._handle
  const words = [process.execPath, ...nodeFlags, main, "serve", "--no-open"].map((word) => `'${word}'`).join(" ")
  const child = spawn("sh", ["-c", `LISTEN_PID=$$ LISTEN_FDS=${sockets} exec ${words}`], {
    env: { PATH: process.env["PATH"], DATA_DIR: dataDir(), GATEWAY_LIVE_PORT: "0", ...environment },
    stdio: ["ignore", "pipe", "pipe", fd]
  })
  // It has a copy of its own; this one would take connections as well.
  server.close()
  let stderr = ""
  child.stderr?.on("data", (part: Buffer) => void (stderr += part.toString()))
  const ended = once(child, "exit")
  return { port, child, ended, said: () => stderr }
}

describe("a socket of systemd", () => {
  it(
    "is used, and answers connections that were made before the program has started",
    { timeout: 60_000 },
    async () => {
      const { child, ended, port, said } = await activated("127.0.0.1", {})
      try {
        // The socket is there already: nothing is refused while the program starts.
        const response = await fetch(`http://127.0.0.1:${port}/api/health/ping`)
        assert.strictEqual(response.status, 200, said())
        child.kill("SIGTERM")
        assert.deepStrictEqual(await ended, [0, null], said())
      } finally {
        child.kill("SIGKILL")
      }
    }
  )

  it(
    "is refused when it reaches further than the settings say, or when there are several",
    { timeout: 60_000 },
    async () => {
      const wider = await activated("0.0.0.0", {})
      assert.deepStrictEqual(await wider.ended, [1, null])
      assert.include(wider.said(), "The socket of systemd listens on 0.0.0.0, and HOST is 127.0.0.1.")
      const several = await activated("127.0.0.1", {}, 2)
      assert.deepStrictEqual(await several.ended, [1, null])
      assert.include(several.said(), "systemd handed over 2 sockets")
    }
  )

  it("is of the process that it was handed to, and of none that has inherited its variables", () => {
    const read = (variables: Readonly<Record<string, string>>) => activationIn(new Map(Object.entries(variables)), 7)
    assert.deepStrictEqual(read({ LISTEN_PID: "7", LISTEN_FDS: "1" }), { fd: 3, sockets: 1 })
    assert.isNull(read({ LISTEN_PID: "8", LISTEN_FDS: "1" }))
    for (const sockets of ["", "0", "-1", "x", "1.5"]) assert.isNull(read({ LISTEN_PID: "7", LISTEN_FDS: sockets }))
    assert.isNull(read({}))
  })

  it("is used by workers", { timeout: 90_000 }, async () => {
    const { child, ended, port, said } = await activated("127.0.0.1", { GATEWAY_WORKERS: "2" })
    try {
      const response = await fetch(`http://127.0.0.1:${port}/api/health/ping`)
      assert.strictEqual(response.status, 200, said())
      child.kill("SIGTERM")
      assert.deepStrictEqual(await ended, [0, null], said())
    } finally {
      child.kill("SIGKILL")
    }
  })
})

const analyze = spawnSync("systemd-analyze", ["--version"]).status === 0

describe.skipIf(!analyze)(`the units of docs/systemd${analyze ? "" : " (skipped: no systemd-analyze)"}`, () => {
  const folder = mkdtempSync(join(tmpdir(), "gateway-units-"))
  afterAll(() => rmSync(folder, { recursive: true, force: true }))
  const units = join(project, "docs/systemd")

  it("are understood, and leave the service little to do harm with", () => {
    copyFileSync(join(units, "gateway.socket"), join(folder, "gateway.socket"))
    // The program has to be there.
    const text = readFileSync(join(units, "gateway.service"), "utf8").replace("/usr/local/bin/gateway", "/bin/true")
    writeFileSync(join(folder, "gateway.service"), text)
    const files = ["gateway.service", "gateway.socket"].map((name) => join(folder, name))
    const verified = spawnSync("systemd-analyze", ["verify", "--man=no", ...files], { encoding: "utf8" })
    const own = verified.stderr.split("\n").filter((line) => line.includes(folder))
    assert.deepStrictEqual(own, [], verified.stderr)
    const args = ["security", "--offline=yes", "--threshold=20", join(folder, "gateway.service")]
    const judged = spawnSync("systemd-analyze", args, { encoding: "utf8" })
    assert.strictEqual(judged.status, 0, judged.stdout + judged.stderr)
  })
})
