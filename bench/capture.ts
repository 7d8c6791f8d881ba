/**
 * What decrypting costs: requests per second over kept connections, handshakes with a certificate that is kept and with a new one, and a large
 * download. The listener, the server and the client are a process each.
 * Start: SECONDS_EACH=5 node node_modules/vite-node/vite-node.mjs bench/capture.ts
 */
import * as http2 from "node:http2"
import * as Effect from "effect/Effect"
import { fork } from "node:child_process"
import { once } from "node:events"
import { Agent, createServer, request } from "node:https"
import { type AddressInfo, connect, createServer as createTcp } from "node:net"
import { connect as connectTls } from "node:tls"
import { fileURLToPath } from "node:url"
import * as CertificateAuthority from "../src/observe/capture/tls/CertificateAuthority.ts"
import { makeLeafCertificates } from "../src/observe/capture/tls/LeafCertificates.ts"
import { makeListener } from "../src/observe/capture/tls/Listener.ts"
import { dialFailed } from "../src/observe/capture/tls/Origin.ts"
import { Refusals } from "../src/observe/capture/tls/Refusals.ts"
import { makeServerTls } from "../src/observe/capture/tls/ServerLink.ts"
import { make as timers } from "../src/platform/Timers.ts"

const runner = fileURLToPath(new URL("../node_modules/vite-node/vite-node.mjs", import.meta.url))
const self = fileURLToPath(import.meta.url)
const seconds = Number(process.env["SECONDS_EACH"] ?? 5)
const name = "api.example.com"
const largeBytes = 20 * 1_048_576
const connections = 16

const portOf = async (server: ReturnType<typeof createTcp>): Promise<number> => {
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  return (server.address() as AddressInfo).port
}

const received = async (): Promise<Record<string, unknown>> => {
  const [message] = (await once(process, "message")) as [Record<string, unknown>]
  return message
}

/** The server of the internet. */
const serve = async (): Promise<void> => {
  const authority = await Effect.runPromise(CertificateAuthority.make("Bench"))
  const key = await Effect.runPromise(CertificateAuthority.makeKey)
  const { certificate } = await authority.issue(name, key, Date.now())
  const large = Buffer.alloc(largeBytes, "x")
  const server = createServer(
    { cert: certificate, key: key.export({ type: "pkcs8", format: "pem" }) },
    (asked, answer) => answer.end(asked.url === "/large" ? large : '{"ok":true}')
  )
  process.send?.({ port: await portOf(server), ca: authority.certificate })
}

const capture = async (): Promise<void> => {
  const { ca, port: serverPort } = await received()
  const authority = await Effect.runPromise(CertificateAuthority.make("Bench capture"))
  let count = 0
  const listener = makeListener({
    http2,
    recording: {
      sink: { begin: () => String((count += 1)), update: () => {}, finish: () => {} },
      timers,
      maxBodyBytes: 1_048_576
    },
    leaves: makeLeafCertificates(authority, await Effect.runPromise(CertificateAuthority.makeKey)),
    serverTls: makeServerTls({ timers, timeoutMs: 10_000, verifies: () => false, extraAuthority: () => String(ca) }),
    refusals: new Refusals(),
    isNeverDecrypted: () => false,
    idleTimeoutMs: 300_000,
    intercept: null
  })
  const front = createTcp({ allowHalfOpen: true }, (socket) =>
    listener.accept(socket, {
      name: null,
      address: "127.0.0.1",
      port: 443,
      labelOf: () => ({ source: "tproxy", agent: null }),
      dial: (_name, done) => {
        const server = connect({ host: "127.0.0.1", port: Number(serverPort), noDelay: true, allowHalfOpen: true })
        server.once("error", (error) => done(dialFailed(error, name))).once("connect", () => done(server))
      }
    })
  )
  process.send?.({ port: await portOf(front), ca: authority.certificate })
}

const median = (numbers: ReadonlyArray<number>): number =>
  numbers.toSorted((one, other) => one - other)[numbers.length >> 1] ?? 0

const drive = async (): Promise<void> => {
  const message = await received()
  const port = Number(message["port"])
  const ca = String(message["ca"])
  const agent = new Agent({ keepAlive: true, maxSockets: connections })
  const ask = (path: string): Promise<number> =>
    new Promise((resolve, reject) => {
      request({ host: "127.0.0.1", port, ca, servername: name, path, agent, headers: { Host: name } }, (answer) => {
        let bytes = 0
        answer.on("data", (chunk: Buffer) => (bytes += chunk.length)).on("end", () => resolve(bytes))
      })
        .on("error", reject)
        .end()
    })
  const rateFor = async (ms: number): Promise<number> => {
    const begun = performance.now()
    let done = 0
    const lane = async (): Promise<void> => {
      while (performance.now() - begun < ms) {
        await ask("/small")
        done += 1
      }
    }
    await Promise.all(Array.from({ length: connections }, lane))
    return (done * 1000) / (performance.now() - begun)
  }
  const handshake = async (servername: string): Promise<number> => {
    const begun = performance.now()
    const tls = connectTls({
      host: "127.0.0.1",
      port,
      ca,
      servername,
      ALPNProtocols: ["http/1.1"],
      // The server itself has one name.
      checkServerIdentity: () => undefined
    })
    await once(tls, "secureConnect")
    const ms = performance.now() - begun
    // A client that leaves without a word is taken to refuse the certificate.
    tls.write(`GET /small HTTP/1.1\r\nHost: ${servername}\r\n\r\n`)
    await once(tls, "data")
    tls.destroy()
    return ms
  }
  await rateFor(1_000)
  const requestsPerSecond = await rateFor(seconds * 1_000)
  const held: Array<number> = []
  const issued: Array<number> = []
  for (let count = 0; count < 200; count += 1) held.push(await handshake(name))
  for (let count = 0; count < 100; count += 1) issued.push(await handshake(`host-${count}.example.com`))
  const speeds: Array<number> = []
  for (let count = 0; count < 5; count += 1) {
    const begun = performance.now()
    const bytes = await ask("/large")
    speeds.push(bytes / 1e6 / ((performance.now() - begun) / 1000))
  }
  process.send?.({
    "requests/s": Math.round(requestsPerSecond),
    "handshake, kept certificate (ms)": median(held).toFixed(2),
    "handshake, new certificate (ms)": median(issued).toFixed(2),
    "20 MB (MB/s)": Math.round(median(speeds))
  })
}

const lead = async (): Promise<void> => {
  const start = (role: string) => fork(runner, [self], { env: { ...process.env, CAPTURE_BENCH_ROLE: role } })
  const told = async (child: ReturnType<typeof fork>): Promise<Record<string, unknown>> => {
    const [message] = (await once(child, "message")) as [Record<string, unknown>]
    return message
  }
  const server = start("serve")
  const captured = start("capture")
  const client = start("drive")
  const origin = await told(server)
  captured.send(origin)
  const front = await told(captured)
  client.send(front)
  console.log("captured", await told(client))
  client.kill()
  const direct = start("drive")
  direct.send(origin)
  console.log("direct", await told(direct))
  for (const child of [server, captured, direct]) child.kill()
}

const roles: Readonly<Record<string, () => Promise<void>>> = { serve, capture, drive }
await (roles[process.env["CAPTURE_BENCH_ROLE"] ?? ""] ?? lead)()
