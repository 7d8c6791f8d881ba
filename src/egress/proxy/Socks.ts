/** A tunnel through a SOCKS5 proxy (RFC 1928, RFC 1929). The target's name goes to the proxy; it is not resolved here. */
import * as Redacted from "effect/Redacted"
import type { Socket } from "node:net"
import { SocksClient } from "socks"
import type { Target } from "./HttpConnect.ts"
import type { ProxyHop } from "./ProxyRoute.ts"

/** Runs `done` once: with true when the tunnel stands. The caller's timer ends an attempt that takes too long. */
export const socksThrough = (
  socket: Socket,
  { host, port }: Target,
  hop: ProxyHop,
  timeoutMs: number,
  done: (stands: boolean) => void
): void => {
  const client = new SocksClient({
    command: "connect",
    destination: { host, port },
    existing_socket: socket,
    timeout: timeoutMs,
    proxy: {
      host: hop.host,
      port: hop.port,
      type: 5,
      ...(hop.username === null
        ? {}
        : { userId: hop.username, password: hop.password === null ? "" : Redacted.value(hop.password) })
    }
  })
  client
    .once("established", () => {
      socket.pause()
      done(true)
    })
    .once("error", () => done(false))
  client.connect()
}
