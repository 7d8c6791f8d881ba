/** The port that custom hosts and hosts of agents lead to: on loopback, for both address families, in front of the decrypting listener. */
import * as Effect from "effect/Effect"
import { createServer, type Server, type Socket } from "node:net"
import { ListenFailed, PortInUse } from "./proxy/HttpProxy.ts"
import type { Dialer } from "./proxy/Dialer.ts"
import type { Listener } from "./tls/Listener.ts"
import { DialFailed, type Label } from "./tls/Origin.ts"

export interface HostServerOptions {
  /** `MITM_PORT`; 0: a free one. */
  readonly port: number
  /** Returns the listener; called for every connection. */
  readonly listener: () => Listener | null
  /**
   * Makes the dialer to the server of a name, past the hosts file. Gets this server's port, which it must not connect
   * to.
   */
  readonly dial: (ownPort: number) => Dialer
  readonly labelOf: (name: string | null) => Label
}

export interface HostServer {
  readonly port: number
  /** Ends its connections. Nothing of it is left then. */
  readonly close: Effect.Effect<void>
}

/** Port at which the hosts are really served. */
const httpsPort = 443
/** The system has no IPv6. */
const familyMissing = new Set(["EADDRNOTAVAIL", "EAFNOSUPPORT"])
const noName = new DialFailed("NO_SERVER_NAME", "The client did not say which host it wants.", 400)

export const start = ({
  dial: dialerOf,
  labelOf,
  listener,
  port
}: HostServerOptions): Effect.Effect<HostServer, PortInUse | ListenFailed> =>
  Effect.gen(function* () {
    const sockets = new Set<Socket>()
    let dial: Dialer | null = null

    const onConnection = (socket: Socket): void => {
      const behind = listener()
      const made = dial
      if (behind === null || made === null) return void socket.destroy()
      sockets.add(socket)
      socket.once("close", () => sockets.delete(socket))
      behind.accept(socket, {
        name: null,
        address: null,
        port: httpsPort,
        dial: (name, done) => {
          if (name === null) queueMicrotask(() => done(noName))
          else made(name, httpsPort, done)
        },
        labelOf
      })
    }

    const listen = (address: string, at: number): Effect.Effect<Server, string> =>
      Effect.async((resume) => {
        const server = createServer({ allowHalfOpen: true }, onConnection)
        server.once("error", (error: NodeJS.ErrnoException) => resume(Effect.fail(error.code ?? "UNKNOWN")))
        server.listen({ host: address, port: at, ipv6Only: true }, () => resume(Effect.succeed(server)))
      })
    const failed = (code: string): PortInUse | ListenFailed =>
      code === "EADDRINUSE" ? new PortInUse({ port }) : new ListenFailed({ port, code })
    const end = (server: Server): Effect.Effect<void> =>
      Effect.async((resume) => void server.close(() => resume(Effect.void)))

    const four = yield* Effect.mapError(listen("127.0.0.1", port), failed)
    const address = four.address()
    const own = address === null || typeof address === "string" ? port : address.port
    const six = yield* listen("::1", own).pipe(
      Effect.catchIf(
        (code) => familyMissing.has(code),
        () => Effect.succeed(null)
      ),
      Effect.mapError(failed),
      Effect.tapError(() => end(four))
    )
    dial = dialerOf(own)

    const close = Effect.suspend(() => {
      const ends = Effect.all(six === null ? [end(four)] : [end(four), end(six)], {
        concurrency: "unbounded",
        discard: true
      })
      return Effect.zipLeft(
        ends,
        Effect.sync(() => {
          for (const socket of sockets) socket.destroy()
        }),
        { concurrent: true }
      )
    })
    return { port: own, close }
  }).pipe(Effect.uninterruptible)
