/** HTTP/2 through the listener: real clients and servers, over real sockets. */
import { afterEach, assert, describe, it } from "@effect/vitest"
import { execFile } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { type ClientHttp2Stream, constants, type ServerHttp2Stream, sensitiveHeaders } from "node:http2"
import { connect as connectTcp, type Socket } from "node:net"
import { tmpdir } from "node:os"
import { connect as connectTls } from "node:tls"
import { Agent as UndiciAgent, fetch as undiciFetch } from "undici"
import { http2Limits } from "../../../../src/observe/capture/tls/Http2Relay.ts"
import { resetLimits } from "../../../../src/observe/capture/tls/ResetBudget.ts"
import { eventually } from "../../../support/eventually.ts"
import {
  askThrough,
  makeWorld,
  rawServer,
  secureServer,
  sharedAuthorities,
  textOf,
  type WorldOptions
} from "./harness.ts"
import { frame, frameTypes, goawaysOf, literal, requestFrame } from "./frames.ts"
import {
  answerOf,
  ask,
  type Client,
  closed,
  http2Client,
  http2Server,
  type OnStream,
  plainHttp2Client,
  plainHttp2Server,
  rawClient
} from "./http2Harness.ts"

const name = "api.example.com"
let closing: Array<() => void> = []

afterEach(() => {
  for (const close of closing.toReversed()) close()
  closing = []
})

const keep = async <A extends { readonly close: () => void }>(made: A | Promise<A>): Promise<A> => {
  const value = await made
  closing.push(value.close)
  return value
}

const worldOf = (server: { readonly port: number }, options: WorldOptions = {}) => keep(makeWorld(server.port, options))
const serverOf = (
  onStream: OnStream,
  ...more: Parameters<typeof http2Server> extends [string, OnStream, ...infer Rest] ? Rest : never
) => keep(http2Server(name, onStream, ...more))
const clientOf = (...given: Parameters<typeof http2Client>): Promise<Client> => keep(http2Client(...given))

const echo: OnStream = (stream, headers, raw) => {
  const chunks: Array<Buffer> = []
  stream.on("data", (chunk: Buffer) => chunks.push(chunk))
  stream.on("end", () => {
    stream.respond({
      ":status": 200,
      "set-cookie": ["a=1", "b=2"],
      "x-seen": JSON.stringify(raw)
    })
    stream.end(`${headers[":method"]} ${headers[":path"]} ${textOf(chunks)}`)
  })
}

/** Of a TLS handshake that offers `protocols`. */
const protocolOf = async (world: { readonly port: number; readonly ca: string }, protocols: ReadonlyArray<string>) => {
  const tls = connectTls({
    host: "127.0.0.1",
    port: world.port,
    servername: name,
    ca: world.ca,
    ALPNProtocols: [...protocols]
  })
  closing.push(() => tls.destroy())
  await once(tls, "secureConnect")
  return tls.alpnProtocol
}

const program = (
  file: string,
  args: ReadonlyArray<string>
): Promise<{ readonly code: unknown; readonly text: string }> =>
  new Promise((resolve) => {
    execFile(file, [...args], { timeout: 20_000 }, (error, text) => resolve({ code: error?.code ?? 0, text }))
  })

const caFileOf = (ca: string): string => {
  const folder = mkdtempSync(`${tmpdir()}/gateway-http2-`)
  closing.push(() => rmSync(folder, { recursive: true, force: true }))
  writeFileSync(`${folder}/ca.pem`, ca)
  return `${folder}/ca.pem`
}

const curl = (world: { readonly port: number; readonly ca: string }, path: string, ...more: ReadonlyArray<string>) =>
  program("curl", [
    "-s",
    "--http2",
    "--noproxy",
    "*",
    "--cacert",
    caFileOf(world.ca),
    "-w",
    "|%{http_version} %{http_code}",
    "--resolve",
    `${name}:${world.port}:127.0.0.1`,
    `https://${name}:${world.port}${path}`,
    ...more
  ])

