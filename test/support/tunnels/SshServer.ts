/** A real `sshd` on 127.0.0.1 with its own keys and configuration, for this user alone. */
import * as Effect from "effect/Effect"
import { execFileSync, spawn, type ChildProcess } from "node:child_process"
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { createServer, connect } from "node:net"
import { userInfo } from "node:os"
import { join } from "node:path"
import { eventually } from "../eventually.ts"
import { temporaryFolder } from "../TemporaryFolder.ts"

const sshd = "/usr/sbin/sshd"

/** Explains why these tests cannot run here; null: they can. */
export const whyNoSshd = (): string | null =>
  existsSync(sshd) && existsSync("/usr/bin/ssh") ? null : "OpenSSH's server and client are not installed"

const freePort = (): Promise<number> =>
  new Promise((resolve) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const address = server.address()
      server.close(() => resolve(typeof address === "object" && address !== null ? address.port : 0))
    })
  })

const answers = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1", () => {
      socket.destroy()
      resolve(true)
    }).on("error", () => resolve(false))
  })

export const sshServer = Effect.gen(function* () {
  const folder = yield* temporaryFolder
  const port = yield* Effect.promise(freePort)
  const hostKey = join(folder, "host_ed25519")
  execFileSync("ssh-keygen", ["-q", "-t", "ed25519", "-N", "", "-f", hostKey])
  // sshd needs it, and a machine where it never ran as a service has none.
  if (process.getuid?.() === 0) mkdirSync("/run/sshd", { recursive: true })
  const authorized = join(folder, "authorized_keys")
  writeFileSync(authorized, "", { mode: 0o600 })
  chmodSync(folder, 0o700)
  const config = join(folder, "sshd_config")
  writeFileSync(
    config,
    [
      `Port ${port}`,
      "ListenAddress 127.0.0.1",
      `HostKey ${hostKey}`,
      `AuthorizedKeysFile ${authorized}`,
      `PidFile ${join(folder, "sshd.pid")}`,
      "StrictModes no",
      "UsePAM no",
      "PasswordAuthentication no",
      "KbdInteractiveAuthentication no",
      "PermitRootLogin prohibit-password",
      "AllowTcpForwarding remote",
      "GatewayPorts no",
      ""
    ].join("\n")
  )
  let server: ChildProcess | null = null
  const start = Effect.promise(async () => {
    server = spawn(sshd, ["-D", "-e", "-f", config], { stdio: "ignore", detached: true })
    await eventually(
      "sshd",
      () => answers(port),
      (isOpen) => isOpen
    )
  })
  /** Kills it with the processes of its sessions, which have groups of their own. */
  const kill = Effect.sync(() => {
    const pid = server?.pid
    server = null
    if (pid === undefined) return
    const pairs = execFileSync("ps", ["-A", "-o", "pid=,ppid="], { encoding: "utf8" })
      .split("\n")
      .map((line) => line.trim().split(/\s+/).map(Number))
    const family = new Set([pid])
    // Parents are older than their children, and so are their numbers but for a wrap; a second pass takes those.
    for (const pass of [1, 2]) for (const [child = 0, of = pass] of pairs) if (family.has(of)) family.add(child)
    for (const one of family) {
      try {
        process.kill(one, "SIGKILL")
      } catch {
        // It is gone.
      }
    }
  })
  yield* Effect.addFinalizer(() => kill)
  yield* start
  const fingerprint = execFileSync("ssh-keygen", ["-lf", `${hostKey}.pub`], { encoding: "utf8" }).split(" ")[1] ?? ""
  return {
    port,
    user: userInfo().username,
    fingerprint,
    authorize: (line: string) => writeFileSync(authorized, `${readFileSync(authorized, "utf8")}${line}\n`),
    kill,
    start
  }
})
