/**
 * Three hosts in network namespaces: client – proxy – target, on both IP families. The client's default route leads to the proxy's
 * host, which forwards nothing: a packet of the client to the target is counted, and gets nowhere. Names of the target are known on
 * the proxy's host only.
 */
import { type ChildProcess, execFile, execFileSync, spawn, type StdioOptions } from "node:child_process"
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  rmSync,
  writeFileSync
} from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { promisify } from "node:util"
import { eventually } from "../support/eventually.ts"
import { pathOfPrograms } from "./Prerequisites.ts"

export type Host = "client" | "proxy" | "target"

export const addresses = {
  client: { v4: "10.77.1.2", v6: "fd77:1::2" },
  /** As the client sees it. */
  proxy: { v4: "10.77.1.1", v6: "fd77:1::1" },
  /** As the target sees it. */
  exit: { v4: "10.77.2.1", v6: "fd77:2::1" },
  target: { v4: "10.77.2.2", v6: "fd77:2::2" }
} as const

export const proxyNames = { dual: "proxy.test", v4: "proxy4.test", v6: "proxy6.test" } as const
export const targetName = "target.test"

export const login = { username: "ann", password: "p@ss:w%rd" } as const
/** For programs whose configuration allows letters and digits only. */
export const plainLogin = { username: "ann", password: "secret1" } as const

const prefix = "gwnet"
const folderStart = "gateway-network-"
const hostFiles = "/etc/netns"
const env = { ...process.env, PATH: pathOfPrograms }

const run = (program: string, ...args: ReadonlyArray<string>): string =>
  execFileSync(program, args, { env, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] })

const isAlive = (pid: number): boolean => existsSync(`/proc/${pid}`)

const removeNamespace = (name: string): void => {
  const pids = run("ip", "netns", "pids", name).split("\n").filter(Boolean).map(Number)
  for (const pid of pids) {
    try {
      process.kill(pid, "SIGKILL")
    } catch {
      // It ended by itself.
    }
  }
  run("ip", "netns", "del", name)
  rmSync(join(hostFiles, name), { recursive: true, force: true })
}

/** Removes what is named `<start><process id>-…` of a process that is gone. */
export const removeFoldersOfTheDead = (parent: string, start: string): void => {
  for (const name of existsSync(parent) ? readdirSync(parent) : []) {
    const pid = name.startsWith(start) ? /^\d+(?=-)/.exec(name.slice(start.length))?.[0] : undefined
    if (pid !== undefined && !isAlive(Number(pid))) rmSync(join(parent, name), { recursive: true, force: true })
  }
}

/** What runs that ended without tidying up have left. Their names hold their process id. */
const removeLeftovers = (): void => {
  removeFoldersOfTheDead(tmpdir(), folderStart)
  const known = run("ip", "netns", "list")
    .split("\n")
    .map((line) => line.split(" ")[0] ?? "")
  const kept = existsSync(hostFiles) ? readdirSync(hostFiles) : []
  for (const name of new Set([...known, ...kept])) {
    const pid = /^gwnet(\d+)[a-z]/.exec(name)?.[1]
    if (pid === undefined || isAlive(Number(pid))) continue
    if (known.includes(name)) removeNamespace(name)
    rmSync(join(hostFiles, name), { recursive: true, force: true })
  }
}

/** For `ip netns exec`, which puts these over the files of /etc. */
const writeHostFiles = (namespace: string, host: Host): void => {
  const folder = join(hostFiles, namespace)
  mkdirSync(folder, { recursive: true })
  const { proxy, target } = addresses
  const hosts = ["127.0.0.1 localhost", "::1 localhost"]
  if (host === "client") {
    hosts.push(`${proxy.v4} ${proxyNames.v4} ${proxyNames.dual}`, `${proxy.v6} ${proxyNames.v6} ${proxyNames.dual}`)
  }
  if (host === "proxy") hosts.push(`${target.v4} ${targetName}`, `${target.v6} ${targetName}`)
  writeFileSync(join(folder, "hosts"), `${hosts.join("\n")}\n`)
  writeFileSync(join(folder, "resolv.conf"), `nameserver ${proxy.v4}\noptions timeout:1 attempts:1\n`)
  if (host !== "proxy") return
  // danted asks for the users of the system.
  const hash = run("openssl", "passwd", "-6", login.password).trim()
  const users = readFileSync("/etc/passwd", "utf8").trimEnd()
  writeFileSync(join(folder, "passwd"), `${users}\n${login.username}:x:60001:60001::/:/usr/sbin/nologin\n`)
  writeFileSync(join(folder, "shadow"), `root:*:20000::::::\n${login.username}:${hash}:20000::::::\n`, { mode: 0o600 })
}

/** Packets of TCP and UDP at the client's only link, sent and received. `target`: to or from the target. `dns`: port 53. */
export interface Packets {
  readonly v4: number
  readonly v6: number
  readonly target: number
  readonly dns: number
}

const counted = (end: "saddr" | "daddr", port: "sport" | "dport"): string => `
    meta l4proto { tcp, udp } meta nfproto ipv4 counter name v4
    meta l4proto { tcp, udp } meta nfproto ipv6 counter name v6
    ip ${end} 10.77.2.0/24 counter name target
    ip6 ${end} fd77:2::/64 counter name target
    meta l4proto { tcp, udp } th ${port} 53 counter name dns`

const rules = `table inet watch {
  counter v4 {}
  counter v6 {}
  counter target {}
  counter dns {}
  chain sent {
    type filter hook output priority 0;
    oifname != "c0" accept${counted("daddr", "dport")}
  }
  chain received {
    type filter hook input priority 0;
    iifname != "c0" accept${counted("saddr", "sport")}
  }
}
`

