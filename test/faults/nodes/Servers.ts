/** Servers of Postgres and Valkey and gateways on the machines of a `Lan`. */
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { type ChildProcess, execFileSync, spawnSync } from "node:child_process"
import { once } from "node:events"
import { appendFileSync, existsSync, mkdirSync, mkdtempSync, rmSync } from "node:fs"
import { join } from "node:path"
import { setTimeout as pause } from "node:timers/promises"
import { connect, usualOptions } from "../../../src/store/engine/postgres/Client.ts"
import { adminKey } from "../../cli/processes.ts"
import { environment, isReady, makeData, programsFor, type User, userOf } from "../../support/postgres/Server.ts"
import { valkeyProgram } from "../../support/valkey/Server.ts"
import type { Machine } from "./Lan.ts"

const launcher = new URL("../../../bin/gateway", import.meta.url).pathname

/** Folders of what is started here; another user gets to them. */
const base = "/tmp"

const ended = async (child: ChildProcess | null, signal: NodeJS.Signals): Promise<void> => {
  if (child === null || child.exitCode !== null || child.signalCode !== null) return
  const exit = once(child, "exit")
  child.kill(signal)
  await exit
}

type Rows = ReadonlyArray<Readonly<Record<string, unknown>>>

export interface PostgresServer {
  /** Address of its database at a host. */
  readonly urlAt: (host: string) => string
  /** Starts it on a machine: another one as before has its data folder, as over a disk that both have. */
  readonly start: (machine: Machine) => Promise<void>
  /** Ends it as a loss of power would. */
  readonly kill: () => Promise<void>
  readonly rows: (text: string) => Promise<Rows>
  /** Fills the disk of its tables, and makes room again. */
  readonly fill: () => void
  readonly free: () => void
  readonly close: () => Promise<void>
}

/** Size of the disk of a server that is to be full. */
const smallDisk = "96m"

/** A disk in memory for the tables; what the server needs to go on (its log) is on another one. */
const mounted = (folder: string): void => {
  execFileSync("mount", ["-t", "tmpfs", "-o", `size=${smallDisk},mode=0777`, "tmpfs", folder], { stdio: "pipe" })
}

const asUser = (user: User | null): ReadonlyArray<string> =>
  user === null ? [] : ["setpriv", `--reuid=${user.uid}`, `--regid=${user.gid}`, "--clear-groups", "--"]

/** Makes one that may be started; `isSmall`: with a small disk for its tables. */
export const makePostgres = (isSmall = false): PostgresServer => {
  const folder = mkdtempSync(join(base, "gateway-faults-"))
  execFileSync("chmod", ["755", folder])
  const user = userOf()
  const programs = programsFor(folder, user)
  if (programs === null) throw new Error("There are no programs of Postgres")
  const disk = join(folder, "disk")
  mkdirSync(disk)
  if (isSmall) mounted(disk)
  if (user !== null) for (const each of [folder, disk]) spawnSync("chown", [`${user.uid}:${user.gid}`, each])
  const data = join(disk, "data")
  makeData(programs, user, data, ["--waldir", join(folder, "wal"), "--wal-segsize=1"])
  appendFileSync(join(data, "pg_hba.conf"), "host all all all trust\n")
  const full = join(disk, "full")
  let child: ChildProcess | null = null
  let at: Machine | null = null

  const urlAt = (host: string): string => `postgres://gateway@${host}:5432/postgres`
  // Without a last word on its disk; its processes end with it.
  const kill = (): Promise<void> => ended(child, "SIGQUIT")
  return {
    urlAt,
    kill,
    start: async (machine) => {
      at = machine
      const settings = ["listen_addresses=*", "unix_socket_directories=", "fsync=off", "max_connections=60"]
      child = machine.start(
        [
          ...asUser(user),
          join(programs.bin, "postgres"),
          "-D",
          data,
          ...settings.flatMap((setting) => ["-c", setting])
        ],
        { env: environment(programs), stdio: "ignore", cwd: folder }
      )
      for (let tries = 0; tries < 1_000 && !isReady(data); tries += 1) await pause(20)
      if (!isReady(data)) throw new Error("The server did not become ready within 20 seconds")
    },
    rows: (text) =>
      Effect.runPromise(
        Effect.scoped(
          Effect.flatMap(
            connect({ ...usualOptions, maxConnections: 2, url: Redacted.make(urlAt(at?.address ?? "")) }),
            (sql) => sql.unsafe<Record<string, unknown>>(text)
          )
        )
      ),
    fill: () => {
      spawnSync("dd", ["if=/dev/zero", `of=${full}`, "bs=64k"], { stdio: "ignore" })
      // What is left of less than a block of dd, too.
      spawnSync("dd", ["if=/dev/zero", `of=${full}`, "bs=4k", "oflag=append", "conv=notrunc"], { stdio: "ignore" })
    },
    free: () => rmSync(full, { force: true }),
    close: async () => {
      await kill()
      if (isSmall) spawnSync("umount", ["-l", disk])
      rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 })
    }
  }
}

/** Starts a server of Valkey on a machine. */
export const startValkey = async (machine: Machine): Promise<string> => {
  const settings = ["--bind", "0.0.0.0", "--protected-mode", "no", "--save", "", "--appendonly", "no", "--dir", base]
  machine.start([valkeyProgram ?? "", ...settings], { stdio: "ignore" })
  await pause(500)
  return `redis://${machine.address}:6379/0`
}

export interface GatewayNode {
  readonly machine: Machine
  readonly url: string
  readonly process: ChildProcess
  readonly folder: string
  readonly stop: (signal: "SIGTERM" | "SIGKILL") => Promise<number | null>
}

/** Starts a gateway on a machine; keys are required, as others than this machine reach it. */
export const startGateway = async (
  machine: Machine,
  variables: Readonly<Record<string, string>>,
  folder = mkdtempSync(join(base, "gateway-faults-node-"))
): Promise<GatewayNode> => {
  const child = machine.start([launcher, "serve", "--host", "0.0.0.0", "--port", "20128", "--no-open"], {
    stdio: ["ignore", "pipe", "pipe"],
    env: {
      DATA_DIR: folder,
      HOME: folder,
      REQUIRE_API_KEY: "true",
      GATEWAY_ADMIN_KEY: adminKey,
      GATEWAY_ENCRYPTION_KEY: "one-key-of-all-nodes-of-more-than-32-characters",
      GATEWAY_DISABLE_BACKGROUND_SERVICES: "true",
      GATEWAY_ENV_CONNECTIONS: "false",
      GATEWAY_DRAIN_SECONDS: "2",
      ...variables
    }
  })
  let said = ""
  for (const stream of [child.stdout, child.stderr]) stream?.on("data", (part) => (said += String(part)))
  for (let tries = 0; tries < 1_500 && !said.includes("Gateway listening on"); tries += 1) {
    if (child.exitCode !== null) break
    await pause(20)
  }
  if (!said.includes("Gateway listening on")) throw new Error(`The gateway did not start: ${said}`)
  return {
    machine,
    url: `http://${machine.address}:20128`,
    process: child,
    folder,
    stop: async (signal) => {
      if (child.exitCode === null && child.signalCode === null) await ended(child, signal)
      return child.exitCode
    }
  }
}

/** Removes a data folder of a gateway that has ended. */
export const removeFolder = (folder: string): void => {
  if (existsSync(folder)) rmSync(folder, { recursive: true, force: true })
}
