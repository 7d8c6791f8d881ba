/** A gateway that captures, on ports of its own, with a hosts file and a desktop of its own; nothing of the machine is touched. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import { mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { connect as connectTcp, type Socket } from "node:net"
import { join } from "node:path"
import { connect as connectTls } from "node:tls"
import { gatewayWith } from "../../../src/app/layers.ts"
import { buildInOrder } from "../../../src/app/LayerBuilder.ts"
import { Events } from "../../../src/observe/Events.ts"
import { HttpServer } from "../../../src/entry/server/Server.ts"
import { LazyInspector } from "../../../src/observe/inspector/LazyInspector.ts"
import * as AppConfig from "../../../src/platform/AppConfig.ts"
import * as FakeTunnels from "../../support/FakeTunnels.ts"
import * as FakeDesktop from "../../support/FakeDesktop.ts"
import * as TestGateway from "../../support/TestGateway.ts"
import { temporaryFolder } from "../../support/TemporaryFolder.ts"

export const I = "/api/tools/traffic-inspector"
export const A = "/api/tools/agent-bridge"
export const admin = { authorization: `Bearer ${TestGateway.adminKey}`, "content-type": "application/json" }

export const usualHosts = "127.0.0.1\tlocalhost\r\n# a remark\n10.0.0.7 intranet.example"

export interface SetUp {
  readonly environment?: Readonly<Record<string, string>>
  readonly hosts?: string
  readonly desktop?: boolean
  readonly dataDir?: string
}

export interface Answer {
  readonly status: number
  readonly headers: Headers
  // eslint-disable-next-line typescript/no-explicit-any -- tests read into answers as they please
  readonly body: any
}

export const setUp = ({ dataDir, desktop = true, environment = {}, hosts = usualHosts }: SetUp = {}) =>
  Effect.gen(function* () {
    const folder = yield* temporaryFolder
    const programs = join(folder, "bin")
    mkdirSync(programs)
    const gnome = desktop ? FakeDesktop.fakeGnome(programs) : null
    const hostsFile = join(folder, "hosts")
    writeFileSync(hostsFile, hosts)
    const config = AppConfig.layerOf({
      adminKey: Redacted.make(TestGateway.adminKey),
      dataDir: dataDir ?? (yield* temporaryFolder),
      environment: new Map(
        Object.entries({
          PATH: `${programs}:/usr/bin:/bin`,
          DBUS_SESSION_BUS_ADDRESS: "unix:path=/run/of/a/fake",
          HOME: folder,
          GATEWAY_HOSTS_FILE: hostsFile,
          INSPECTOR_HTTP_PROXY_PORT: "0",
          MITM_PORT: "0",
          ...environment
        })
      )
    })
    const service = gatewayWith(FakeTunnels.make().layer).pipe(Layer.provide(config))
    const built = yield* Effect.orDie(buildInOrder(service, yield* Effect.scope))
    const { url } = Context.get(built, HttpServer)
    const door = Context.get(built, LazyInspector)
    /** What the hub was told of capture. */
    const changes: Array<string> = []
    Context.get(built, Events).listen((event) => {
      if (event.type === "capture.changed") {
        changes.push(`${event.change} ${event.what}${event.automatic ? " by itself" : ""}`)
      }
    })
    /** All that was captured, newest first, with headers and bodies. */
    const records = Effect.gen(function* () {
      const { inspector } = yield* door.get
      yield* inspector.settled
      const { requests } = yield* Effect.orDie(inspector.list({}, { limit: 100 }))
      return yield* Effect.orDie(Effect.forEach(requests, ({ id }) => inspector.get(id)))
    })
    const ask = async (method: string, path: string, body?: unknown): Promise<Answer> => {
      const response = await fetch(url + path, {
        method,
        headers: admin,
        ...(body === undefined ? {} : { body: JSON.stringify(body) })
      })
      const text = await response.text()
      const isJson = (response.headers.get("content-type") ?? "").includes("json")
      return { status: response.status, headers: response.headers, body: isJson ? JSON.parse(text) : text }
    }
    return {
      ask,
      changes,
      door,
      folder,
      gnome,
      records,
      url,
      hosts: () => readFileSync(hostsFile, "latin1"),
      hostsFile
    }
  })

const until = (socket: Socket, done: (text: string) => boolean): Promise<string> =>
  new Promise((resolve, reject) => {
    let text = ""
    socket.setEncoding("latin1")
    const onData = (piece: string): void => {
      text += piece
      if (!done(text)) return
      socket.off("data", onData)
      resolve(text)
    }
    socket.on("data", onData)
    socket.once("error", reject)
    socket.once("close", () => resolve(text))
  })

/** One GET through a proxy's tunnel, over TLS; the answer as it came. */
export const getThroughProxy = async (
  proxyPort: number,
  target: { readonly host: string; readonly port: number; readonly path: string },
  ca: string,
  headers = ""
): Promise<{ readonly answer: string; readonly issuer: string }> => {
  const socket = connectTcp(proxyPort, "127.0.0.1")
  socket.write(`CONNECT ${target.host}:${target.port} HTTP/1.1\r\nHost: ${target.host}:${target.port}\r\n\r\n`)
  await until(socket, (text) => text.includes("\r\n\r\n"))
  socket.removeAllListeners("data")
  const tls = connectTls({ socket, servername: target.host, ca })
  await new Promise<void>((resolve, reject) => {
    tls.once("secureConnect", resolve)
    tls.once("error", reject)
  })
  const issuer = String(tls.getPeerCertificate().issuer.CN)
  tls.write(`GET ${target.path} HTTP/1.1\r\nHost: ${target.host}:${target.port}\r\n${headers}Connection: close\r\n\r\n`)
  const answer = await until(tls, () => false)
  tls.destroy()
  return { answer, issuer }
}
