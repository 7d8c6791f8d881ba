/** Servers outside of a gateway with tunnels of all kinds: Cloudflare's program, an edge of ngrok, a server of SSH, and a mesh VPN. */
import * as Effect from "effect/Effect"
import type { Scope } from "effect/Scope"
import { once } from "node:events"
import { type AddressInfo, connect, createServer, type Socket } from "node:net"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { eventuallyFound } from "../eventually.ts"
import type * as Program from "../Program.ts"
import * as RawRequest from "../RawRequest.ts"
import { temporaryFolder } from "../TemporaryFolder.ts"
import { fakeCloudflared } from "./FakeCloudflared.ts"
import { type FakeHome, fakeHome } from "./Mesh.ts"
import { type EdgeOptions, startEdge } from "./NgrokEdge.ts"
import { sshServer, whyNoSshd } from "./SshServer.ts"

export const adminKey = "admin-key-of-the-tunnel-tests"
export const authToken = "2goodTOKEN_forTestsOnly0123456789"

/** The answer of a management route. */
export interface Managed {
  readonly status: number
  // eslint-disable-next-line typescript/no-explicit-any -- tests read into answers as they please
  readonly json: any
}

export const manage = async (
  { url }: { readonly url: string },
  method: string,
  path: string,
  body?: unknown
): Promise<Managed> => {
  const answer = await fetch(url + path, {
    method,
    headers: { authorization: `Bearer ${adminKey}`, "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) })
  })
  const text = await answer.text()
  return { status: answer.status, json: text === "" ? null : JSON.parse(text) }
}

/** A provider `up` with the model `m`. */
export const connectUpstream = async (program: { readonly url: string }, origin: string): Promise<void> => {
  const node = { name: "up", prefix: "up", type: "openai-compatible", baseUrl: `${origin}/v1` }
  await manage(program, "POST", "/api/provider-nodes", node)
  await manage(program, "POST", "/api/providers", { provider: "up", apiKey: "k-0123456789", models: ["m"] })
}

/**
 * Calls as a command on the gateway's machine, with the token of its data folder: some settings are for its owner
 * alone.
 */
export const asOwner = async (
  program: Program.Program,
  method: string,
  path: string,
  body: unknown
): Promise<Managed> => {
  const { token } = JSON.parse(readFileSync(join(program.dataDir, "owner-token.json"), "utf8"))
  const text = JSON.stringify(body)
  const answer = await RawRequest.ask(program.url, {
    method,
    path,
    headers: {
      authorization: `Bearer ${token}`,
      "content-type": "application/json",
      "content-length": String(Buffer.byteLength(text))
    },
    body: text
  })
  return { status: answer.status, json: answer.body === "" ? null : JSON.parse(answer.body) }
}

export type BackendName = "quick" | "token" | "mesh" | "ssh"

/** Address at which clients reach the gateway through a tunnel. */
export interface Outside {
  readonly backend: BackendName
  /** Address of this machine, in place of the public one. */
  readonly url: string
  /** The host name that the public address has. */
  readonly publicHost: string
}

/** The entrance of a mesh VPN that runs as long as the machine: bytes go where its funnel leads to. */
const meshEntrance = (home: FakeHome): Effect.Effect<number, never, Scope> =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const sockets = new Set<Socket>()
      const server = createServer((client) => {
        const serve = JSON.stringify(home.state().serve)
        const target = /"Proxy":"(http:[^"]+)"/.exec(serve)?.[1]
        if (target === undefined) return void client.destroy()
        const { hostname, port } = new URL(target)
        const onward = connect(Number(port), hostname)
        for (const [from, to] of [
          [client, onward],
          [onward, client]
        ] as const) {
          sockets.add(from)
          from.on("error", () => to.destroy())
          from.on("close", () => {
            sockets.delete(from)
            to.destroySoon()
          })
          from.pipe(to)
        }
      }).listen(0, "127.0.0.1")
      await once(server, "listening")
      return { server, sockets }
    }),
    ({ server, sockets }) =>
      Effect.sync(() => {
        server.close()
        for (const socket of sockets) socket.destroy()
      })
  ).pipe(Effect.map(({ server }) => (server.address() as AddressInfo).port))

