/**
 * Machines in network namespaces on one bridge, the process of the tests among them: what is between two of them can be cut without anybody being told, lose
 * packets, or be closed. It needs root on Linux; names and addresses hold the process id, and what runs that were killed have left is removed.
 */
import { type ChildProcess, execFileSync, spawn, spawnSync, type StdioOptions } from "node:child_process"
import { once } from "node:events"
import { existsSync, mkdirSync, readdirSync, rmdirSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"

const prefix = "gwfault"
const hostFiles = "/etc/netns"
const env = { ...process.env, PATH: `${process.env["PATH"] ?? ""}:/usr/sbin:/sbin` }

const run = (...command: ReadonlyArray<string>): string =>
  execFileSync(command[0] ?? "", command.slice(1), { env, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] })

const succeeds = (...command: ReadonlyArray<string>): boolean =>
  spawnSync(command[0] ?? "", command.slice(1), { env, stdio: "ignore" }).status === 0

const reasonToSkip = (): string | null => {
  if (process.platform !== "linux") return "network namespaces need Linux"
  if (process.getuid?.() !== 0) return "network namespaces need root"
  const name = `${prefix}${process.pid}try`
  if (!succeeds("ip", "netns", "add", name)) return "this machine has no network namespaces"
  const works = succeeds("ip", "-n", name, "link", "add", "name", "br0", "type", "bridge")
  run("ip", "netns", "del", name)
  return works ? null : "this machine has no bridges for network namespaces"
}

/** Null: they can be made. */
export const noMachines = reasonToSkip()

const removeNamespace = (name: string): void => {
  for (const pid of run("ip", "netns", "pids", name).split("\n").filter(Boolean)) {
    try {
      process.kill(Number(pid), "SIGKILL")
    } catch {
      // It has ended by itself.
    }
  }
  run("ip", "netns", "del", name)
  rmSync(join(hostFiles, name), { recursive: true, force: true })
}

const namespaces = (): ReadonlyArray<string> =>
  run("ip", "netns", "list")
    .split("\n")
    .map((line) => line.split(" ")[0] ?? "")

const removeLeftovers = (): void => {
  for (const name of namespaces()) {
    const pid = new RegExp(`^${prefix}(\\d+)-`).exec(name)?.[1]
    if (pid !== undefined && !existsSync(`/proc/${pid}`)) removeNamespace(name)
  }
}

export interface Machine {
  readonly name: string
  readonly address: string
  /** Words in front of a command that runs it there. */
  readonly on: ReadonlyArray<string>
  readonly start: (command: ReadonlyArray<string>, options: StartOptions) => ChildProcess
  /** Gives a name its address there, from now on. */
  readonly knows: (name: string, at: Machine) => void
}

export interface StartOptions {
  readonly env?: NodeJS.ProcessEnv
  readonly stdio?: StdioOptions
  readonly cwd?: string
}

export interface Lan {
  /** Address of the process of the tests. */
  readonly address: string
  readonly machine: (name: string) => Machine
  /** From now on nothing of one arrives at the other, and neither is told. */
  readonly cut: (one: Machine, other: Machine) => void
  readonly mend: (one: Machine, other: Machine) => void
  /** Of what they send each other a part is lost, in short whiles, until the function that is returned is called: for a minute at most. */
  readonly lose: (one: Machine, other: Machine) => () => Promise<void>
  readonly close: () => Promise<void>
}

/** A hardware address that nobody has. */
const nobody = "02:00:00:00:00:fe"

const gone = async (child: ChildProcess): Promise<void> => {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exit = once(child, "exit")
  child.kill("SIGKILL")
  await exit
}

