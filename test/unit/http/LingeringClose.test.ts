/** Over real sockets: a client that is answered before its body is there. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { createServer, type Server } from "node:http"
import { connect, type AddressInfo } from "node:net"
import { lingerAfterAnswer, mayHaveBody } from "../../../src/entry/listening/LingeringClose.ts"
import * as Listener from "../../../src/entry/listening/Listener.ts"
import { stallLimits } from "../../../src/entry/listening/StalledBodies.ts"

const bodyBytes = 8_000_000
const piece = Buffer.alloc(100_000, 97)

/** A client that can go on writing when the other side has ended. */
const client = (port: number) =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const socket = connect({ port, host: "127.0.0.1", allowHalfOpen: true })
      const errors: Array<string> = []
      let text = ""
      socket.on("error", (error) => void errors.push(error.message))
      socket.on("data", (chunk) => (text += chunk.toString("latin1")))
      const ended = new Promise<void>((resolve) => socket.once("end", resolve))
      const closed = new Promise<void>((resolve) => socket.once("close", () => resolve()))
      const write = (bytes: Buffer | string) => new Promise<void>((resolve) => socket.write(bytes, () => resolve()))
      await write(`PUT / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: ${bodyBytes}\r\n\r\n`)
      await write(piece)
      return { socket, errors, text: () => text, ended, closed, write }
    }),
    ({ socket }) => Effect.sync(() => socket.destroy())
  )

const tooLarge = "HTTP/1.1 413 Payload Too Large"

describe("a client that is answered before its body is there", () => {
  it.scopedLive("reads its answer and may go on to the end", () =>
    Effect.gen(function* () {
      const listener = yield* Listener.makeWith({ headMs: 60_000, body: stallLimits })
      const { port } = yield* listener.serve("127.0.0.1", 0, {
        request: (_, response) => void response.writeHead(413).end("no"),
        upgrade: () => {}
      })
      const { closed, ended, errors, socket, text, write } = yield* client(port)
      yield* Effect.promise(() => ended)
      assert.include(text(), tooLarge)
      yield* Effect.promise(async () => {
        for (let sent = piece.length; sent < bodyBytes; sent += piece.length) await write(piece)
        socket.end()
        await closed
      })
      assert.deepStrictEqual(errors, [])
    })
  )

  it.scopedLive("has a bounded time for it", () =>
    Effect.gen(function* () {
      const timers: Array<{ readonly delayMs: number; readonly run: () => void }> = []
      const after = (delayMs: number, run: () => void) => {
        timers.push({ delayMs, run })
        return { cancel: () => {} }
      }
      const server = yield* Effect.acquireRelease(
        Effect.async<Server>((resume) => {
          const made = createServer((request, response) => {
            if (mayHaveBody(request)) lingerAfterAnswer(after, request)
            response.writeHead(413).end("no")
          })
          made.listen(0, "127.0.0.1", () => resume(Effect.succeed(made)))
        }),
        (made) => Effect.sync(() => void made.close())
      )
      const { ended, text } = yield* client((server.address() as AddressInfo).port)
      yield* Effect.promise(() => ended)
      assert.include(text(), tooLarge)
      assert.deepStrictEqual(
        timers.map(({ delayMs }) => delayMs),
        [2_000]
      )
      const opened = yield* Effect.async<number>((resume) => {
        server.getConnections((_, count) => resume(Effect.succeed(count)))
      })
      assert.strictEqual(opened, 1)
      const gone = new Promise<void>((resolve) => server.close(() => resolve()))
      timers[0]?.run()
      yield* Effect.promise(() => gone)
    })
  )
})