export interface BackendOptions {
  readonly edge?: Partial<EdgeOptions>
  readonly mesh?: Parameters<typeof fakeHome>
}

/** All of them, and the environment of a gateway that uses them. `ssh` is null where OpenSSH is not installed. */
export const backends = ({ edge: edgeOptions = {}, mesh: meshOptions = [] }: BackendOptions = {}) =>
  Effect.gen(function* () {
    const cloudflared = yield* fakeCloudflared
    cloudflared.behave("ok")
    const folder = yield* temporaryFolder
    const edge = yield* Effect.acquireRelease(
      Effect.promise(() => startEdge(folder, edgeOptions)),
      (open) => Effect.promise(open.close)
    )
    const home = yield* fakeHome(...meshOptions)
    const meshPort = yield* meshEntrance(home)
    const ssh = whyNoSshd() === null ? yield* sshServer : null
    const environment = {
      GATEWAY_ADMIN_KEY: adminKey,
      HOME: home.folder,
      // First, so that no real program of the same name is asked; it has `node`, too.
      PATH: `${home.folder}/bin:${process.env["PATH"] ?? ""}`,
      QUICK_TUNNEL_BIN: cloudflared.path,
      TOKEN_TUNNEL_SERVER: edge.address,
      TOKEN_TUNNEL_CA: edge.caFile,
      MESH_TUNNEL_BIN: `${home.folder}/bin/tailscale`
    }

    /** Lets the gateway of this folder in, as its tunnel has asked for. */
    const admitted = async (program: Program.Program, body: object): Promise<Managed> => {
      if (ssh === null) throw new Error("OpenSSH is not installed.")
      const destination = `${ssh.user}@127.0.0.1:${ssh.port}`
      const wanted = { ...body, action: "enable", destination, hostKey: ssh.fingerprint }
      const first = await manage(program, "POST", "/api/tunnels/ssh", wanted)
      const line = /ssh-ed25519 \S+ gateway-tunnel/.exec(first.json.lastError ?? "")?.[0]
      if (line === undefined) return first
      ssh.authorize(line)
      return manage(program, "POST", "/api/tunnels/ssh", wanted)
    }

    /** The answer of the gateway to the wish to open it. */
    const open = (program: Program.Program, backend: BackendName, body: object = {}): Promise<Managed> => {
      const enable = { ...body, action: "enable" }
      switch (backend) {
        case "quick":
          return manage(program, "POST", "/api/tunnels/quick", enable)
        case "token":
          return manage(program, "POST", "/api/tunnels/token", { authToken, ...enable })
        case "mesh":
          return manage(program, "POST", "/api/tunnels/mesh/enable", body)
        case "ssh":
          return admitted(program, body)
      }
    }

    /** Finds the outside of an open tunnel. */
    const outside = async (backend: BackendName, publicUrl: string): Promise<Outside> => {
      const portOf = async (): Promise<number> => {
        switch (backend) {
          case "quick": {
            const carrying = await eventuallyFound("port of the quick tunnel", () => {
              const found = cloudflared.outside()
              return found !== null && found.pid === cloudflared.seen()?.pid ? found : undefined
            })
            return carrying.port
          }
          case "token":
            return edge.publicPort
          case "mesh":
            return meshPort
          case "ssh":
            return Number(new URL(publicUrl).port)
        }
      }
      return { backend, url: `http://127.0.0.1:${await portOf()}`, publicHost: new URL(publicUrl).hostname }
    }

    return { cloudflared, edge, environment, home, open, outside, ssh }
  })

export type Backends = Effect.Effect.Success<ReturnType<typeof backends>>

/** Backends that can be opened here. */
export const backendsHere: ReadonlyArray<BackendName> =
  whyNoSshd() === null ? ["quick", "token", "mesh", "ssh"] : ["quick", "token", "mesh"]

/** Waits for the phase of a tunnel, and gives its status. */
export const phase = (program: Program.Program, backend: BackendName, wanted: string, withinMs = 30_000) =>
  eventuallyFound(
    `the ${backend} tunnel to be ${wanted}`,
    async () => {
      const { json, status } = await manage(program, "GET", `/api/tunnels/${backend}`)
      return status === 200 && json.phase === wanted ? json : undefined
    },
    { withinMs, everyMs: 25 }
  )
