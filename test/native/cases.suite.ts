/** What the transparent mode does with each kind of client, over both address families: real clients and servers, real rules. */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { once } from "node:events"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { createServer as createHttp, request as requestHttp } from "node:http"
import { connect as connectHttp2, createSecureServer } from "node:http2"
import { createServer as createHttps, request as requestHttps, type RequestOptions } from "node:https"
import { createServer as createTcp, connect, type Server } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { connect as connectTls, createSecureContext, type SecureContext, type TLSSocket } from "node:tls"
import { WebSocket, WebSocketServer } from "ws"
import { callbackify } from "node:util"
import { eventually } from "../support/eventually.ts"
import {
  type Entry,
  type Made,
  makeSink,
  type RecordingSink,
  sharedAuthorities,
  textOf
} from "../unit/capture/tls/harness.ts"
import { makeMode, type Mode } from "./Mode.ts"
import { addressesOf, prepare, rulesNow, run } from "./Namespace.ts"

/** Which server of the internet is which. */
const numbers = { usual: 0, http2: 1, plain: 2, greeting: 3, stranger: 4, sockets: 5 }
const folder = mkdtempSync(join(tmpdir(), "gateway-native-cases-"))
const internetFile = join(folder, "internet.pem")
const closing: Array<() => void> = []
let internetCa = ""
let before = ""
let released: () => void = () => {}

const pemOf = ({ key }: Made): string => String(key.export({ type: "pkcs8", format: "pem" }))

/** A certificate for each name that is asked for; without one, that of the address. */
const namesOf = async (made: Made, address: string) => {
  const contextFor = async (name: string): Promise<SecureContext> => {
    const { certificate } = await made.authority.issue(name, made.key, Date.now())
    return createSecureContext({ cert: certificate, key: pemOf(made) })
  }
  const { certificate } = await made.authority.issue(address, made.key, Date.now())
  return {
    cert: certificate,
    key: pemOf(made),
    SNICallback: callbackify(contextFor)
  }
}

const listen = async (server: Server, address: string): Promise<void> => {
  server.listen(443, address)
  await once(server, "listening")
  closing.push(() => {
    if ("closeAllConnections" in server && typeof server.closeAllConnections === "function")
      server.closeAllConnections()
    server.close()
  })
}

beforeAll(async () => {
  prepare()
  before = rulesNow()
  const { internet, stranger } = await sharedAuthorities()
  internetCa = internet.authority.certificate
  writeFileSync(internetFile, internetCa)
  for (const family of ["v4", "v6"] as const) {
    const at = (which: keyof typeof numbers): string => addressesOf(numbers[which])[family]
    await listen(
      createHttps(await namesOf(internet, at("usual")), (asked, answer) => {
        if (asked.url !== "/events") return void answer.end(`served ${asked.url}`)
        answer.writeHead(200, { "content-type": "text/event-stream" })
        answer.write("data: first\n\n")
        // The second is sent when the client has the first, and not before.
        released = () => answer.end("data: second\n\n")
      }),
      at("usual")
    )
    const http2 = createSecureServer(await namesOf(internet, at("http2")))
    http2.on("stream", (stream) => stream.end("by http/2"))
    await listen(http2, at("http2"))
    await listen(
      createHttp((asked, answer) => answer.end(`plain ${asked.url}`)),
      at("plain")
    )
    await listen(
      createTcp((socket) => {
        socket.write("220 at your service\r\n")
        socket.pipe(socket)
      }),
      at("greeting")
    )
    await listen(
      createHttps(await namesOf(stranger, at("stranger")), (_, answer) => answer.end("never")),
      at("stranger")
    )
    const https = createHttps(await namesOf(internet, at("sockets")))
    new WebSocketServer({ server: https }).on("connection", (client) => {
      client.send("hello first")
      client.on("message", (data) => client.send(`echo ${String(data)}`))
    })
    await listen(https, at("sockets"))
  }
})

afterAll(() => {
  for (const close of closing) close()
  rmSync(folder, { recursive: true, force: true })
})

/** All of an answer's body; rejects with what the client says. */
const body = (
  options: RequestOptions,
  over = requestHttps
): Promise<{ readonly status: number; readonly text: string }> =>
  new Promise((resolve, reject) => {
    over({ agent: false, ...options }, (answer) => {
      let text = ""
      answer
        .setEncoding("utf8")
        .on("data", (part: string) => (text += part))
        .on("end", () => resolve({ status: answer.statusCode ?? 0, text }))
    })
      .on("error", reject)
      .end()
  })

