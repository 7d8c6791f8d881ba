/** Every kind of client and server that the listener may meet, over real sockets. */
import { afterEach, assert, describe, it } from "@effect/vitest"
import { once } from "node:events"
import { Agent } from "node:https"
import { connect as connectTcp, type Socket } from "node:net"
import { connect as connectTls } from "node:tls"
import { WebSocket, WebSocketServer } from "ws"
import { sniffLimits } from "../../../../src/observe/capture/tls/FirstBytes.ts"
import { make as nativeTimers } from "../../../../src/platform/Timers.ts"
import { eventually } from "../../../support/eventually.ts"
import {
  askThrough,
  makeWorld,
  plainServer,
  rawServer,
  secureServer,
  sharedAuthorities,
  textOf,
  type WorldOptions
} from "./harness.ts"
import { helloOf } from "./hellos.ts"

const name = "api.example.com"
let closing: Array<() => void> = []

afterEach(() => {
  for (const close of closing) close()
  closing = []
})

const keep = async <A extends { readonly close: () => void }>(made: Promise<A>): Promise<A> => {
  const value = await made
  closing.push(value.close)
  return value
}

const worldOf = (server: { readonly port: number }, options: WorldOptions = {}) => keep(makeWorld(server.port, options))

const echo = () =>
  keep(
    secureServer(name, (request, response) => {
      const chunks: Array<Buffer> = []
      request.on("data", (chunk: Buffer) => chunks.push(chunk))
      request.on("end", () => {
        response.setHeader("Set-Cookie", ["a=1", "b=2"])
        response.setHeader("X-Seen", JSON.stringify(request.rawHeaders))
        response.end(`${request.method} ${request.url} ${textOf(chunks)}`)
      })
    })
  )

const received = async (socket: Socket): Promise<string> => {
  const chunks: Array<Buffer> = []
  socket.on("data", (chunk: Buffer) => chunks.push(chunk))
  await once(socket, "close")
  return textOf(chunks)
}