describe("HTTP/2 of a client whose server speaks it", () => {
  it("goes by both ways as it came, and is recorded with its version", async () => {
    const world = await worldOf(await serverOf(echo))
    const client = await clientOf(world, name)
    const answer = await ask(
      client,
      {
        ":method": "POST",
        ":path": "/v1/messages?beta=true",
        "x-api-key": "k",
        "x-twice": ["1", "2"],
        cookie: ["a=1", "b=2"],
        authorization: "Bearer never",
        [sensitiveHeaders]: ["authorization"]
      },
      "hello"
    )
    assert.strictEqual(client.session.alpnProtocol, "h2")
    assert.deepStrictEqual([answer.status, answer.body], [200, "POST /v1/messages?beta=true hello"])
    assert.deepStrictEqual(answer.headers["set-cookie"], ["a=1", "b=2"])
    const seen: Array<string> = JSON.parse(String(answer.headers["x-seen"]))
    assert.includeMembers(seen, [":authority", `${name}:443`, "x-api-key", "k", "authorization", "Bearer never"])
    assert.strictEqual(seen.filter((text) => text === "x-twice").length, 2)
    assert.strictEqual(seen.filter((text) => text === "cookie").length, 2)
    const { end, head, request } = await world.sink.finished()
    assert.deepInclude(request, {
      source: "tproxy",
      scheme: "https",
      host: `${name}:443`,
      serverName: name,
      path: "/v1/messages?beta=true",
      method: "POST",
      httpVersion: "HTTP/2"
    })
    assert.includeMembers([...request.headers], ["x-api-key", "k", "cookie", "a=1; b=2"])
    assert.isFalse([...request.headers, ...(head?.headers ?? [])].some((text) => text.startsWith(":")))
    assert.strictEqual(textOf(end.requestBody.chunks), "hello")
    assert.strictEqual(textOf(end.responseBody.chunks), answer.body)
    assert.strictEqual(head?.status, 200)
    assert.isNumber(end.sentMs)
    assert.deepStrictEqual([end.error, end.tunnelled], [null, null])
  })

  it("adds no header to an answer that the server did not send", async () => {
    const world = await worldOf(
      await serverOf((stream) => {
        // Node would add one of its own.
        const how = { sendDate: false, endStream: true }
        stream.respond({ ":status": 200, "x-only": "1" }, how)
      })
    )
    const answer = await ask(await clientOf(world, name), { ":path": "/" })
    assert.deepStrictEqual(Object.keys(answer.headers), [":status", "x-only"])
  })

  it("is answered to a client that speaks nothing else (gRPC), with trailers both ways", async () => {
    const trailersSeen: Array<unknown> = []
    const world = await worldOf(
      await serverOf((stream) => {
        stream.on("trailers", (trailers) => trailersSeen.push(trailers["x-checksum"]))
        stream.respond({ ":status": 200, "content-type": "application/grpc" }, { waitForTrailers: true })
        stream.on("wantTrailers", () => stream.sendTrailers({ "grpc-status": "0", "grpc-message": "fine" }))
        stream.on("data", (chunk: Buffer) => stream.write(chunk)).on("end", () => stream.end())
      })
    )
    const client = await clientOf(world, name, ["h2"])
    const stream = client.session.request(
      { ":method": "POST", ":path": "/pkg.Service/Call", te: "trailers", "content-type": "application/grpc" },
      { waitForTrailers: true }
    )
    stream.on("wantTrailers", () => stream.sendTrailers({ "x-checksum": "7" }))
    const answered = answerOf(stream)
    stream.end(Buffer.from([0, 0, 0, 0, 1, 42]))
    const answer = await answered
    assert.deepInclude(answer.trailers, { "grpc-status": "0", "grpc-message": "fine" })
    assert.deepStrictEqual(trailersSeen, ["7"])
    const { end, request } = await world.sink.finished()
    assert.strictEqual(request.path, "/pkg.Service/Call")
    assert.deepStrictEqual(Buffer.concat(end.responseBody.chunks), Buffer.from([0, 0, 0, 0, 1, 42]))
    assert.deepStrictEqual([end.error, end.tunnelled], [null, null])
  })

  it("passes on an answer of a head alone, and what comes before a head", async () => {
    const world = await worldOf(
      await serverOf((stream) => {
        stream.additionalHeaders({ ":status": 103, link: "</style.css>; rel=preload" })
        stream.respond({ ":status": 200, "grpc-status": "12" }, { endStream: true })
      })
    )
    const client = await clientOf(world, name)
    const stream = client.session.request({ ":path": "/" })
    const early: Array<unknown> = []
    stream.on("headers", (headers) => early.push(headers[":status"], headers.link))
    const answer = await answerOf(stream)
    assert.deepStrictEqual(early, [103, "</style.css>; rel=preload"])
    assert.deepStrictEqual([answer.status, answer.headers["grpc-status"], answer.rstCode], [200, "12", 0])
    assert.isNull((await world.sink.finished()).end.error)
  })

  it("has many requests at once over one connection to the server, and answers them in any order", async () => {
    const waiting: Array<readonly [ServerHttp2Stream, string]> = []
    const server = await serverOf((stream, headers) => void waiting.push([stream, String(headers[":path"])]))
    const world = await worldOf(server)
    const client = await clientOf(world, name)
    const answers = Array.from({ length: 60 }, (_, at) => ask(client, { ":path": `/${at}` }))
    await eventually(
      "all requests",
      () => waiting.length,
      (count) => count === 60
    )
    for (const [stream, path] of waiting.toReversed()) {
      stream.respond({ ":status": 200 })
      stream.end(path)
    }
    const bodies = (await Promise.all(answers)).map(({ body }) => body)
    assert.deepStrictEqual(
      bodies,
      Array.from({ length: 60 }, (_, at) => `/${at}`)
    )
    assert.strictEqual(server.sessions.length, 1)
    await eventually(
      "all records",
      () => world.sink.entries.filter((entry) => entry.end !== null && entry.end.error === null).length,
      (count) => count === 60
    )
  })

  it("passes a stream on event by event, its head before its first event", async () => {
    const steps: Array<() => void> = []
    const world = await worldOf(
      await serverOf((stream) => {
        stream.respond({ ":status": 200, "content-type": "text/event-stream" })
        steps.push(
          () => void stream.write("data: 1\n\n"),
          () => void stream.end("data: 2\n\n")
        )
      })
    )
    const client = await clientOf(world, name)
    const stream = client.session.request({ ":path": "/stream" })
    let seen = ""
    stream.setEncoding("utf8").on("data", (text: string) => (seen += text))
    await once(stream, "response")
    assert.strictEqual(seen, "")
    assert.strictEqual(world.sink.entries[0]?.head?.status, 200)
    steps[0]?.()
    await eventually(
      "the first event",
      () => seen,
      (text) => text === "data: 1\n\n"
    )
    steps[1]?.()
    await once(stream, "end")
    assert.strictEqual(seen, "data: 1\n\ndata: 2\n\n")
  })

  it("passes a reset of the server on with its reason, after what came before it", async () => {
    const world = await worldOf(
      await serverOf((stream) => {
        // Without this, Node ends the answer before it resets the stream.
        stream.respond({ ":status": 200 }, { waitForTrailers: true })
        stream.write("half", () => stream.close(constants.NGHTTP2_INTERNAL_ERROR))
      })
    )
    const answer = await ask(await clientOf(world, name), { ":path": "/" })
    assert.strictEqual(answer.rstCode, constants.NGHTTP2_INTERNAL_ERROR)
    assert.isNotNull(answer.error)
    const { end, head } = await world.sink.finished()
    assert.strictEqual(head?.status, 200)
    assert.strictEqual(end.error?.code, "NGHTTP2_INTERNAL_ERROR")
    assert.strictEqual(textOf(end.responseBody.chunks), "half")
  })

  it("passes on that a request was refused before it was worked on, so that it can be asked again", async () => {
    const world = await worldOf(await serverOf((stream) => stream.close(constants.NGHTTP2_REFUSED_STREAM)))
    const answer = await ask(await clientOf(world, name), { ":path": "/" })
    assert.deepStrictEqual([answer.status, answer.rstCode], [0, constants.NGHTTP2_REFUSED_STREAM])
    assert.strictEqual((await world.sink.finished()).end.error?.code, "NGHTTP2_REFUSED_STREAM")
  })

  it("ends the request to the server when the client takes it back, and no other", async () => {
    const codes: Array<number> = []
    const open: Array<ServerHttp2Stream> = []
    const server = await serverOf((stream) => {
      stream.once("close", () => codes.push(stream.rstCode))
      stream.respond({ ":status": 200 })
      stream.write("first")
      open.push(stream)
    })
    const world = await worldOf(server)
    const client = await clientOf(world, name)
    const taken = client.session.request({ ":path": "/taken" })
    taken.on("error", () => {})
    await once(taken, "data")
    const kept = client.session.request({ ":path": "/kept" })
    const answered = answerOf(kept)
    await once(kept, "response")
    taken.close(constants.NGHTTP2_CANCEL)
    await eventually(
      "the server's end",
      () => codes,
      ({ length }) => length === 1
    )
    assert.deepStrictEqual(codes, [constants.NGHTTP2_CANCEL])
    open[1]?.end(" last")
    assert.strictEqual((await answered).body, "first last")
    const { end } = await world.sink.finished(({ request }) => request.path === "/taken")
    assert.strictEqual(end.error?.code, "ECONNABORTED")
    assert.isNull((await world.sink.finished(({ request }) => request.path === "/kept")).end.error)
  })

  it("lets no server take half of a body for the whole", async () => {
    const ends: Array<string> = []
    const world = await worldOf(
      await serverOf((stream) => {
        stream.resume().on("end", () => ends.push(stream.aborted ? "aborted" : "whole"))
        stream.once("close", () => ends.push(`closed ${stream.rstCode}`))
      })
    )
    const client = await clientOf(world, name)
    const stream = client.session.request({ ":method": "POST", ":path": "/" }, { waitForTrailers: true })
    stream.on("error", () => {})
    stream.write("half")
    await eventually(
      "the first half",
      () => world.sink.entries.length,
      (count) => count === 1
    )
    stream.close(constants.NGHTTP2_CANCEL)
    await eventually(
      "the server's end",
      () => ends.length,
      (count) => count > 0 && ends.some((text) => text.startsWith("closed"))
    )
    assert.notInclude(ends, "whole")
    assert.include(ends, `closed ${constants.NGHTTP2_CANCEL}`)
  })

  it("passes trailers on that come before the request was read", async () => {
    const world = await worldOf(
      await serverOf((stream) => {
        stream.respond({ ":status": 200 }, { waitForTrailers: true })
        stream.on("wantTrailers", () => {
          stream.sendTrailers({ "grpc-status": "8" })
          setTimeout(() => stream.close(constants.NGHTTP2_NO_ERROR), 20)
        })
        stream.end()
      })
    )
    const client = await clientOf(world, name)
    const stream = client.session.request({ ":method": "POST", ":path": "/" })
    stream.write("begun")
    const answer = await answerOf(stream)
    assert.deepStrictEqual([answer.status, answer.trailers["grpc-status"], answer.rstCode], [200, "8", 0])
  })

  it("ends all requests to the server when the client's connection ends", async () => {
    let gone = 0
    const server = await serverOf((stream) => {
      stream.once("close", () => (gone += 1))
      stream.respond({ ":status": 200 })
      stream.write("first")
    })
    const world = await worldOf(server)
    const client = await clientOf(world, name)
    for (const path of ["/1", "/2"]) {
      const stream = client.session.request({ ":path": path })
      stream.on("error", () => {})
      await once(stream, "data")
    }
    client.cut()
    await eventually(
      "both ends",
      () => gone,
      (count) => count === 2
    )
    await eventually(
      "no connection",
      () => world.listener.connections() + server.sessions.filter(({ destroyed }) => !destroyed).length,
      (count) => count === 0
    )
    for (const { end } of world.sink.entries) assert.strictEqual(end?.error?.code, "ECONNABORTED")
  })

  it("tells the client of a connection to the server that broke", async () => {
    const sockets: Array<Socket> = []
    const server = await serverOf(
      (stream) => {
        stream.respond({ ":status": 200 })
        stream.write("first")
      },
      {},
      "internet",
      (made) => made.on("secureConnection", (socket: Socket) => sockets.push(socket))
    )
    const world = await worldOf(server)
    const client = await clientOf(world, name)
    const stream = client.session.request({ ":path": "/" })
    const answered = answerOf(stream)
    await once(stream, "data")
    sockets[0]?.destroy()
    const answer = await answered
    assert.isNotNull(answer.error)
    assert.isNotNull((await world.sink.finished()).end.error)
    await eventually(
      "the client's end",
      () => world.listener.connections(),
      (count) => count === 0
    )
  })

  it("lets requests end that run when the server wants no more, and the next ones go over a new connection", async () => {
    const open: Array<ServerHttp2Stream> = []
    const server = await serverOf((stream) => {
      stream.respond({ ":status": 200 })
      stream.write("first")
      open.push(stream)
    })
    const world = await worldOf(server)
    const client = await clientOf(world, name)
    const stream = client.session.request({ ":path": "/running" })
    const answered = answerOf(stream)
    await once(stream, "data")
    const goaway = once(client.session, "goaway")
    server.sessions[0]?.close()
    await goaway
    open[0]?.end(" last")
    const answer = await answered
    assert.deepStrictEqual([answer.body, answer.error], ["first last", null])
    await eventually(
      "the end",
      () => world.listener.connections(),
      (count) => count === 0
    )
    const next = (await clientOf(world, name)).session.request({ ":path": "/next" })
    next.on("error", () => {})
    await once(next, "response")
    assert.strictEqual(server.sessions.length, 2)
  })

  it("forwards large bodies whole both ways and copies their beginning alone", async () => {
    const size = 8 * 1_048_576
    const world = await worldOf(
      await serverOf((stream) => {
        stream.respond({ ":status": 200 })
        stream.pipe(stream)
      }),
      { maxBodyBytes: 1_000 }
    )
    const answer = await ask(await clientOf(world, name), { ":method": "POST", ":path": "/" }, Buffer.alloc(size, "x"))
    assert.strictEqual(answer.body.length, size)
    const { end } = await world.sink.finished()
    assert.deepStrictEqual([end.requestBody.bytes, end.responseBody.bytes], [size, size])
    assert.strictEqual(Buffer.concat(end.requestBody.chunks).length, 1_000)
    assert.strictEqual(Buffer.concat(end.responseBody.chunks).length, 1_000)
  })

  it("holds a server back whose client does not read, and no other request of that connection", async () => {
    let written = 0
    const chunk = Buffer.alloc(65_536)
    const world = await worldOf(
      await serverOf((stream, headers) => {
        stream.respond({ ":status": 200 })
        if (headers[":path"] === "/small") return void stream.end("small")
        const more = (): void => {
          while (written < 512 * 1_048_576 && !stream.destroyed) {
            written += chunk.length
            if (!stream.write(chunk)) return void stream.once("drain", more)
          }
        }
        more()
      })
    )
    const client = await clientOf(world, name)
    const stalled = client.session.request({ ":path": "/large" })
    stalled.on("error", () => {})
    await once(stalled, "response")
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
    assert.isBelow(written, 8 * 1_048_576)
    assert.strictEqual((await ask(client, { ":path": "/small" })).body, "small")
  })

  it("holds a client back whose server does not read", async () => {
    const world = await worldOf(await serverOf((stream) => void stream.pause()))
    const client = await clientOf(world, name)
    const stream = client.session.request({ ":method": "POST", ":path": "/" })
    stream.on("error", () => {})
    const chunk = Buffer.alloc(65_536)
    let written = 0
    const more = (): void => {
      while (written < 256 * 1_048_576 && !stream.destroyed) {
        written += chunk.length
        if (!stream.write(chunk)) return void stream.once("drain", more)
      }
    }
    more()
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
    assert.isBelow(written, 8 * 1_048_576)
  })

  it("lets a server answer before it has read all, and tells the client that it need not send the rest", async () => {
    const world = await worldOf(
      await serverOf((stream) => {
        stream.respond({ ":status": 413 })
        stream.end("too large", () => stream.close(constants.NGHTTP2_NO_ERROR))
      })
    )
    const client = await clientOf(world, name)
    const stream = client.session.request({ ":method": "POST", ":path": "/" })
    stream.write("begun")
    const answer = await answerOf(stream)
    assert.deepStrictEqual([answer.status, answer.body, answer.rstCode], [413, "too large", 0])
    assert.strictEqual((await world.sink.finished()).head?.status, 413)
  })

  it("serves curl and undici", async () => {
    const world = await worldOf(await serverOf(echo))
    assert.deepStrictEqual(await curl(world, "/by-curl", "-d", "body"), { code: 0, text: "POST /by-curl body|2 200" })
    const dispatcher = new UndiciAgent({
      allowH2: true,
      connect: {
        ca: world.ca,
        lookup: (_host, _options, done) => done(null, [{ address: "127.0.0.1", family: 4 }])
      }
    })
    closing.push(() => void dispatcher.destroy())
    const answer = await undiciFetch(`https://${name}:${world.port}/by-undici`, {
      dispatcher,
      method: "POST",
      body: "b"
    })
    assert.strictEqual(await answer.text(), "POST /by-undici b")
    await eventually(
      "both records",
      () => world.sink.entries.filter(({ end }) => end !== null).map(({ request }) => request.httpVersion),
      ({ length }) => length === 2
    )
    assert.deepStrictEqual(
      world.sink.entries.map(({ request }) => request.httpVersion),
      ["HTTP/2", "HTTP/2"]
    )
  })

  it("goes by without TLS where a client knows its server", async () => {
    const world = await worldOf(await keep(plainHttp2Server(echo)))
    const client = await keep(plainHttp2Client(world.port, "plain.example"))
    const answer = await ask(client, { ":method": "POST", ":path": "/x" }, "grpc")
    assert.strictEqual(answer.body, "POST /x grpc")
    const { request } = await world.sink.finished()
    assert.deepInclude(request, { scheme: "http", host: "plain.example:80", httpVersion: "HTTP/2", path: "/x" })
  })
})