const failureOf = (asked: Promise<unknown>): Promise<string | undefined> =>
  asked.then(
    () => undefined,
    (error: NodeJS.ErrnoException) => error.code
  )

describe.each(["v4", "v6"] as const)("the transparent mode over IP%s", (family) => {
  const at = (which: keyof typeof numbers): string => addressesOf(numbers[which])[family]
  let mode: Mode
  let sink: RecordingSink
  let ca = ""

  beforeAll(async () => {
    sink = makeSink()
    mode = makeMode({ sink, internet: internetCa })
    await mode.start()
    const { readFileSync } = await import("node:fs")
    ca = readFileSync(mode.caFile, "utf8")
  })

  afterAll(async () => {
    await mode.stop()
    assert.strictEqual(await mode.stop(), 0)
    await mode.dispose()
    assert.strictEqual(rulesNow(), before)
  })

  const entriesOf = (host: string): ReadonlyArray<Entry> => sink.entries.filter(({ request }) => request.host === host)

  it("decrypts a client that names no server, and verifies the server for its address", async () => {
    const answer = await body({ host: at("usual"), path: "/nameless", ca, servername: "" })
    assert.deepStrictEqual(answer, { status: 200, text: "served /nameless" })
    const { request } = await sink.finished((entry) => entry.request.path === "/nameless")
    assert.deepInclude(request, { source: "tproxy", serverName: null })
    assert.strictEqual(request.server.address, at("usual"))
  })

  it("answers HTTP/1.1 to a client that would like HTTP/2 as well", async () => {
    const socket = connectTls({
      host: at("usual"),
      port: 443,
      ca,
      servername: "both.example",
      ALPNProtocols: ["h2", "http/1.1"]
    })
    await once(socket, "secureConnect")
    assert.strictEqual(socket.alpnProtocol, "http/1.1")
    socket.destroy()
  })

  it("decrypts HTTP/2 of a client that speaks nothing else", async () => {
    const session = connectHttp2("https://two.example", {
      createConnection: (): TLSSocket =>
        connectTls({ host: at("http2"), port: 443, servername: "two.example", ca, ALPNProtocols: ["h2"] })
    })
    const stream = session.request({ ":path": "/" })
    let text = ""
    stream.setEncoding("utf8").on("data", (part: string) => (text += part))
    await once(stream, "end")
    assert.strictEqual(text, "by http/2")
    session.close()
    const { end, request } = await sink.finished((entry) => entry.request.host.startsWith("two.example"))
    assert.strictEqual(request.httpVersion, "HTTP/2")
    assert.deepStrictEqual([end.tunnelled, textOf(end.responseBody.chunks)], [null, "by http/2"])
  })

  it("passes a WebSocket on, in frames that can be read", async () => {
    const host = "sockets.example"
    const address = { address: at("sockets"), family: family === "v4" ? 4 : 6 } as const
    const client = new WebSocket(`wss://${host}/live`, [], {
      ca,
      lookup: (_host, { all }, done) =>
        all === true ? done(null, [address]) : done(null, address.address, address.family)
    })
    const messages: Array<string> = []
    client.on("message", (data) => messages.push(String(data)))
    await once(client, "open")
    client.send("one")
    await eventually(
      "two messages",
      () => messages.length,
      (count) => count === 2
    )
    assert.deepStrictEqual(messages, ["hello first", "echo one"])
    client.close()
    await once(client, "close")
    const { end, head } = await sink.finished(({ request }) => request.host === host)
    assert.strictEqual(head?.status, 101)
    assert.include(textOf(end.responseBody.chunks), "echo one")
  })

  it("passes a stream on event by event", async () => {
    const text = await new Promise<string>((resolve, reject) => {
      let seen = ""
      requestHttps({ host: at("usual"), servername: "sse.example", path: "/events", ca, agent: false }, (answer) => {
        answer
          .setEncoding("utf8")
          .on("data", (part: string) => {
            seen += part
            if (seen === "data: first\n\n") released()
          })
          .on("end", () => resolve(seen))
      })
        .on("error", reject)
        .end()
    })
    assert.strictEqual(text, "data: first\n\ndata: second\n\n")
    const { end } = await sink.finished((entry) => entry.request.path === "/events")
    assert.strictEqual(textOf(end.responseBody.chunks), text)
  })

  it("relays plain HTTP on the port", async () => {
    const answer = await body({ host: at("plain"), port: 443, path: "/plain" }, requestHttp)
    assert.deepStrictEqual(answer, { status: 200, text: "plain /plain" })
    const { request } = await sink.finished((entry) => entry.request.path === "/plain")
    assert.strictEqual(request.scheme, "http")
  })

  it("hands a connection on where the server speaks first", async () => {
    const socket = connect({ host: at("greeting"), port: 443 })
    const [greeting] = (await once(socket, "data")) as [Buffer]
    assert.strictEqual(greeting.toString(), "220 at your service\r\n")
    socket.write("QUIT\r\n")
    const [echo] = (await once(socket, "data")) as [Buffer]
    assert.strictEqual(echo.toString(), "QUIT\r\n")
    socket.destroy()
    const { end } = await sink.finished(({ request }) => request.server.address === at("greeting"))
    assert.strictEqual(end.tunnelled, "not_http")
  })

  it("answers 502 for a server whose certificate is not good, with the reason in the record", async () => {
    const answer = await body({ host: at("stranger"), servername: "stranger.example", ca })
    assert.strictEqual(answer.status, 502)
    assert.notInclude(answer.text, "never")
    const { end } = await sink.finished(({ request }) => request.serverName === "stranger.example")
    assert.strictEqual(end.error?.code, "UNABLE_TO_VERIFY_LEAF_SIGNATURE")
  })

  it("tunnels a host whose client says that it does not trust the authority, and tells it once", async () => {
    const host = "pinned.example"
    const curl = (path: string) =>
      run("curl", [
        "-sS",
        "--max-time",
        "10",
        "--cacert",
        internetFile,
        "--resolve",
        `${host}:443:${at("usual")}`,
        `https://${host}${path}`
      ])
    assert.strictEqual((await curl("/first")).code, 60)
    await sink.finished(({ end, request }) => request.host === host && end?.error?.code === "CLIENT_REFUSED_CA")
    for (const path of ["/second", "/third"]) assert.strictEqual((await curl(path)).stdout, `served ${path}`)
    await sink.finished(({ end, request }) => request.host === host && end?.tunnelled === "client_refused")
    assert.lengthOf(
      entriesOf(host).filter(({ end }) => end?.error?.code === "CLIENT_REFUSED_CA"),
      1
    )
    // Another program that trusts the authority is decrypted as ever.
    assert.strictEqual(
      (await body({ host: at("usual"), servername: host, path: "/trusting", ca })).text,
      "served /trusting"
    )
    const { end } = await sink.finished(
      (entry) => entry.request.path === "/trusting" && entry.request.serverName === host
    )
    assert.isNull(end.tunnelled)
    const tunnelled = (await mode.status()).tunnelled.find((found) => found.host === host)
    assert.strictEqual(tunnelled?.why, "alert")
  })

  it("tunnels a host whose client leaves twice without a word", async () => {
    const host = "silent.example"
    const ask = () => body({ host: at("usual"), servername: host, path: "/node", ca: internetCa })
    for (let attempt = 0; attempt < 2; attempt += 1) {
      assert.strictEqual(await failureOf(ask()), "UNABLE_TO_VERIFY_LEAF_SIGNATURE")
    }
    await sink.finished(({ end, request }) => request.host === host && end?.error?.code === "CLIENT_REFUSED_CA")
    assert.strictEqual((await ask()).text, "served /node")
    assert.strictEqual((await mode.status()).tunnelled.find((found) => found.host === host)?.why, "no_bytes")
  })

  it("ends connections over which nothing goes", async () => {
    await mode.stop()
    const impatient = makeMode({ sink, internet: internetCa, idleTimeoutMs: 200 })
    try {
      await impatient.start()
      const { readFileSync } = await import("node:fs")
      const socket = connectTls({
        host: at("usual"),
        port: 443,
        servername: "idle.example",
        ca: readFileSync(impatient.caFile, "utf8")
      })
      await once(socket, "secureConnect")
      socket.resume()
      await once(socket, "close")
      const silent = connect({ host: at("usual"), port: 443 })
      silent.resume()
      await once(silent, "close")
    } finally {
      await impatient.dispose()
    }
    assert.strictEqual(rulesNow(), before)
    await mode.start()
  })
})
