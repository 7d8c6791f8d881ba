/** What neither side should send over HTTP/2: it breaks what it belongs to, and nothing else. */
import { afterEach, assert, describe, it } from "@effect/vitest"
import { once } from "node:events"
import type { AddressInfo, Socket } from "node:net"
import { createServer as createTlsServer } from "node:tls"
import { makeSeededRandom } from "../../../../src/kernel/SeededRandom.ts"
import { eventually } from "../../../support/eventually.ts"
import { flags, frame, frameTypes, headersFrame, literal, requestFrame, typesOf } from "./frames.ts"
import { makeWorld, sharedAuthorities } from "./harness.ts"
import { answerOf, ask, closed, http2Client, http2Server, rawClient } from "./http2Harness.ts"

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

/** A server of the internet that answers the first request with these bytes. */
const rawHttp2Server = async (answer: Buffer, ends: boolean) => {
  const { internet } = await sharedAuthorities()
  const { certificate } = await internet.authority.issue(name, internet.key, Date.now())
  const sockets = new Set<Socket>()
  const server = createTlsServer(
    { cert: certificate, key: internet.key.export({ type: "pkcs8", format: "pem" }), ALPNProtocols: ["h2"] },
    (socket) => {
      sockets.add(socket)
      let isAnswered = false
      socket.on("error", () => {})
      socket.write(frame(frameTypes.settings, 0, 0, Buffer.alloc(0)))
      let sent: Buffer = Buffer.alloc(0)
      socket.on("data", (chunk: Buffer) => {
        sent = Buffer.concat([sent, chunk])
        if (isAnswered || !typesOf(sent).includes(frameTypes.headers)) return
        isAnswered = true
        if (ends) socket.end(answer)
        else socket.write(answer)
      })
    }
  )
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  return {
    port: (server.address() as AddressInfo).port,
    close: () => {
      server.close()
      for (const socket of sockets) socket.destroy()
    }
  }
}

describe("what a server should not send", () => {
  const ok = [":status", "200"] as const
  const body = frame(frameTypes.data, 0, 1, Buffer.from("body"))
  const answers: ReadonlyArray<readonly [string, ReadonlyArray<Buffer>]> = [
    ["a header twice that may come once", [headersFrame(1, 0, ok, ["etag", "1"], ["etag", "2"]), body]],
    [
      "the same in a trailer",
      [headersFrame(1, 0, ok), body, headersFrame(1, flags.endStream, ["etag", "1"], ["etag", "2"])]
    ],
    [
      "the same before its head",
      [headersFrame(1, 0, [":status", "103"], ["etag", "1"], ["etag", "2"]), headersFrame(1, 0, ok)]
    ],
    ["a switch of protocols", [headersFrame(1, 0, [":status", "101"]), headersFrame(1, 0, ok)]],
    ["no status", [headersFrame(1, 0, ["x", "1"])]],
    ["a status that is none", [headersFrame(1, 0, [":status", "abc"])]],
    ["a connection header", [headersFrame(1, 0, ok, ["connection", "close"])]],
    ["a body before its head", [body]],
    ["a trailer that does not end it", [headersFrame(1, 0, ok), body, headersFrame(1, 0, ["x", "1"])]],
    [
      "a promise that nobody wanted",
      [frame(frameTypes.push, flags.endHeaders, 1, Buffer.from([0, 0, 0, 2, 0x82, 0x87, 0x84]))]
    ],
    ["frames for a request that nobody made", [headersFrame(3, 0, ok)]],
    ["bytes that are no frames", [Buffer.alloc(200, 0xff)]],
    ["a window that overflows", [frame(frameTypes.window, 0, 1, Buffer.from([0x7f, 0xff, 0xff, 0xff]))]],
    ["a reset with an unknown reason", [frame(frameTypes.reset, 0, 1, Buffer.from([0xff, 0xff, 0xff, 0xff]))]],
    [
      "a farewell with an unknown reason",
      [frame(frameTypes.goaway, 0, 0, Buffer.from([0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff]))]
    ],
    ["nothing", []]
  ]

  it.each(answers.flatMap(([what, frames]) => [true, false].map((ends) => [what, ends, frames] as const)))(
    "breaks that request alone: %s, and then leaves: %s",
    async (what, ends, frames) => {
      const server = await keep(rawHttp2Server(Buffer.concat(frames), ends))
      const world = await keep(makeWorld(server.port))
      const client = await keep(http2Client(world, name, ["h2"]))
      const stream = client.session.request({ ":path": "/raw-request" })
      const answered = answerOf(stream)
      await eventually(
        "the request",
        () => world.sink.entries.length,
        (count) => count === 1
      )
      // Some of it is no reason to break anything off: the client may wait, and leave.
      const waited = setTimeout(() => client.close(), 300)
      const answer = await answered
      clearTimeout(waited)
      if (what.includes("twice")) assert.isNotNull((await world.sink.finished()).end.error)
      if (what === "the same twice in a trailer") assert.isNotNull(answer.error)
      client.close()
      await world.sink.finished()
      await eventually(
        "nothing left",
        () => world.listener.connections(),
        (count) => count === 0
      )
    }
  )
})

