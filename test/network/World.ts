/** The network with the target, the proxies and the gateway's transport on their hosts. */
import type { ChildProcess } from "node:child_process"
import { mkdirSync, mkdtempSync, rmSync } from "node:fs"
import { join } from "node:path"
import { rolldown } from "rolldown"
import { eventually } from "../support/eventually.ts"
import { type Certificates, makeCertificates } from "./Certificates.ts"
import type { Ask, CallAt, Load, Outcome, ProxyAt, Usage } from "./hosts/client.ts"
import type { Fetch, Fetched } from "./hosts/fetches.ts"
import { addresses, type Host, type Network, openNetwork, removeFoldersOfTheDead } from "./Network.ts"
import type { Endpoint } from "./Proxies.ts"

const builtStart = "network-"

/** A new folder inside the repository, where what is built finds the packages. */
export const builtFolder = (root: string): string => {
  const parent = join(root, ".gateway")
  mkdirSync(parent, { recursive: true })
  removeFoldersOfTheDead(parent, builtStart)
  return mkdtempSync(join(parent, `${builtStart}${process.pid}-`))
}

/** The programs of `hosts`, as files that Node runs. */
const bundleHosts = async (root: string): Promise<string> => {
  const folder = builtFolder(root)
  const bundle = await rolldown({
    input: Object.fromEntries(
      ["client", "neighbour", "target"].map((name) => [name, join(root, `test/network/hosts/${name}.ts`)])
    ),
    cwd: root,
    platform: "node",
    external: ["better-sqlite3", "@node-rs/argon2"]
  })
  await bundle.write({ dir: folder, format: "esm", entryFileNames: "[name].mjs", chunkFileNames: "[name]-[hash].mjs" })
  await bundle.close()
  return folder
}

type Asking = (message: object) => Promise<unknown>

/** Questions to a program of `hosts`, and its answers, by number. */
const conversation = (child: ChildProcess): { readonly ask: Asking; readonly ready: Promise<unknown> } => {
  const open = new Map<number, { readonly resolve: (value: unknown) => void; readonly reject: (e: Error) => void }>()
  let last = 0
  const answerTo = (id: number): Promise<unknown> => new Promise((resolve, reject) => open.set(id, { resolve, reject }))
  child.on("message", (message) => {
    const { error, id, value } = message as { readonly id: number; readonly value?: unknown; readonly error?: string }
    const asked = open.get(id)
    open.delete(id)
    if (error === undefined) asked?.resolve(value)
    else asked?.reject(new Error(error))
  })
  child.once("exit", (code, signal) => {
    for (const { reject } of open.values()) reject(new Error(`it ended with ${code ?? signal}`))
  })
  return {
    ready: answerTo(0),
    ask: (message) => {
      const id = ++last
      child.send({ id, ...message })
      return answerTo(id)
    }
  }
}

export interface Question {
  readonly from: string
  readonly name: string
}

export interface World {
  readonly network: Network
  readonly certificates: Certificates
  readonly call: (call: CallAt) => Promise<Outcome>
  readonly begin: (stream: string, call: CallAt) => Promise<Outcome | null>
  readonly ended: (stream: string) => Promise<Outcome>
  readonly abort: (stream: string) => Promise<void>
  readonly many: (count: number, call: CallAt) => Promise<ReadonlyArray<Outcome>>
  readonly fetch: (fetch: Fetch, stream?: string) => Promise<Fetched>
  readonly fetched: (stream: string) => Promise<Fetched>
  readonly load: (call: CallAt, parallel: number, ms: number) => Promise<Load>
  readonly usage: () => Promise<Usage>
  /** By the resolver of the client's host; null when it knows no address. */
  readonly lookup: (name: string) => Promise<string | null>
  /** Names that were asked for since the last call. */
  readonly questions: () => Promise<ReadonlyArray<Question>>
  /** Waits until the client has no connection left, idle ones included. */
  readonly quiet: () => Promise<Usage>
  /** Waits until neither the client nor the target sends another packet of a connection between the two. */
  readonly closed: () => Promise<void>
  readonly close: () => Promise<void>
}

/** A line for each, but those that only wait for their time to be over. */
const openSockets = async (network: Network, host: Host): Promise<ReadonlyArray<string>> =>
  (await network.exec(host, "ss", "-Htan", "state", "connected", "exclude", "time-wait")).split("\n").filter(Boolean)

const pastTheProxy = (line: string): boolean =>
  [addresses.target.v4, addresses.target.v6].some((address) => line.includes(address)) &&
  [addresses.client.v4, addresses.client.v6].some((address) => line.includes(address))

/** `root` is the folder of the repository. */
export const openWorld = async (root: string, connectTimeoutMs: number): Promise<World> => {
  const network = openNetwork()
  const bundled = await bundleHosts(root)
  const close = async (): Promise<void> => {
    await network.close()
    rmSync(bundled, { recursive: true, force: true })
  }
  try {
    const certificates = makeCertificates(network.folder)
    const node = (name: string): ReadonlyArray<string> => [process.execPath, join(bundled, `${name}.mjs`)]
    const stdio = ["ignore", "ignore", "inherit", "ipc"] as const
    const { cert, key } = certificates.target
    network.start("target", node("target"), { stdio: [...stdio], env: { TLS_CERT: cert, TLS_KEY: key } })
    const neighbour = conversation(network.start("proxy", node("neighbour"), { stdio: [...stdio] }))
    const client = conversation(
      network.start("client", node("client"), {
        stdio: [...stdio],
        env: { NODE_EXTRA_CA_CERTS: certificates.authority, CONNECT_TIMEOUT_MS: String(connectTimeoutMs) }
      })
    )
    await Promise.all([
      client.ready,
      neighbour.ready,
      network.listening("target", [80, 443]),
      network.listening("proxy", [9001])
    ])
    const ask = <A>(question: Ask) => client.ask({ ask: question }) as Promise<A>
    const usage = () => ask<Usage>({ op: "usage" })
    return {
      network,
      certificates,
      usage,
      call: (call) => ask({ op: "call", call }),
      begin: (stream, call) => ask({ op: "begin", stream, call }),
      ended: (stream) => ask({ op: "ended", stream }),
      abort: (stream) => ask({ op: "abort", stream }),
      many: (count, call) => ask({ op: "many", count, call }),
      fetch: (fetch, stream) => ask({ op: "fetch", fetch, stream: stream ?? null }),
      fetched: (stream) => ask({ op: "fetched", stream }),
      load: (call, parallel, ms) => ask({ op: "load", call, parallel, ms }),
      lookup: (name) => ask({ op: "lookup", name }),
      questions: () => neighbour.ask({}) as Promise<ReadonlyArray<Question>>,
      quiet: () => eventually("the client's connections to be closed", usage, ({ sockets }) => sockets === 0),
      closed: async () => {
        for (const host of ["client", "target"] as const) {
          await eventually(
            `${host}'s connections past the proxy to be closed`,
            () => openSockets(network, host),
            (lines) => lines.every((line) => !pastTheProxy(line))
          )
        }
      },
      close
    }
  } catch (error) {
    await close()
    throw error
  }
}

export const proxyAt = (
  { password, port, type, username }: Endpoint,
  more: Partial<ProxyAt> & Pick<ProxyAt, "host">
): ProxyAt => ({ type, port, username, password, ...more })
