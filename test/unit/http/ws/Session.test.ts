/** Signs of life, the length of a life, and slow sockets, without real time. */
import { assert, describe, it } from "@effect/vitest"
import { EventEmitter } from "node:events"
import type { Exchange } from "../../../../src/plane/request/Exchange.ts"
import { makeResponseHistory } from "../../../../src/plane/state/kept/ResponseHistory.ts"
import { maxLifetimeMs, openSession, type SessionSocket } from "../../../../src/entry/ws/Session.ts"
import { highWaterBytes, makeSocketWriter } from "../../../../src/entry/ws/SocketWriter.ts"

class FakeSocket extends EventEmitter {
  readonly OPEN = 1
  readyState = 1
  bufferedAmount = 0
  readonly did: Array<string> = []
  readonly frames: Array<{ readonly type: string; readonly code?: string }> = []
  flush: () => void = () => {}
  send(frame: string, flushed: () => void): void {
    this.frames.push(JSON.parse(frame))
    this.flush = flushed
  }
  close(code: number): void {
    this.did.push(`close ${code}`)
  }
  terminate(): void {
    this.did.push("terminate")
  }
  ping(): void {
    this.did.push("ping")
  }
  pause(): void {
    this.did.push("pause")
  }
  resume(): void {
    this.did.push("resume")
  }
}

const asSocket = (socket: FakeSocket): SessionSocket => socket as unknown as SessionSocket

const setUp = () => {
  const socket = new FakeSocket()
  const served: Array<Exchange> = []
  let running = 0
  const session = openSession(
    asSocket(socket),
    { id: "socket", path: "/v1/responses", headers: {}, openedMs: 0, apiKeyId: null },
    {
      nowMs: () => 0,
      monotonicMs: () => 0,
      nextId: () => "id",
      judge: () => ({ _tag: "Anonymous" }),
      serve: (exchange) => void served.push(exchange),
      refuse: () => {},
      bodies: { share: () => ({ take: () => true, release: () => {} }), refusal: () => assert.fail("there is room") },
      slices: { whenRead: (_, next) => next(), whenWritten: (value, next) => next(Buffer.from(JSON.stringify(value))) },
      history: makeResponseHistory(),
      maxBodyBytes: 1_000_000,
      began: () => {
        running += 1
        return () => (running -= 1)
      }
    }
  )
  const create = () => socket.emit("message", Buffer.from('{"type":"response.create","model":"m","input":"x"}'), false)
  return { socket, session, served, create, running: () => running }
}

describe("Session", () => {
  it("ends a socket whose client gives no sign of life for two ticks", () => {
    const { session, socket } = setUp()
    session.tick(1)
    socket.emit("pong")
    session.tick(2)
    assert.deepStrictEqual(socket.did, ["ping", "ping"])
    session.tick(3)
    assert.deepStrictEqual(socket.did, ["ping", "ping", "terminate"])
  })

  it("lives an hour: then it says so and closes", () => {
    const { session, socket } = setUp()
    session.tick(maxLifetimeMs)
    assert.deepInclude(socket.frames[0], { type: "error", code: "websocket_connection_limit_reached" })
    assert.deepStrictEqual(socket.did, ["ping", "close 1000"])
  })

  it("lets a running response finish first, and takes no other", () => {
    const { create, running, served, session, socket } = setUp()
    create()
    assert.strictEqual(running(), 1)
    session.tick(maxLifetimeMs)
    create()
    assert.strictEqual(served.length, 1)
    assert.strictEqual(socket.frames.length, 1)
    assert.deepStrictEqual(socket.did, ["ping"])
    served[0]!.reply.head(200, [])
    served[0]!.reply.end('data: {"type":"response.completed","response":{"id":"r","output":[]}}\n\n')
    assert.strictEqual(running(), 0)
    assert.deepStrictEqual(
      socket.frames.map(({ code, type }) => code ?? type),
      ["websocket_connection_limit_reached", "response.completed", "websocket_connection_limit_reached"]
    )
    assert.deepStrictEqual(socket.did, ["ping", "close 1000"])
  })

  it("the close of a socket is the end of its responses", () => {
    const { create, running, served, socket } = setUp()
    create()
    create()
    let left = 0
    served[0]!.reply.onClose(() => (left += 1))
    socket.emit("close")
    assert.strictEqual(left, 1)
    assert.strictEqual(running(), 0)
    assert.strictEqual(served.length, 1)
  })
})

describe("SocketWriter", () => {
  it("holds answers up above the mark, and goes deaf to a client that asks on without reading", () => {
    const socket = new FakeSocket()
    const seen: Array<string> = []
    const writer = makeSocketWriter(
      asSocket(socket),
      () => void seen.push("drained"),
      () => void seen.push("progress")
    )
    assert.isTrue(writer.send("{}"))
    socket.flush()
    assert.deepStrictEqual(seen, [])
    socket.bufferedAmount = highWaterBytes
    assert.isFalse(writer.send("{}"))
    assert.deepStrictEqual(socket.did, [])
    socket.bufferedAmount = highWaterBytes * 9
    assert.isFalse(writer.send("{}"))
    assert.isFalse(writer.send("{}"))
    assert.deepStrictEqual(socket.did, ["pause"])
    socket.flush()
    assert.deepStrictEqual(seen, ["progress"])
    socket.bufferedAmount = 0
    socket.flush()
    assert.deepStrictEqual(seen, ["progress", "progress", "drained"])
    assert.deepStrictEqual(socket.did, ["pause", "resume"])
    socket.readyState = 3
    assert.isTrue(writer.send("{}"))
    assert.strictEqual(socket.frames.length, 4)
  })
})