describe("a server that leaves", () => {
  it.each(["at once", "with its settings"])(
    "before it is asked is told of, and asked anew with the next connection: %s",
    async (when) => {
      const { internet } = await sharedAuthorities()
      const { certificate } = await internet.authority.issue(name, internet.key, Date.now())
      let connections = 0
      const server = createTlsServer(
        { cert: certificate, key: internet.key.export({ type: "pkcs8", format: "pem" }), ALPNProtocols: ["h2"] },
        (socket) => {
          connections += 1
          socket.on("error", () => {})
          if (when === "at once") socket.end()
          else socket.end(frame(frameTypes.settings, 0, 0, Buffer.alloc(0)))
        }
      )
      server.listen(0, "127.0.0.1")
      await once(server, "listening")
      closing.push(() => void server.close())
      const world = await keep(makeWorld((server.address() as AddressInfo).port))
      for (let attempt = 1; attempt <= 2; attempt += 1) {
        const client = await keep(http2Client(world, name, ["h2"]))
        const answer = await ask(client, { ":path": "/" })
        assert.isTrue(answer.status === 502 || answer.rstCode !== 0 || answer.error !== null, JSON.stringify(answer))
        await eventually(
          "nothing left",
          () => world.listener.connections(),
          (count) => count === 0
        )
        assert.strictEqual(connections, attempt)
      }
    }
  )
})

describe("what a client should not send", () => {
  it("ends its connection, whatever it is, and nothing else", async () => {
    const { below, next } = makeSeededRandom(20_261_126)
    const server = await keep(
      http2Server(name, (stream) => {
        stream.respond({ ":status": 200 })
        stream.end("served")
      })
    )
    // Node says nothing of some of it, and reads no more then: such a connection ends as one over which nothing goes.
    const world = await keep(makeWorld(server.port, { idleTimeoutMs: 1_000 }))
    for (let round = 0; round < 150; round += 1) {
      const tls = await rawClient(world, name)
      tls.resume()
      const frames = Array.from({ length: 1 + below(12) }, () => {
        const id = below(8)
        if (next() < 0.4) return requestFrame(id, name, ...(next() < 0.3 ? [literal("te", "gzip")] : []))
        const content = Buffer.from(Array.from({ length: below(40) }, () => below(256)))
        return frame(below(11), below(256), next() < 0.2 ? below(2 ** 31) : id, content)
      })
      tls.write(Buffer.concat(frames))
      if (next() < 0.5) tls.end()
      else setImmediate(() => tls.destroy())
      await closed(tls)
    }
    await eventually(
      "nothing left",
      () => world.listener.connections(),
      (count) => count === 0
    )
    await eventually(
      "the end of all records",
      () => world.sink.entries.filter(({ end }) => end === null).length,
      (count) => count === 0
    )
    const answer = await ask(await keep(http2Client(world, name)), { ":path": "/" })
    assert.strictEqual(answer.body, "served")
  })
})