describe("what is spoken with a client that would like HTTP/2", () => {
  it("is what its server chose, over one connection to it", async () => {
    let connections = 0
    const old = await keep(
      secureServer(
        name,
        (_, response) => response.end("by http/1.1"),
        "internet",
        (https) => https.on("secureConnection", () => (connections += 1))
      )
    )
    const world = await worldOf(old)
    const text = await curl(world, "/")
    assert.deepStrictEqual(text, { code: 0, text: "by http/1.1|1.1 200" })
    assert.strictEqual(connections, 1)
    const { request } = await world.sink.finished()
    assert.strictEqual(request.httpVersion, "HTTP/1.1")
    const both = await worldOf(await serverOf(echo, { allowHTTP1: true }))
    assert.strictEqual(await protocolOf(both, ["h2", "http/1.1"]), "h2")
    assert.strictEqual(await protocolOf(both, ["http/1.1"]), "http/1.1")
    assert.strictEqual(await protocolOf(both, ["http/1.1", "h2"]), "h2")
  })

  it("is asked anew where the server has left before the first request", async () => {
    const sockets: Array<Socket> = []
    const old = await keep(
      secureServer(
        name,
        (_, response) => response.end("served"),
        "internet",
        (https) => https.on("secureConnection", (socket: Socket) => sockets.push(socket))
      )
    )
    const world = await worldOf(old)
    const tls = connectTls({
      host: "127.0.0.1",
      port: world.port,
      servername: name,
      ca: world.ca,
      ALPNProtocols: ["h2", "http/1.1"]
    })
    closing.push(() => tls.destroy())
    await once(tls, "secureConnect")
    assert.strictEqual(tls.alpnProtocol, "http/1.1")
    const left = once(sockets[0] ?? tls, "close")
    sockets[0]?.end()
    await left
    tls.write(`GET / HTTP/1.1\r\nHost: ${name}\r\nConnection: close\r\n\r\n`)
    let seen = ""
    tls.setEncoding("utf8").on("data", (text: string) => (seen += text))
    await closed(tls)
    assert.match(seen, /^HTTP\/1\.1 200 OK[^]*served/u)
  })

  it("is handed on unread where it speaks nothing else and the server does not", async () => {
    const { internet } = await sharedAuthorities()
    const raw: Array<string> = []
    const old = await keep(
      secureServer(
        name,
        () => {},
        "internet",
        (https) => https.on("tlsClientError", (error: NodeJS.ErrnoException) => raw.push(error.code ?? ""))
      )
    )
    const world = await worldOf(old)
    const tls = connectTls({
      host: "127.0.0.1",
      port: world.port,
      servername: name,
      ca: internet.authority.certificate,
      ALPNProtocols: ["h2"]
    })
    const [error] = (await once(tls, "error")) as [NodeJS.ErrnoException]
    assert.strictEqual(error.code, "ERR_SSL_TLSV1_ALERT_NO_APPLICATION_PROTOCOL")
    const { end } = await world.sink.finished()
    assert.strictEqual(end.tunnelled, "http2_only")
    assert.strictEqual(raw.length, 2)
  })

  it("stays unread where it is neither HTTP/2 nor HTTP/1.1", async () => {
    const { internet } = await sharedAuthorities()
    const other = await keep(rawServer((socket) => socket.end()))
    const world = await worldOf(other)
    const tls = connectTls({
      host: "127.0.0.1",
      port: world.port,
      servername: name,
      ca: internet.authority.certificate,
      ALPNProtocols: ["acme-tls/1"]
    })
    tls.on("error", () => {})
    await closed(tls)
    assert.strictEqual((await world.sink.finished()).end.tunnelled, "not_http")
  })

  it("is HTTP/1.1 for hosts whose requests may be answered here, where it speaks that too", async () => {
    const world = await worldOf(await serverOf(echo, { allowHTTP1: true }), {
      needsHttp1: (host) => host === name,
      intercept: (request, response) => {
        response.end(`intercepted ${request.url}`)
        return true
      }
    })
    assert.deepStrictEqual(await curl(world, "/mapped"), { code: 0, text: "intercepted /mapped|1.1 200" })
    const only = await clientOf(world, name, ["h2"])
    assert.strictEqual((await ask(only, { ":path": "/h2-only" })).body, "GET /h2-only ")
  })

  it("changes with the next request where a host comes to be answered here", async () => {
    let isMapped = false
    const world = await worldOf(await serverOf(echo, { allowHTTP1: true }), {
      needsHttp1: () => isMapped,
      intercept: (_request, response) => {
        if (isMapped) response.end("intercepted")
        return isMapped
      }
    })
    const client = await clientOf(world, name)
    assert.strictEqual((await ask(client, { ":path": "/1" })).body, "GET /1 ")
    isMapped = true
    const refused = await ask(client, { ":path": "/2" })
    assert.deepStrictEqual([refused.status, refused.rstCode], [0, constants.NGHTTP2_REFUSED_STREAM])
    assert.deepStrictEqual(await curl(world, "/2"), { code: 0, text: "intercepted|1.1 200" })
  })

  it.each([["h2"], ["h2", "http/1.1"]])(
    "is 502 with the reason where the server's certificate is not good (%s)",
    async (...protocols) => {
      const world = await worldOf(await serverOf(echo, {}, "stranger"))
      const more = protocols.length === 1 ? ["--http2-prior-knowledge"] : []
      if (more.length === 0) {
        const { text } = await curl(world, "/")
        assert.match(text, /UNABLE_TO_VERIFY_LEAF_SIGNATURE[^]*\|1\.1 502/u)
      } else {
        const answer = await ask(await clientOf(world, name, protocols), { ":path": "/" })
        assert.strictEqual(answer.status, 502)
        assert.include(answer.body, "UNABLE_TO_VERIFY_LEAF_SIGNATURE")
      }
      assert.strictEqual((await world.sink.finished()).end.error?.code, "UNABLE_TO_VERIFY_LEAF_SIGNATURE")
    }
  )

  it("is 502 where the server cannot be reached, and asked anew with the next connection", async () => {
    const gone = await rawServer(() => {})
    gone.close()
    const world = await worldOf(gone)
    const client = await clientOf(world, name, ["h2"])
    const stream = client.session.request({ ":method": "POST", ":path": "/" })
    stream.write("begun")
    const answer = await answerOf(stream)
    assert.deepStrictEqual([answer.status, answer.rstCode], [502, 0])
    assert.include(answer.body, "ECONNREFUSED")
    await eventually(
      "the client's end",
      () => world.listener.connections(),
      (count) => count === 0
    )
    assert.strictEqual((await world.sink.finished()).end.error?.code, "ECONNREFUSED")
  })

  it("stays unread for hosts that are never decrypted", async () => {
    const { internet } = await sharedAuthorities()
    const world = await worldOf(await serverOf(echo), { isNeverDecrypted: (host) => host === name })
    const client = await clientOf({ port: world.port, ca: internet.authority.certificate }, name)
    assert.strictEqual((await ask(client, { ":path": "/mine" })).body, "GET /mine ")
    client.session.destroy()
    const { end, request } = await world.sink.finished()
    assert.strictEqual(end.tunnelled, "never_decrypt")
    assert.deepStrictEqual([request.host, request.method, request.httpVersion], [name, "CONNECT", null])
  })

  it("is handed on for a client that does not trust the authority, and told once", async () => {
    const { internet } = await sharedAuthorities()
    const world = await worldOf(await serverOf(echo))
    const untrusting = { port: world.port, ca: internet.authority.certificate }
    assert.strictEqual((await curl(untrusting, "/pinned")).code, 60)
    await eventually(
      "the refusal",
      () => world.refusals.tunnelled(Date.now()).length,
      (count) => count === 1
    )
    assert.strictEqual((await curl(untrusting, "/pinned")).text, "GET /pinned |2 200")
    for (let attempt = 0; attempt < 2; attempt += 1) {
      const client = http2Client(untrusting, name)
      await closed(client.session)
      await eventually(
        "the end",
        () => world.listener.connections(),
        (count) => count === 0
      )
    }
    const client = await clientOf(untrusting, name)
    assert.strictEqual((await ask(client, { ":path": "/node" })).body, "GET /node ")
  })

  it("does not count as a refusal where a client connects and asks nothing", async () => {
    const world = await worldOf(await serverOf(echo))
    for (let attempt = 0; attempt < 3; attempt += 1) {
      const client = http2Client(world, name)
      await once(client.session, "remoteSettings")
      await once(client.session, "localSettings")
      client.session.close()
      await eventually(
        "the end",
        () => world.listener.connections(),
        (count) => count === 0
      )
    }
    assert.deepStrictEqual(world.refusals.tunnelled(Date.now()), [])
  })

  it("leaves nothing open that was closed", async () => {
    const server = await serverOf((stream) => {
      stream.respond({ ":status": 200 })
      stream.write("first")
    })
    const world = await worldOf(server)
    const client = await clientOf(world, name)
    const stream = client.session.request({ ":path": "/" })
    stream.on("error", () => {})
    await once(stream, "data")
    const isClosed = closed(client.session)
    assert.strictEqual(world.listener.close(), 1)
    await isClosed
    await eventually(
      "nothing left",
      () => world.listener.connections() + server.sessions.filter(({ destroyed }) => !destroyed).length,
      (count) => count === 0
    )
    assert.isNotNull((await world.sink.finished()).end.error)
  })
})