export const openLan = (): Lan => {
  removeLeftovers()
  const place = `${prefix}${process.pid}`
  const bridge = `${place}-lan`
  const own = `gf${process.pid}`
  const subnet = `10.${200 + (process.pid % 50)}.${Math.floor(process.pid / 50) % 250}`
  const machines: Array<Machine> = []
  const children = new Set<ChildProcess>()

  run("ip", "netns", "add", bridge)
  run("ip", "-n", bridge, "link", "add", "name", "br0", "type", "bridge")
  run("ip", "-n", bridge, "link", "set", "dev", "br0", "up")
  const plug = (device: string): void => {
    run("ip", "-n", bridge, "link", "set", "dev", device, "master", "br0")
    run("ip", "-n", bridge, "link", "set", "dev", device, "up")
  }
  run("ip", "link", "add", "name", own, "type", "veth", "peer", "name", "tests", "netns", bridge)
  run("ip", "addr", "add", `${subnet}.1/24`, "dev", own)
  run("ip", "link", "set", "dev", own, "up")
  plug("tests")

  const machine = (name: string): Machine => {
    const namespace = `${place}-${name}`
    const address = `${subnet}.${machines.length + 2}`
    const on = ["ip", "netns", "exec", namespace]
    const names = new Map([["localhost", "127.0.0.1"]])
    const files = join(hostFiles, namespace)
    // Written over and never replaced: what runs there has opened this one.
    const write = (): void =>
      writeFileSync(join(files, "hosts"), Array.from(names, ([each, at]) => `${at} ${each}\n`).join(""))
    mkdirSync(files, { recursive: true })
    write()
    run("ip", "netns", "add", namespace)
    run("ip", "link", "add", "name", "e", "netns", namespace, "type", "veth", "peer", "name", name, "netns", bridge)
    run("ip", "-n", namespace, "link", "set", "dev", "lo", "up")
    run("ip", "-n", namespace, "addr", "add", `${address}/24`, "dev", "e")
    run("ip", "-n", namespace, "link", "set", "dev", "e", "up")
    plug(name)
    const made: Machine = {
      name: namespace,
      address,
      on,
      start: (command, options) => {
        const [program = "", ...args] = [...on, ...command]
        const child = spawn(program, args, { ...options, env: { ...env, ...options.env, PATH: env.PATH } })
        children.add(child)
        return child
      },
      knows: (each, at) => {
        names.set(each, at.address)
        write()
      }
    }
    machines.push(made)
    return made
  }

  const neighbour = (at: Machine, to: Machine, how: "replace" | "del"): ReadonlyArray<string> =>
    `ip -n ${at.name} neigh ${how} ${to.address}${how === "replace" ? ` lladdr ${nobody}` : ""} dev e${how === "replace" ? " nud permanent" : ""}`.split(
      " "
    )
  const between = (one: Machine, other: Machine, how: "replace" | "del"): ReadonlyArray<ReadonlyArray<string>> => [
    neighbour(one, other, how),
    neighbour(other, one, how)
  ]
  const mend: Lan["mend"] = (one, other) => {
    for (const command of between(one, other, "del")) succeeds(...command)
  }
  return {
    address: `${subnet}.1`,
    machine,
    mend,
    cut: (one, other) => {
      for (const command of between(one, other, "replace")) run(...command)
    },
    lose: (one, other) => {
      const lines = (how: "replace" | "del") => between(one, other, how).map((command) => command.join(" "))
      const script = `while :; do ${lines("replace").join("; ")}; sleep 0.05; ${lines("del").join("; ")}; sleep 0.15; done`
      const child = spawn("timeout", ["60", "sh", "-c", script], { env, stdio: "ignore", detached: true })
      children.add(child)
      return async () => {
        if (child.pid !== undefined && child.exitCode === null) {
          const exit = once(child, "exit")
          process.kill(-child.pid, "SIGKILL")
          await exit
        }
        mend(one, other)
      }
    },
    close: async () => {
      for (const child of children) await gone(child)
      for (const name of namespaces()) if (name.startsWith(`${place}-`)) removeNamespace(name)
      if (existsSync(hostFiles) && readdirSync(hostFiles).length === 0) rmdirSync(hostFiles)
    }
  }
}