describe("the listener", () => {
  it("decrypts HTTP/1.1 of a client that names its server, and passes both ways on as they came", async () => {
    const world = await worldOf(await echo())
    const answer = await askThrough(world, {
      servername: name,
      method: "POST",
      path: "/v1/messages?beta=true",
      headers: { Host: name, "X-Api-Key": "k", "x-MiXeD": "Case" },
      body: "hello"
    })
    assert.strictEqual(answer.status, 200)
    assert.strictEqual(answer.body, "POST /v1/messages?beta=true hello")
    const seen: Array<string> = JSON.parse(answer.rawHeaders[answer.rawHeaders.indexOf("X-Seen") + 1] ?? "[]")
    assert.includeMembers(seen, ["x-MiXeD", "Case", "X-Api-Key", "k"])
    assert.strictEqual(seen.filter((text) => text.toLowerCase() === "host").length, 1)
    assert.strictEqual(answer.rawHeaders.filter((text) => text === "Set-Cookie").length, 2)
    assert.strictEqual(answer.rawHeaders.filter((text) => text.toLowerCase() === "date").length, 1)
    const { end, head, request } = await world.sink.finished()
    assert.strictEqual(request.source, "tproxy")
    assert.strictEqual(request.scheme, "https")
    assert.strictEqual(request.host, name)
    assert.strictEqual(request.serverName, name)
    assert.strictEqual(request.path, "/v1/messages?beta=true")
    assert.strictEqual(request.method, "POST")
    assert.strictEqual(textOf(end.requestBody.chunks), "hello")
    assert.strictEqual(textOf(end.responseBody.chunks), answer.body)
    assert.strictEqual(head?.status, 200)
    assert.isNull(end.error)
    assert.isNull(end.tunnelled)
  })

  it("reads a hello that comes in pieces of one byte", async () => {
    const world = await worldOf(await echo())
    const pieces = await keep(
      rawServer((client) => {
        const front = connectTcp({ host: "127.0.0.1", port: world.port, noDelay: true })
        client.on("data", (chunk: Buffer) => {
          for (const byte of chunk) front.write(Buffer.from([byte]))
        })
        client.on("close", () => front.destroy())
        front.on("error", () => {}).pipe(client)
      })
    )
    const tls = connectTls({
      host: "127.0.0.1",
      port: pieces.port,
      servername: name,
      ca: world.ca,
      ALPNProtocols: ["http/1.1"]
    })
    tls.write(`GET /slow HTTP/1.1\r\nHost: ${name}\r\nConnection: close\r\n\r\n`)
    assert.match(await received(tls), /GET \/slow /u)
  })

  it("gives a client without a server name a certificate for the address, and verifies the server's for it", async () => {
    const server = await keep(secureServer("127.0.0.1", (_, response) => response.end("by address")))
    const world = await worldOf(server)
    const answer = await askThrough(world, { servername: "", path: "/", headers: { Host: "elsewhere.example" } })
    assert.strictEqual(answer.body, "by address")
    const { request } = await world.sink.finished()
    assert.isNull(request.serverName)
    assert.strictEqual(request.host, "elsewhere.example")
  })

  it("answers HTTP/1.1 to a client that would like HTTP/2 as well, where its server speaks none", async () => {
    const world = await worldOf(await echo())
    const tls = connectTls({
      host: "127.0.0.1",
      port: world.port,
      servername: name,
      ca: world.ca,
      ALPNProtocols: ["h2", "http/1.1"]
    })
    await once(tls, "secureConnect")
    assert.strictEqual(tls.alpnProtocol, "http/1.1")
    tls.destroy()
  })

  it("passes a WebSocket on, in frames that can be read", async () => {
    const sockets = new WebSocketServer({ noServer: true, perMessageDeflate: true })
    const server = await keep(
      secureServer(
        name,
        () => {},
        "internet",
        (https) =>
          https.on("upgrade", (request, socket, head) =>
            sockets.handleUpgrade(request, socket, head, (client) => {
              client.send("hello first")
              client.on("message", (data) => client.send(`echo ${String(data)}`))
            })
          )
      )
    )
    const world = await worldOf(server)
    const client = new WebSocket(`wss://${name}:${world.port}/live`, [], {
      ca: world.ca,
      lookup: (_host, _options, done) => done(null, [{ address: "127.0.0.1", family: 4 }])
    })
    const messages: Array<string> = []
    client.on("message", (data) => messages.push(String(data)))
    await once(client, "open")
    assert.strictEqual(client.extensions, "")
    client.send("one")
    await eventually(
      "two messages",
      () => messages.length,
      (count) => count === 2
    )
    assert.deepStrictEqual(messages, ["hello first", "echo one"])
    client.close()
    await once(client, "close")
    const { end, head, request } = await world.sink.finished()
    assert.strictEqual(request.scheme, "wss")
    assert.strictEqual(head?.status, 101)
    assert.strictEqual(textOf(end.responseBody.chunks), "hello first\necho one\n")
    assert.strictEqual(textOf(end.requestBody.chunks), "one\n")
    assert.isNull(end.error)
  })

  it("refuses an upgrade by itself where the client is to speak HTTP, and records that", async () => {
    const server = await keep(secureServer(name, (_, response) => response.end("served")))
    const asked: Array<string> = []
    const world = await worldOf(server, {
      refusesUpgrade: ({ url = "" }, { serverName }) => {
        asked.push(`${serverName} ${url}`)
        return url === "/live"
      }
    })
    const headers = { Host: name, Connection: "Upgrade", Upgrade: "websocket" }
    const answer = await askThrough(world, { servername: name, path: "/live", headers })
    assert.strictEqual(answer.status, 426)
    const { end, head, request } = await world.sink.finished()
    assert.deepStrictEqual([request.path, head?.status, end.error], ["/live", 426, null])
    assert.deepStrictEqual(asked, [`${name} /live`])
    const other = await askThrough(world, { servername: name, path: "/plain", headers: { Host: name } })
    assert.strictEqual(other.body.toString(), "served")
  })

  it("waits for a client that is silent at first, where nothing else could tell its server", async () => {
    const server = await keep(secureServer(name, (_, response) => response.end("served")))
    const waits: Array<number> = []
    const timers: typeof nativeTimers = {
      ...nativeTimers,
      after: (ms, run) => {
        waits.push(ms)
        return nativeTimers.after(ms, run)
      }
    }
    const nameless = await worldOf(server, { timers, origin: { name: null, address: null } })
    const answer = await askThrough(nameless, { servername: name, headers: { Host: name } })
    assert.strictEqual(answer.body.toString(), "served")
    assert.notInclude(waits, sniffLimits.silenceMs)
    const known = await worldOf(server, { timers })
    await askThrough(known, { servername: name, headers: { Host: name } })
    assert.include(waits, sniffLimits.silenceMs)
  })

  it("passes a refused upgrade on", async () => {
    const server = await keep(
      secureServer(
        name,
        () => {},
        "internet",
        (https) =>
          https.on("upgrade", (_, socket) => socket.end("HTTP/1.1 403 Forbidden\r\ncontent-length: 2\r\n\r\nno"))
      )
    )
    const world = await worldOf(server)
    const answer = await askThrough(world, {
      servername: name,
      path: "/live",
      headers: {
        Host: name,
        Connection: "Upgrade",
        Upgrade: "websocket",
        "Sec-WebSocket-Extensions": "permessage-deflate"
      }
    })
    assert.deepStrictEqual([answer.status, answer.body], [403, "no"])
    const { head } = await world.sink.finished()
    assert.strictEqual(head?.status, 403)
  })

  it("passes a stream on event by event, its head before its first event", async () => {
    const steps: Array<() => void> = []
    const server = await keep(
      secureServer(name, (_, response) => {
        response.writeHead(200, { "content-type": "text/event-stream" })
        response.flushHeaders()
        steps.push(
          () => response.write("data: 1\n\n"),
          () => response.end("data: 2\n\n")
        )
      })
    )
    const world = await worldOf(server)
    const tls = connectTls({ host: "127.0.0.1", port: world.port, servername: name, ca: world.ca })
    let seen = ""
    tls.setEncoding("utf8").on("data", (text: string) => (seen += text))
    tls.write(`GET /stream HTTP/1.1\r\nHost: ${name}\r\n\r\n`)
    await eventually(
      "the head",
      () => seen,
      (text) => text.includes("\r\n\r\n")
    )
    assert.notInclude(seen, "data:")
    steps[0]?.()
    await eventually(
      "the first event",
      () => seen,
      (text) => text.includes("data: 1")
    )
    assert.notInclude(seen, "data: 2")
    steps[1]?.()
    await eventually(
      "the end",
      () => seen,
      (text) => text.endsWith("0\r\n\r\n")
    )
    tls.destroy()
  })

  it("passes trailers and 100-continue on", async () => {
    const server = await keep(
      secureServer(name, (request, response) => {
        request.resume().on("end", () => {
          response.writeHead(200, { trailer: "x-cost" })
          response.write("body")
          response.addTrailers({ "x-cost": "0.1" })
          response.end()
        })
      })
    )
    const world = await worldOf(server)
    const tls = connectTls({ host: "127.0.0.1", port: world.port, servername: name, ca: world.ca })
    let seen = ""
    tls.setEncoding("utf8").on("data", (text: string) => (seen += text))
    tls.write(`POST / HTTP/1.1\r\nHost: ${name}\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n`)
    await eventually(
      "100",
      () => seen,
      (text) => text.startsWith("HTTP/1.1 100 Continue\r\n\r\n")
    )
    tls.write("hi")
    await eventually(
      "the trailer",
      () => seen,
      (text) => text.endsWith("0\r\nx-cost: 0.1\r\n\r\n")
    )
    tls.destroy()
  })

  it("relays plain HTTP on the port", async () => {
    const server = await keep(plainServer((request, response) => response.end(`plain ${request.url}`)))
    const world = await worldOf(server)
    const socket = connectTcp({ host: "127.0.0.1", port: world.port })
    socket.write("GET /x HTTP/1.1\r\nHost: plain.example\r\nConnection: close\r\n\r\n")
    assert.match(await received(socket), /plain \/x/u)
    const { request } = await world.sink.finished()
    assert.deepStrictEqual([request.scheme, request.host], ["http", "plain.example"])
  })

  it("hands a connection on where the server speaks first", async () => {
    const server = await keep(
      rawServer((socket) => {
        socket.write("220 ready\r\n")
        socket.on("data", (chunk: Buffer) => socket.end(`got ${chunk.toString()}`))
      })
    )
    const world = await worldOf(server)
    const socket = connectTcp({ host: "127.0.0.1", port: world.port })
    const [greeting] = (await once(socket, "data")) as [Buffer]
    assert.strictEqual(greeting.toString(), "220 ready\r\n")
    socket.write("EHLO")
    assert.strictEqual(await received(socket), "got EHLO")
    const { end } = await world.sink.finished()
    assert.strictEqual(end.tunnelled, "not_http")
    assert.strictEqual(end.requestBody.bytes, 4)
    assert.isNull(end.error)
  })

  it("hands unknown bytes on, and the end of one side alone", async () => {
    const server = await keep(
      rawServer((socket) => {
        let size = 0
        socket.on("data", (chunk: Buffer) => (size += chunk.length)).on("end", () => socket.end(`${size} bytes`))
      })
    )
    const world = await worldOf(server)
    const socket = connectTcp({ host: "127.0.0.1", port: world.port, allowHalfOpen: true })
    socket.end(Buffer.alloc(100_000, 1))
    assert.strictEqual(await received(socket), "100000 bytes")
  })

  it("answers 502 for a server whose certificate is not good, with the reason in the record", async () => {
    for (const [signer, served, code] of [
      ["stranger", name, "UNABLE_TO_VERIFY_LEAF_SIGNATURE"],
      ["internet", "other.example.com", "ERR_TLS_CERT_ALTNAME_INVALID"]
    ] as const) {
      const server = await keep(secureServer(served, (_, response) => response.end("secret"), signer))
      const world = await worldOf(server)
      const answer = await askThrough(world, { servername: name, path: "/", headers: { Host: name } })
      assert.strictEqual(answer.status, 502)
      assert.include(answer.body, code)
      const { end, head } = await world.sink.finished()
      assert.strictEqual(end.error?.code, code)
      assert.isNull(head)
    }
  })

  it("takes any certificate of a server where verification is switched off", async () => {
    const server = await keep(secureServer(name, (_, response) => response.end("taken"), "stranger"))
    const world = await worldOf(server, { verifies: false })
    assert.strictEqual(
      (await askThrough(world, { servername: name, path: "/", headers: { Host: name } })).body,
      "taken"
    )
  })

  it("answers 502 where the server cannot be reached", async () => {
    const gone = await rawServer(() => {})
    gone.close()
    const world = await worldOf(gone)
    const answer = await askThrough(world, { servername: name, path: "/", headers: { Host: name } })
    assert.strictEqual(answer.status, 502)
    assert.strictEqual((await world.sink.finished()).end.error?.code, "ECONNREFUSED")
  })

  it("tunnels a host whose client says that it does not trust the authority, and tells it once", async () => {
    const { internet } = await sharedAuthorities()
    const world = await worldOf(await echo())
    const { execFile } = await import("node:child_process")
    const { mkdtempSync, rmSync, writeFileSync } = await import("node:fs")
    const { tmpdir } = await import("node:os")
    const folder = mkdtempSync(`${tmpdir()}/gateway-listener-`)
    closing.push(() => rmSync(folder, { recursive: true, force: true }))
    writeFileSync(`${folder}/ca.pem`, internet.authority.certificate)
    const curl = () =>
      new Promise<{ readonly code: unknown; readonly text: string }>((resolve) => {
        execFile(
          "curl",
          [
            "-s",
            "--noproxy",
            "*",
            "--cacert",
            `${folder}/ca.pem`,
            "--resolve",
            `${name}:${world.port}:127.0.0.1`,
            `https://${name}:${world.port}/pinned`
          ],
          (error, text) => resolve({ code: error?.code ?? 0, text })
        )
      })
    assert.strictEqual((await curl()).code, 60)
    await eventually(
      "the refusal",
      () => world.refusals.tunnelled(Date.now()).length,
      (count) => count === 1
    )
    const again = await curl()
    assert.strictEqual(again.text, "GET /pinned ")
    await curl()
    const { end } = await world.sink.finished((entry) => entry.end?.tunnelled !== null)
    assert.strictEqual(end.tunnelled, "client_refused")
    assert.strictEqual(world.sink.entries.filter((entry) => entry.end?.error?.code === "CLIENT_REFUSED_CA").length, 1)
    assert.strictEqual(world.refusals.tunnelled(Date.now())[0]?.why, "alert")
  })

  it("tunnels a host whose client leaves twice without a word", async () => {
    const { internet } = await sharedAuthorities()
    const world = await worldOf(await echo())
    const ask = () =>
      askThrough(
        { port: world.port, ca: internet.authority.certificate },
        { servername: name, path: "/node", headers: { Host: name } }
      )
    for (let attempt = 0; attempt < 2; attempt += 1) {
      const failed = await ask().then(
        () => null,
        (error: NodeJS.ErrnoException) => error.code
      )
      assert.strictEqual(failed, "UNABLE_TO_VERIFY_LEAF_SIGNATURE")
      await eventually(
        "the end",
        () => world.listener.connections(),
        (count) => count === 0
      )
    }
    assert.strictEqual((await ask()).body, "GET /node ")
    assert.strictEqual(world.refusals.tunnelled(Date.now())[0]?.why, "no_bytes")
  })

  it("does not touch hosts that are never decrypted", async () => {
    const { internet } = await sharedAuthorities()
    const world = await worldOf(await echo(), { isNeverDecrypted: (host) => host === name })
    const answer = await askThrough(
      { port: world.port, ca: internet.authority.certificate },
      { servername: name, path: "/mine", headers: { Host: name } }
    )
    assert.strictEqual(answer.body, "GET /mine ")
    const { end, request } = await world.sink.finished()
    assert.strictEqual(end.tunnelled, "never_decrypt")
    assert.deepStrictEqual([request.host, request.method, request.path], [name, "CONNECT", ""])
  })

  it("shows both names of a client that fronts one domain by another", async () => {
    const world = await worldOf(await echo())
    const answer = await askThrough(world, { servername: name, path: "/", headers: { Host: "hidden.example" } })
    assert.strictEqual(answer.status, 200)
    const { request } = await world.sink.finished()
    assert.deepStrictEqual([request.host, request.serverName], ["hidden.example", name])
  })

  it.each([
    ["300 bytes", "a".repeat(300)],
    ["control characters", "api.example.com\r\nX: y"]
  ])("refuses a server name of %s with an alert and an entry", async (_, serverName) => {
    const world = await worldOf(await echo())
    const socket = connectTcp({ host: "127.0.0.1", port: world.port })
    socket.write(helloOf({ serverName, protocols: [] }))
    const chunks: Array<Buffer> = []
    socket.on("data", (chunk: Buffer) => chunks.push(chunk))
    await once(socket, "close")
    assert.deepStrictEqual(Buffer.concat(chunks), Buffer.from([21, 3, 3, 0, 2, 2, 112]))
    const { end, request } = await world.sink.finished()
    assert.strictEqual(end.error?.code, "BAD_SERVER_NAME")
    assert.notInclude(JSON.stringify(request), serverName)
    await eventually(
      "nothing left",
      () => world.listener.connections(),
      (count) => count === 0
    )
  })

  it("keeps one connection to the server for each of a client, and ends it with it", async () => {
    let connections = 0
    const open = new Set<Socket>()
    const server = await keep(
      secureServer(
        name,
        (_, response) => response.end("ok"),
        "internet",
        (https) =>
          https.on("secureConnection", (socket: Socket) => {
            connections += 1
            open.add(socket)
            socket.once("close", () => open.delete(socket))
          })
      )
    )
    const world = await worldOf(server)
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    for (let count = 0; count < 5; count += 1) {
      const answer = await askThrough(world, { servername: name, path: "/", headers: { Host: name }, agent })
      assert.strictEqual(answer.body, "ok")
    }
    assert.strictEqual(connections, 1)
    agent.destroy()
    await eventually(
      "no connection to the server",
      () => open.size,
      (size) => size === 0
    )
  })

  it("ends the client's connection where the server ended its own between two requests", async () => {
    const server = await keep(
      secureServer(
        name,
        (_, response) => response.end("ok"),
        "internet",
        (https) => {
          https.keepAliveTimeout = 1
        }
      )
    )
    const world = await worldOf(server)
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    closing.push(() => agent.destroy())
    await askThrough(world, { servername: name, path: "/", headers: { Host: name }, agent })
    await eventually(
      "the client's end",
      () => world.listener.connections(),
      (count) => count === 0
    )
    assert.strictEqual(
      (await askThrough(world, { servername: name, path: "/", headers: { Host: name }, agent })).body,
      "ok"
    )
  })

  it("breaks an answer for the client where the server broke it", async () => {
    const server = await keep(
      secureServer(name, (_, response) => {
        response.writeHead(200, { "content-length": "100" })
        response.write("half", () => response.destroy())
      })
    )
    const world = await worldOf(server)
    const failed = await askThrough(world, { servername: name, path: "/", headers: { Host: name } }).then(
      () => null,
      (error: NodeJS.ErrnoException) => error.code
    )
    assert.strictEqual(failed, "ECONNRESET")
    const { end, head } = await world.sink.finished()
    assert.strictEqual(head?.status, 200)
    assert.strictEqual(end.error?.code, "ECONNRESET")
    assert.strictEqual(textOf(end.responseBody.chunks), "half")
  })

  it("ends the call to the server when the client leaves", async () => {
    const gone: Array<string> = []
    const server = await keep(
      secureServer(name, (request, response) => {
        response.writeHead(200)
        response.write("first")
        request.once("close", () => gone.push("closed"))
      })
    )
    const world = await worldOf(server)
    const tls = connectTls({ host: "127.0.0.1", port: world.port, servername: name, ca: world.ca })
    tls.write(`GET / HTTP/1.1\r\nHost: ${name}\r\n\r\n`)
    await once(tls, "data")
    tls.destroy()
    await eventually(
      "the server's end",
      () => gone.length,
      (count) => count === 1
    )
    assert.strictEqual((await world.sink.finished()).end.error?.code, "ECONNABORTED")
  })

  it("forwards a large body whole and copies its beginning alone", async () => {
    const size = 8 * 1_048_576
    const body = Buffer.alloc(size, "x")
    const world = await worldOf(await echo(), { maxBodyBytes: 1_000 })
    const answer = await askThrough(world, {
      servername: name,
      method: "POST",
      path: "/",
      headers: { Host: name },
      body
    })
    assert.strictEqual(answer.body.length, "POST / ".length + size)
    const { end } = await world.sink.finished()
    assert.strictEqual(end.requestBody.bytes, size)
    assert.strictEqual(Buffer.concat(end.requestBody.chunks).length, 1_000)
    assert.strictEqual(end.responseBody.bytes, answer.body.length)
    assert.strictEqual(Buffer.concat(end.responseBody.chunks).length, 1_000)
  })

  it("holds a server back whose client does not read", async () => {
    let written = 0
    const chunk = Buffer.alloc(65_536)
    const server = await keep(
      secureServer(name, (_, response) => {
        const more = (): void => {
          while (written < 512 * 1_048_576) {
            written += chunk.length
            if (!response.write(chunk)) return void response.once("drain", more)
          }
        }
        more()
      })
    )
    const world = await worldOf(server)
    const tls = connectTls({ host: "127.0.0.1", port: world.port, servername: name, ca: world.ca })
    tls.write(`GET / HTTP/1.1\r\nHost: ${name}\r\n\r\n`)
    await once(tls, "readable")
    let last = -1
    await eventually(
      "a standstill",
      () => {
        const moved = written - last
        last = written
        return moved
      },
      (moved) => moved === 0,
      { everyMs: 150 }
    )
    assert.isBelow(written, 64 * 1_048_576)
    tls.destroy()
  })

  it("answers 400 to what is no HTTP inside TLS", async () => {
    const world = await worldOf(await echo())
    const tls = connectTls({ host: "127.0.0.1", port: world.port, servername: name, ca: world.ca })
    tls.write("\x00\x01\x02 nonsense\r\n\r\n")
    assert.match(await received(tls), /^HTTP\/1\.1 400/u)
    assert.deepStrictEqual(world.refusals.tunnelled(Date.now()), [])
  })

  it("ends sockets over which nothing goes, and no other", async () => {
    const due: Array<() => void> = []
    const { make: native } = await import("../../../../src/platform/Timers.ts")
    const idleTimeoutMs = 60_000
    const timers = {
      ...native,
      after: (delayMs: number, run: () => void) => {
        if (delayMs !== idleTimeoutMs / 4) return native.after(delayMs, run)
        due.push(run)
        return { restart: () => {}, cancel: () => {} }
      }
    }
    const pass = (): void => {
      for (const run of due.splice(0)) run()
    }
    const world = await worldOf(await echo(), { idleTimeoutMs, timers })
    const open = async () => {
      const tls = connectTls({ host: "127.0.0.1", port: world.port, servername: name, ca: world.ca })
      tls.on("error", () => {})
      tls.write(`GET / HTTP/1.1\r\nHost: ${name}\r\n\r\n`)
      await once(tls, "data")
      return tls
    }
    const quiet = await open()
    const busy = await open()
    const ended = once(quiet, "close")
    for (let look = 0; look < 6; look += 1) {
      pass()
      busy.write(`GET / HTTP/1.1\r\nHost: ${name}\r\n\r\n`)
      await once(busy, "data")
    }
    await ended
    assert.isFalse(busy.destroyed)
    busy.destroy()
  })

  it("answers in place of the server where something intercepts", async () => {
    const world = await worldOf(await echo(), {
      intercept: (request, response, { serverName }) => {
        if (request.url !== "/mine") return false
        response.end(`for ${serverName}`)
        return true
      }
    })
    const ask = (path: string) => askThrough(world, { servername: name, path, headers: { Host: name } })
    assert.strictEqual((await ask("/mine")).body, `for ${name}`)
    assert.strictEqual((await ask("/other")).body, "GET /other ")
  })

  it("takes nothing after it was closed, and leaves nothing open", async () => {
    const world = await worldOf(await echo())
    const tls = connectTls({ host: "127.0.0.1", port: world.port, servername: name, ca: world.ca })
    await once(tls, "secureConnect")
    tls.on("error", () => {})
    // Whether the other side ends with a reset is up to the kernel.
    const closed = (socket: NodeJS.EventEmitter) => new Promise<void>((done) => socket.once("close", () => done()))
    const isClosed = closed(tls)
    assert.strictEqual(world.listener.close(), 1)
    await isClosed
    const late = connectTcp({ host: "127.0.0.1", port: world.port })
    late.on("error", () => {})
    await closed(late)
    assert.strictEqual(world.listener.connections(), 0)
  })
})