describe("limits of HTTP/2", () => {
  it("end a connection whose client takes back one request after the other", async () => {
    let asked = 0
    const world = await worldOf(await serverOf(() => void (asked += 1)))
    const tls = await rawClient(world, name)
    const received: Array<Buffer> = []
    tls.on("data", (chunk: Buffer) => received.push(chunk))
    const isClosed = closed(tls)
    let next = 1
    const burst = (): void => {
      if (tls.destroyed || next > 200_000) return
      const frames: Array<Buffer> = []
      for (let count = 0; count < 50; count += 1, next += 2) {
        frames.push(
          requestFrame(next, name),
          frame(frameTypes.reset, 0, next, Buffer.from([0, 0, 0, constants.NGHTTP2_CANCEL]))
        )
      }
      tls.write(Buffer.concat(frames), () => setImmediate(burst))
    }
    burst()
    await isClosed
    assert.isBelow(next, 20_000)
    assert.deepStrictEqual(goawaysOf(Buffer.concat(received)), [constants.NGHTTP2_ENHANCE_YOUR_CALM])
    assert.isAtMost(world.sink.entries.length, resetLimits.burst + 200)
    assert.isAtMost(asked, resetLimits.burst + 200)
    await eventually(
      "the end of all records",
      () => world.sink.entries.filter(({ end }) => end === null).length,
      (count) => count === 0
    )
  })

  it("refuse a request beyond those at once so that it can be asked again", async () => {
    const open: Array<ServerHttp2Stream> = []
    const world = await worldOf(
      await serverOf((stream) => void open.push(stream), { settings: { maxConcurrentStreams: 1_000 } })
    )
    const client = await clientOf(world, name, ["h2"], {})
    await once(client.session, "remoteSettings")
    assert.strictEqual(client.session.remoteSettings.maxConcurrentStreams, http2Limits.streams)
    assert.strictEqual(client.session.remoteSettings.maxHeaderListSize, http2Limits.headerBytes)
    const streams = Array.from({ length: http2Limits.streams + 40 }, (_, at): ClientHttp2Stream => {
      const stream = client.session.request({ ":path": `/${at}` })
      stream.on("error", () => {})
      return stream
    })
    await eventually(
      "as many as may be",
      () => open.length,
      (count) => count === http2Limits.streams
    )
    // A client that keeps to what it was told asks the others when there is room.
    for (const stream of open.splice(0)) {
      stream.respond({ ":status": 200 })
      stream.end("served")
    }
    await eventually(
      "the others",
      () => open.length,
      (count) => count === 40
    )
    for (const stream of streams) stream.destroy()
  })

  it.each([
    ["too long", { "x-long": "a".repeat(http2Limits.headerBytes) }],
    ["too many", Object.fromEntries(Array.from({ length: http2Limits.headers + 1 }, (_, at) => [`x${at}`, "1"]))]
  ])("refuse a head that is %s, and go on with others", async (_, headers) => {
    let asked = 0
    const world = await worldOf(
      await serverOf((stream) => {
        asked += 1
        stream.respond({ ":status": 200 }, { endStream: true })
      })
    )
    const client = await clientOf(world, name, ["h2"], { maxSendHeaderBlockLength: 1_048_576 })
    await once(client.session, "remoteSettings")
    const answer = await ask(client, { ":path": "/", ...headers })
    assert.notStrictEqual(answer.status, 200)
    assert.strictEqual(asked, 0)
    const next = await ask(await clientOf(world, name, ["h2"]), { ":path": "/" })
    assert.strictEqual(next.status, 200)
  })

  it("refuse a head of an answer that is too long", async () => {
    const world = await worldOf(
      await serverOf(
        (stream) => {
          stream.respond({ ":status": 200, "x-long": "a".repeat(http2Limits.headerBytes + 1_000) })
          stream.end("body")
        },
        { maxSendHeaderBlockLength: 1_048_576 }
      )
    )
    const answer = await ask(await clientOf(world, name), { ":path": "/" })
    assert.notStrictEqual(answer.status, 200)
    assert.isNotNull((await world.sink.finished()).end.error)
  })

  it("answer a request whose head Node would not send on", async () => {
    const world = await worldOf(await serverOf(echo))
    const tls = await rawClient(world, name)
    tls.write(requestFrame(1, name, literal("authorization", "one"), literal("authorization", "two")))
    const { end } = await world.sink.finished()
    assert.strictEqual(end.error?.code, "ERR_INVALID_CHAR")
  })

  it("refuse a tunnel inside of TLS", async () => {
    const world = await worldOf(await serverOf(echo))
    const client = await clientOf(world, name)
    const answer = await ask(client, { ":method": "CONNECT", ":authority": "elsewhere.example:443" })
    assert.strictEqual(answer.status, 405)
    assert.strictEqual((await world.sink.finished()).end.error?.code, "CONNECT_REFUSED")
  })

  it("end a connection over which nothing goes", async () => {
    const { make: native } = await import("../../../../src/platform/Timers.ts")
    const due: Array<() => void> = []
    const idleTimeoutMs = 60_000
    const timers = {
      ...native,
      after: (delayMs: number, run: () => void) => {
        if (delayMs !== idleTimeoutMs / 4) return native.after(delayMs, run)
        due.push(run)
        return { restart: () => {}, cancel: () => {} }
      }
    }
    const world = await worldOf(await serverOf(echo), { idleTimeoutMs, timers })
    const client = await clientOf(world, name)
    await ask(client, { ":path": "/" })
    const isClosed = closed(client.session)
    for (let look = 0; look < 6; look += 1) {
      for (const run of due.splice(0)) run()
      await new Promise((done) => setImmediate(done))
    }
    await isClosed
  })

  it("answer 400 to what is no HTTP/2 by ending the connection", async () => {
    const world = await worldOf(await serverOf(echo))
    const tls = connectTls({
      host: "127.0.0.1",
      port: world.port,
      servername: name,
      ca: world.ca,
      ALPNProtocols: ["h2"]
    })
    tls.on("error", () => {})
    tls.write("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
    tls.resume()
    await closed(tls)
    await eventually(
      "nothing left",
      () => world.listener.connections(),
      (count) => count === 0
    )
    const plain = connectTcp({ host: "127.0.0.1", port: world.port })
    plain.write("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\nnonsense that is no frame at all, and goes on for a while")
    plain.on("error", () => {}).resume()
    await closed(plain)
    const answer = await askThrough(world, { servername: name, path: "/", headers: { Host: name } }).then(
      () => "answered",
      () => "broken"
    )
    assert.include(["answered", "broken"], answer)
  })
})