export interface Network {
  /** For configurations and logs; removed with the network. */
  readonly folder: string
  /** The words in front of a command that runs it on a host. */
  readonly on: (host: Host) => ReadonlyArray<string>
  /** Starts a program in a process group of its own. */
  readonly start: (host: Host, command: ReadonlyArray<string>, options?: StartOptions) => ChildProcess
  /** Ends a program and what it started, without giving it a chance. */
  readonly kill: (child: ChildProcess) => Promise<void>
  readonly exec: (host: Host, ...command: ReadonlyArray<string>) => Promise<string>
  /** Waits until a program listens on each of the TCP ports. */
  readonly listening: (host: Host, ports: ReadonlyArray<number>) => Promise<void>
  /** Packets since the last call. */
  readonly packets: () => Promise<Packets>
  readonly close: () => Promise<void>
}

export interface StartOptions {
  readonly stdio?: StdioOptions
  readonly env?: Readonly<Record<string, string>>
}

interface CounterList {
  readonly nftables: ReadonlyArray<{ readonly counter?: { readonly name: string; readonly packets: number } }>
}

let opened = 0

const connectHosts = (names: Readonly<Record<Host, string>>): void => {
  const link = (a: string, aName: string, b: string, bName: string): void => {
    run("ip", "link", "add", "name", aName, "netns", a, "type", "veth", "peer", "name", bName, "netns", b)
  }
  const address = (host: string, device: string, { v4, v6 }: { readonly v4: string; readonly v6: string }): void => {
    run("ip", "-n", host, "addr", "add", `${v4}/24`, "dev", device)
    run("ip", "-n", host, "addr", "add", `${v6}/64`, "dev", device, "nodad")
    run("ip", "-n", host, "link", "set", device, "up")
  }
  link(names.client, "c0", names.proxy, "p0")
  link(names.proxy, "p1", names.target, "t0")
  address(names.client, "c0", addresses.client)
  address(names.proxy, "p0", addresses.proxy)
  address(names.proxy, "p1", addresses.exit)
  address(names.target, "t0", addresses.target)
  for (const name of Object.values(names)) run("ip", "-n", name, "link", "set", "lo", "up")
  run("ip", "-n", names.client, "route", "add", "default", "via", addresses.proxy.v4)
  run("ip", "-n", names.client, "-6", "route", "add", "default", "via", addresses.proxy.v6)
  for (const file of ["ipv4/ip_forward", "ipv6/conf/all/forwarding"]) {
    run("ip", "netns", "exec", names.proxy, "sh", "-c", `echo 0 > /proc/sys/net/${file}`)
  }
}

export const openNetwork = (): Network => {
  removeLeftovers()
  const place = `${prefix}${process.pid}${String.fromCharCode(97 + (opened++ % 26))}`
  const names = { client: `${place}-client`, proxy: `${place}-proxy`, target: `${place}-target` } as const
  const folder = mkdtempSync(join(tmpdir(), `${folderStart}${process.pid}-`))
  const children = new Set<ChildProcess>()

  const closeNow = (): void => {
    const known = run("ip", "netns", "list")
    for (const name of Object.values(names)) {
      if (known.includes(name)) removeNamespace(name)
      rmSync(join(hostFiles, name), { recursive: true, force: true })
    }
    if (existsSync(hostFiles) && readdirSync(hostFiles).length === 0) rmdirSync(hostFiles)
    rmSync(folder, { recursive: true, force: true })
  }

  try {
    for (const host of ["client", "proxy", "target"] as const) {
      run("ip", "netns", "add", names[host])
      writeHostFiles(names[host], host)
    }
    connectHosts(names)
    const file = join(folder, "watch.nft")
    writeFileSync(file, rules)
    run("ip", "netns", "exec", names.client, "nft", "-f", file)
  } catch (error) {
    closeNow()
    throw error
  }

  const on = (host: Host): ReadonlyArray<string> => ["ip", "netns", "exec", names[host]]

  const exec = async (host: Host, ...command: ReadonlyArray<string>): Promise<string> => {
    const [program = "", ...args] = [...on(host), ...command]
    return (await promisify(execFile)(program, args, { env, maxBuffer: 64 * 1_048_576 })).stdout
  }

  const start = (host: Host, command: ReadonlyArray<string>, options: StartOptions = {}): ChildProcess => {
    const [program = "", ...args] = [...on(host), ...command]
    const child = spawn(program, args, {
      env: { ...env, ...options.env },
      stdio: options.stdio ?? (process.env["NETWORK_LOG"] === undefined ? "ignore" : "inherit"),
      detached: true
    })
    children.add(child)
    child.once("exit", () => children.delete(child))
    return child
  }

  const kill = async (child: ChildProcess): Promise<void> => {
    if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return
    const ended = new Promise((resolve) => child.once("exit", resolve))
    process.kill(-child.pid, "SIGKILL")
    await ended
  }

  return {
    folder,
    on,
    exec,
    start,
    kill,
    listening: async (host, ports) => {
      await eventually(
        `a listener on each of ${ports.join(", ")}`,
        () => exec(host, "ss", "-Hltn"),
        (list) => ports.every((port) => list.includes(`:${port} `)),
        { everyMs: 50, withinMs: 20_000 }
      )
    },
    packets: async () => {
      const list = JSON.parse(await exec("client", "nft", "-j", "reset", "counters")) as CounterList
      const of = (name: string): number =>
        list.nftables.find(({ counter }) => counter?.name === name)?.counter?.packets ?? Number.NaN
      return { v4: of("v4"), v6: of("v6"), target: of("target"), dns: of("dns") }
    },
    close: async () => {
      await Promise.all([...children].map(kill))
      closeNow()
    }
  }
}
