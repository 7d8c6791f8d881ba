/** A SOCKS5 proxy with a user name and a password (RFC 1928, RFC 1929) on this machine, whose calls all end at one port. */
import * as Effect from "effect/Effect"
import { once } from "node:events"
import { type AddressInfo, connect, createServer, type Socket } from "node:net"

const succeeded = Buffer.from([5, 0, 0, 1, 0, 0, 0, 0, 0, 0])

/** Answers the three messages of a client, then passes on what comes. */
const serve = (client: Socket, portOf: (port: number) => number): void => {
  let step: "greeting" | "login" | "request" | "open" = "greeting"
  client.on("error", () => client.destroy())
  client.on("data", (message: Buffer) => {
    if (step === "greeting") {
      step = "login"
      client.write(Buffer.from([5, 2]))
    } else if (step === "login") {
      step = "request"
      client.write(Buffer.from([1, 0]))
    } else if (step === "request") {
      step = "open"
      const target = connect(portOf(message.readUInt16BE(message.length - 2)), "127.0.0.1", () => {
        client.removeAllListeners("data")
        client.write(succeeded)
        client.pipe(target).pipe(client)
      })
      target.on("error", () => client.destroy())
      client.on("close", () => target.destroy())
    }
  })
}

/** `portOf`: where calls of a port end. Gives the proxy's own port. */
export const start = (portOf: (port: number) => number) =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const clients = new Set<Socket>()
      const server = createServer((client) => {
        clients.add(client)
        client.on("close", () => clients.delete(client))
        serve(client, portOf)
      })
      server.listen(0, "127.0.0.1")
      await once(server, "listening")
      return { server, clients, port: (server.address() as AddressInfo).port }
    }),
    ({ clients, server }) =>
      Effect.promise(async () => {
        for (const client of clients) client.destroy()
        server.close()
        await once(server, "close")
      })
  ).pipe(Effect.map(({ port }) => port))
