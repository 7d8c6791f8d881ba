/** Request bodies that stop coming, and those that only take long, on real sockets; the time is the test's. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { createServer, type IncomingMessage } from "node:http"
import { connect, type Socket } from "node:net"
import * as Listener from "../../../src/entry/listening/Listener.ts"
import { StalledBodies } from "../../../src/entry/listening/StalledBodies.ts"
import { eventually } from "../../support/eventually.ts"

const limits = { windowMs: 60_000, leastBytes: 1_024, sweepMs: 15_000 }

const client = (port: number) =>
  Effect.acquireRelease(
    Effect.promise(
      () =>
        new Promise<{ readonly socket: Socket; readonly text: () => string; readonly closed: Promise<void> }>(
          (resolve) => {
            let text = ""
            const socket = connect(port, "127.0.0.1", () => resolve({ socket, text: () => text, closed }))
            const closed = new Promise<void>((end) => socket.once("close", () => end()))
            socket.on("error", () => {})
            socket.on("data", (chunk: Buffer) => void (text += chunk.toString()))
          }
        )
    ),
    ({ socket }) => Effect.sync(() => void socket.destroy())
  )

/** A server that reads a body and then says how long it was. */
const setUp = Effect.gen(function* () {
  const bodies = new StalledBodies(limits)
  const asked: Array<{ readonly request: IncomingMessage; readonly bytes: () => number }> = []
  const server = createServer({ requestTimeout: 0 }, (request, response) => {
    bodies.begins(request, response)
    let bytes = 0
    asked.push({ request, bytes: () => bytes })
    request.on("data", (chunk: Buffer) => void (bytes += chunk.length))
    request.on("end", () => void response.end(`${bytes} bytes`))
    request.on("error", () => {})
  })
  server.on("connection", (socket) => bodies.opened(socket))
  const port = yield* Effect.acquireRelease(
    Effect.promise(
      () =>
        new Promise<number>((resolve) =>
          server.listen(0, "127.0.0.1", () => {
            const address = server.address()
            resolve(typeof address === "object" && address !== null ? address.port : 0)
          })
        )
    ),
    () => Effect.sync(() => (server.closeAllConnections(), server.close()))
  )
  const { closed, socket, text } = yield* client(port)
  const head = (bytes: number): void =>
    void socket.write(`POST / HTTP/1.1\r\nHost: a\r\nContent-Length: ${bytes}\r\n\r\n`)
  const received = (bytes: number): Promise<number> =>
    eventually(
      `${bytes} bytes`,
      () => asked[0]?.bytes() ?? -1,
      (seen) => seen === bytes
    )
  return { bodies, asked, socket, text, closed, head, received }
})

type SetUp = Effect.Effect.Success<typeof setUp>

const scenario = (name: string, run: (room: SetUp) => Promise<void>): void => {
  it.scopedLive(name, () => Effect.flatMap(setUp, (room) => Effect.promise(() => run(room))))
}

describe("a request body", () => {
  scenario("may take hours while it goes on", async ({ bodies, head, received, socket, text }) => {
    const pieces = 200
    head(pieces * 2_000)
    for (let piece = 1; piece <= pieces; piece += 1) {
      socket.write("x".repeat(2_000))
      await received(piece * 2_000)
      bodies.sweep(piece * 59_000)
    }
    await eventually("the answer", text, (shown) => shown.includes("400000 bytes"))
    bodies.sweep(1e9)
    bodies.sweep(2e9)
    assert.isFalse(socket.destroyed)
  })

  for (const [what, piece] of [
    ["nothing", ""],
    ["next to nothing", "x".repeat(100)]
  ] as const) {
    scenario(`ends with 408 when ${what} of it comes`, async ({ bodies, closed, head, received, socket, text }) => {
      head(1_000_000)
      socket.write("x".repeat(5_000))
      await received(5_000)
      for (const [step, nowMs] of [0, 20_000, 40_000, 59_999].entries()) {
        socket.write(piece)
        await received(5_000 + (step + 1) * piece.length)
        bodies.sweep(nowMs)
      }
      assert.strictEqual(text(), "")
      bodies.sweep(60_000)
      await closed
      assert.match(text(), /^HTTP\/1\.1 408 /)
      assert.include(text(), '"code":"request_timeout"')
    })
  }

  scenario(
    "is not ended while the gateway itself does not read",
    async ({ asked, bodies, head, received, socket, text }) => {
      head(10_000)
      socket.write("x".repeat(4_000))
      await received(4_000)
      asked[0]?.request.pause()
      for (let nowMs = 0; nowMs < 600_000; nowMs += 15_000) bodies.sweep(nowMs)
      socket.write("x".repeat(6_000))
      asked[0]?.request.resume()
      await eventually("the answer", text, (shown) => shown.includes("10000 bytes"))
    }
  )
})

describe("the listener", () => {
  it.scopedLive("ends a head that does not come, and no body that takes longer than a head may", () =>
    Effect.gen(function* () {
      const listener = yield* Listener.makeWith({ headMs: 100, body: limits })
      const { port } = yield* listener.serve("127.0.0.1", 0, {
        request: (request, response) => request.resume().on("end", () => void response.end("whole")),
        upgrade: () => {}
      })
      const slow = yield* client(port)
      slow.socket.write("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\nab")
      const headless = yield* client(port)
      headless.socket.write("POST / HTTP/1.1\r\nHost:")
      yield* Effect.promise(() => headless.closed)
      assert.match(headless.text(), /^HTTP\/1\.1 408 /)
      slow.socket.write("cd")
      yield* Effect.promise(() => eventually("the answer", slow.text, (shown) => shown.includes("whole")))
      assert.match(slow.text(), /^HTTP\/1\.1 200 /)
    })
  )
})
