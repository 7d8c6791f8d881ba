import { afterEach, assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { once } from "node:events"
import { connect, type Socket } from "node:net"
import { connect as connectTls } from "node:tls"
import * as HttpProxy from "../../../../src/observe/capture/proxy/HttpProxy.ts"
import { make as timers } from "../../../../src/platform/Timers.ts"
import { eventually } from "../../../support/eventually.ts"
import { makeSink, makeWorld, plainServer, rawServer, secureServer, sharedAuthorities, textOf } from "../tls/harness.ts"

const name = "api.example.com"
let closing: Array<() => unknown> = []

afterEach(async () => {
  for (const close of closing) await close()
  closing = []
})

const keep = async <A extends { readonly close: () => void }>(made: Promise<A>): Promise<A> => {
  const value = await made
  closing.push(value.close)
  return value
}

const proxyOf = async (options: Partial<HttpProxy.HttpProxyOptions> = {}) => {
  const sink = makeSink()
  const proxy = await Effect.runPromise(
    HttpProxy.start({
      port: 0,
      recording: { sink, timers, maxBodyBytes: 1_000_000 },
      idleTimeoutMs: 60_000,
      timeoutMs: 5_000,
      resolve: () => Promise.resolve(["127.0.0.1"]),
      source: () => "http-proxy",
      decrypting: () => null,
      ...options
    })
  )
  closing.push(() => Effect.runPromise(proxy.close))
  return { proxy, sink }
}

const open = (port: number): Socket => {
  const socket = connect({ host: "127.0.0.1", port })
  socket.on("error", () => {})
  closing.push(() => socket.destroy())
  return socket
}

const say = async (port: number, text: string): Promise<string> => {
  const socket = open(port)
  const chunks: Array<Buffer> = []
  socket.on("data", (chunk: Buffer) => chunks.push(chunk))
  socket.write(text)
  await once(socket, "close")
  return textOf(chunks)
}

/** What the socket has said so far, once it includes `wanted`. */
const heard = async (socket: Socket, wanted: string): Promise<string> => {
  let text = ""
  const onData = (chunk: Buffer): void => void (text += chunk.toString("latin1"))
  socket.on("data", onData).resume()
  await eventually(
    JSON.stringify(wanted),
    () => text,
    (said) => said.includes(wanted)
  )
  socket.off("data", onData)
  socket.pause()
  return text
}

describe("the HTTP proxy", () => {
  it("passes requests with an absolute URL on in origin form, without what is meant for the proxy", async () => {
    const server = await keep(
      plainServer((request, response) => response.end(`${request.url} ${JSON.stringify(request.rawHeaders)}`))
    )
    const { proxy, sink } = await proxyOf()
    const answer = await say(
      proxy.port,
      `GET http://plain.example:${server.port}/a?b=c HTTP/1.1\r\nHost: lie.example\r\nProxy-Authorization: Basic eA==\r\nProxy-Connection: keep-alive\r\nX-Hop: 1\r\nConnection: close, X-Hop\r\nX-Kept: 1\r\n\r\n`
    )
    const { end, request } = await sink.finished()
    assert.match(answer, /^HTTP\/1\.1 200 /u)
    assert.include(answer, `/a?b=c ["Host","plain.example:${server.port}","X-Kept","1"`)
    assert.notMatch(answer, /Proxy-|X-Hop/u)
    assert.deepStrictEqual(
      [request.source, request.scheme, request.host, request.path],
      ["http-proxy", "http", `plain.example:${server.port}`, "/a?b=c"]
    )
    assert.isNull(end.error)
    assert.strictEqual(end.head?.status, 200)
  })

  it("opens tunnels of which only host, port and time are recorded", async () => {
    const server = await keep(
      rawServer((socket) => socket.on("data", (chunk) => socket.end(`got ${chunk.toString()}`)))
    )
    const { proxy, sink } = await proxyOf()
    const socket = open(proxy.port)
    // The first bytes come with the request.
    socket.write(`CONNECT plain.example:${server.port} HTTP/1.1\r\nHost: x\r\n\r\nsecret`)
    const chunks: Array<Buffer> = []
    socket.on("data", (chunk: Buffer) => chunks.push(chunk))
    await once(socket, "close")
    assert.strictEqual(textOf(chunks), "HTTP/1.1 200 Connection Established\r\n\r\ngot secret")
    const { end, request } = await sink.finished()
    assert.strictEqual(end.tunnelled, "not_enabled")
    assert.deepStrictEqual(
      [request.method, request.host, request.server.port],
      ["CONNECT", "plain.example", server.port]
    )
    assert.notInclude(JSON.stringify(sink.entries), "secret")
    assert.strictEqual(end.requestBody.bytes, 6)
    assert.isNumber(end.sentMs)
  })

  it("hands tunnels to the listener where TLS is intercepted", async () => {
    const server = await keep(secureServer(name, (request, response) => response.end(`seen ${request.url}`)))
    const world = await keep(makeWorld(server.port))
    const { proxy } = await proxyOf({ decrypting: () => world.listener })
    const socket = open(proxy.port)
    socket.write(`CONNECT ${name}:${server.port} HTTP/1.1\r\nHost: ${name}\r\n\r\n`)
    await heard(socket, "\r\n\r\n")
    const tls = connectTls({ socket, servername: name, ca: world.ca })
    tls.write(`GET /inside HTTP/1.1\r\nHost: ${name}\r\nConnection: close\r\n\r\n`)
    const chunks: Array<Buffer> = []
    tls.on("data", (chunk: Buffer) => chunks.push(chunk))
    await once(tls, "end")
    assert.match(textOf(chunks), /seen \/inside$/u)
    const { request } = await world.sink.finished()
    assert.deepStrictEqual([request.source, request.host, request.path], ["http-proxy", name, "/inside"])
  })

  it("passes a WebSocket over plain HTTP on", async () => {
    const server = await keep(
      rawServer((socket) =>
        socket.once("data", (chunk: Buffer) => {
          assert.match(chunk.toString(), /^GET \/live HTTP\/1\.1\r\n[^]*Upgrade: websocket/u)
          socket.write("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n")
          socket.on("data", (more: Buffer) => socket.end(`echo ${more.toString()}`))
        })
      )
    )
    const { proxy } = await proxyOf()
    const socket = open(proxy.port)
    socket.write(
      `GET http://plain.example:${server.port}/live HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n`
    )
    assert.match(await heard(socket, "\r\n\r\n"), /^HTTP\/1\.1 101 /u)
    socket.write("ping")
    assert.strictEqual(await heard(socket, "echo ping"), "echo ping")
  })

  it.each([
    ["in origin form", "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"],
    ["for https without CONNECT", "GET https://api.example.com/ HTTP/1.1\r\nHost: x\r\n\r\n"],
    ["with credentials in the URL", "GET http://u:p@api.example.com/ HTTP/1.1\r\nHost: x\r\n\r\n"],
    ["to open a tunnel without a port", "CONNECT api.example.com HTTP/1.1\r\nHost: x\r\n\r\n"],
    ["to open a tunnel to port 65536", "CONNECT api.example.com:65536 HTTP/1.1\r\nHost: x\r\n\r\n"],
    ["that are none", "nonsense\r\n\r\n"]
  ])("answers 400 to requests %s", async (_, text) => {
    const { proxy } = await proxyOf()
    assert.match(await say(proxy.port, text), /^HTTP\/1\.1 400 /u)
    await eventually(
      "no connection",
      () => proxy.connections(),
      (count) => count === 0
    )
  })

  it.each(["169.254.169.254", "metadata.google.internal", "[fd00:ec2::254]", "rebound.example", "0.0.0.0"])(
    "refuses the cloud-metadata target %s, by tunnel and by URL",
    async (target) => {
      const { proxy, sink } = await proxyOf({ resolve: () => Promise.resolve(["127.0.0.1", "169.254.169.254"]) })
      assert.match(await say(proxy.port, `CONNECT ${target}:80 HTTP/1.1\r\nHost: x\r\n\r\n`), /^HTTP\/1\.1 403 /u)
      assert.match(
        await say(proxy.port, `GET http://${target}/latest HTTP/1.1\r\nHost: x\r\n\r\n`),
        /^HTTP\/1\.1 403 /u
      )
      const codes = sink.entries.map((entry) => entry.end?.error?.code)
      assert.deepStrictEqual(codes, ["REFUSED_ADDRESS", "REFUSED_ADDRESS"])
    }
  )

  it("refuses to connect to itself, by whatever name", async () => {
    const { proxy } = await proxyOf()
    for (const target of ["127.0.0.1", "localhost", "[::1]", "some.example"]) {
      assert.match(
        await say(proxy.port, `CONNECT ${target}:${proxy.port} HTTP/1.1\r\nHost: x\r\n\r\n`),
        /^HTTP\/1\.1 400 /u
      )
      assert.match(
        await say(proxy.port, `GET http://${target}:${proxy.port}/ HTTP/1.1\r\nHost: x\r\n\r\n`),
        /^HTTP\/1\.1 400 /u
      )
    }
  })

  it("answers 502 for a server that is not there, and records why", async () => {
    const gone = await rawServer(() => {})
    gone.close()
    const { proxy, sink } = await proxyOf()
    assert.match(
      await say(proxy.port, `CONNECT plain.example:${gone.port} HTTP/1.1\r\nHost: x\r\n\r\n`),
      /^HTTP\/1\.1 502 /u
    )
    assert.match(
      await say(proxy.port, `GET http://plain.example:${gone.port}/ HTTP/1.1\r\nHost: x\r\n\r\n`),
      /^HTTP\/1\.1 502 /u
    )
    assert.deepStrictEqual(
      sink.entries.map((entry) => entry.end?.error?.code),
      ["ECONNREFUSED", "ECONNREFUSED"]
    )
  })

  it("answers 504 for a server that does not answer in time, and 502 for a name without an address", async () => {
    const due: Array<() => void> = []
    const slow = {
      ...timers,
      after: (_delayMs: number, run: () => void) => {
        due.push(run)
        return { restart: () => {}, cancel: () => {} }
      }
    }
    const { proxy } = await proxyOf({
      resolve: () => new Promise(() => {}),
      recording: { sink: makeSink(), timers: slow, maxBodyBytes: 0 }
    })
    const late = say(proxy.port, "CONNECT slow.example:443 HTTP/1.1\r\nHost: x\r\n\r\n")
    await eventually(
      "the timers of a client and a dial",
      () => due.length,
      (count) => count === 2
    )
    for (const run of due.splice(0)) run()
    assert.match(await late, /^HTTP\/1\.1 504 /u)
    const unknown = await proxyOf({
      resolve: () => Promise.reject(Object.assign(new Error("no"), { code: "ENOTFOUND" }))
    })
    assert.match(
      await say(unknown.proxy.port, "CONNECT no.example:443 HTTP/1.1\r\nHost: x\r\n\r\n"),
      /^HTTP\/1\.1 502 [^]*ENOTFOUND/u
    )
  })

  it("says which port is taken", async () => {
    const { proxy } = await proxyOf()
    const error = await Effect.runPromise(
      Effect.flip(
        HttpProxy.start({
          port: proxy.port,
          recording: { sink: makeSink(), timers, maxBodyBytes: 0 },
          idleTimeoutMs: 1_000,
          timeoutMs: 1_000,
          resolve: () => Promise.resolve([]),
          source: () => "http-proxy",
          decrypting: () => null
        })
      )
    )
    assert.strictEqual(error._tag, "CapturePortInUse")
    assert.strictEqual(error.port, proxy.port)
  })

  it("leaves nothing open when it is closed, tunnels included", async () => {
    const server = await keep(rawServer(() => {}))
    const { internet } = await sharedAuthorities()
    assert.isString(internet.authority.certificate)
    const { proxy } = await proxyOf()
    const socket = open(proxy.port)
    socket.write(`CONNECT plain.example:${server.port} HTTP/1.1\r\nHost: x\r\n\r\n`)
    await heard(socket, "\r\n\r\n")
    socket.resume()
    const ended = once(socket, "close")
    await Effect.runPromise(proxy.close)
    await ended
    await eventually(
      "no connection",
      () => proxy.connections(),
      (count) => count === 0
    )
  })
})
