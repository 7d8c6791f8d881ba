/**
 * The listener of an owner: its requests come from workers over a socket file in a folder that only this user can enter, each connection with
 * the address of the client that it stands for. Other addresses, as those of tunnels, are opened as in any process.
 */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { rmSync } from "node:fs"
import type { Server } from "node:http"
import { createServer, type Socket } from "node:net"
import { type Listener, ListenFailed, layerOpening, type Open } from "../listening/Listener.ts"
import { asSentence } from "../../kernel/text/Sentence.ts"
import { Timers } from "../../platform/Timers.ts"
import { readPreamble } from "./Preamble.ts"

/** Socket file of the owner's requests in the folder of the processes. */
export const requestSocket = (folder: string): string => `${folder}/http`

/** Time for the first line of a connection, in milliseconds. */
const preambleMs = 10_000
const backlog = 4_096

type After = (typeof Timers.Service)["after"]

/** The socket with the client's addresses in place of its own, which has none. */
const standFor = (socket: Socket, addresses: object): void => {
  for (const [name, value] of Object.entries(addresses)) {
    Object.defineProperty(socket, name, { value, configurable: true, enumerable: true })
  }
}

/** Hands a connection to the server once its first line is there. */
const accept = (server: Server, socket: Socket, after: After): void => {
  let read: Buffer = Buffer.alloc(0)
  const end = (): void => void socket.destroy()
  const limit = after(preambleMs, end)
  const onData = (bytes: Buffer): void => {
    read = read.length === 0 ? bytes : Buffer.concat([read, bytes])
    const preamble = readPreamble(read)
    if (preamble === null) return
    limit.cancel()
    socket.off("data", onData).off("error", end).pause()
    if (preamble === "wrong") return end()
    standFor(socket, preamble.addresses)
    if (preamble.rest.length > 0) socket.unshift(preamble.rest)
    server.emit("connection", socket)
    socket.resume()
  }
  socket
    .on("data", onData)
    .on("error", end)
    .once("close", () => limit.cancel())
}

/** Opens the socket file; clients reach the gateway at `port` of the address that was asked for. */
const opening =
  (folder: string, port: number, after: After): Open =>
  (server, host) =>
    Effect.async((resume) => {
      const path = requestSocket(folder)
      // Of an owner that was killed.
      rmSync(path, { force: true })
      const accepting = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => accept(server, socket, after))
      accepting.once("error", (error) => {
        resume(
          Effect.fail(
            new ListenFailed({ message: `The socket ${path} cannot be opened: ${asSentence(error.message)}` })
          )
        )
      })
      accepting.listen({ path, backlog, exclusive: true }, () => {
        // Node follows the connections of a server, to close idle ones, from this event on.
        server.emit("listening")
        resume(
          Effect.succeed({
            address: { address: host, family: host.includes(":") ? "IPv6" : "IPv4", port },
            close: (done: () => void) => {
              server.close(() => {})
              accepting.close(() => done())
            }
          })
        )
      })
    })

export const layer = (folder: string, port: number): Layer.Layer<Listener, never, Timers> =>
  Layer.unwrapEffect(Effect.map(Timers, ({ after }) => layerOpening(opening(folder, port, after))))
