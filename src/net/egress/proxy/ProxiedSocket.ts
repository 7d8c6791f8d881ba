/** A socket through a proxy of the environment, for clients that have their own HTTP: commands, and the export of telemetry. */
import { connect as connectTcp, isIP, type Socket } from "node:net"
import { connect as connectTls } from "node:tls"
import type { Client } from "undici"
import UndiciClient from "undici/lib/dispatcher/client.js"
import { connectThrough, type Target } from "./HttpConnect.ts"
import type { ProxyHop } from "./ProxyRoute.ts"
import { socksThrough } from "./Socks.ts"

/** Time limit in ms without a byte, while the tunnel is opened. */
const timeoutMs = 30_000

const targetOf = (url: URL): Target => ({
  host: url.hostname.replace(/^\[(.*)\]$/, "$1"),
  port: url.port === "" ? (url.protocol === "https:" ? 443 : 80) : Number(url.port)
})

const serverName = (host: string): { readonly servername?: string } => (isIP(host) === 0 ? { servername: host } : {})

/** Calls `done` once: with a socket that is ready for HTTP, in TLS where the URL is https, or with why there is none. */
export const openThrough = (
  hop: ProxyHop,
  url: URL,
  done: (error: Error | null, socket: Socket | null) => void
): void => {
  const target = targetOf(url)
  const tcp = connectTcp({ host: hop.host, port: hop.port, timeout: timeoutMs, keepAlive: true, noDelay: true })
  let isOver = false
  const end = (error: Error | null, socket: Socket | null): void => {
    if (isOver) return
    isOver = true
    if (error !== null) tcp.destroy()
    done(error, socket)
  }
  const unusable = (): void =>
    end(
      new Error(
        `The proxy of the environment at ${hop.host}:${hop.port} cannot be used. Check HTTPS_PROXY and HTTP_PROXY.`
      ),
      null
    )
  const reached = (tunnel: Socket): void => {
    if (url.protocol !== "https:") return end(null, tunnel)
    const tls = connectTls({
      socket: tunnel,
      host: target.host,
      ...serverName(target.host),
      ALPNProtocols: ["http/1.1"]
    })
    tls.on("error", (error) => end(error, null)).once("secureConnect", () => end(null, tls))
  }
  const ask = (way: Socket): void => {
    const answered = (stands: boolean): void => (stands ? reached(way) : unusable())
    if (hop.type === "socks5") socksThrough(way, target, hop, answered)
    else connectThrough(way, target, hop, answered)
  }
  tcp
    .on("timeout", unusable)
    .on("error", unusable)
    .once("connect", () => {
      if (hop.type !== "https") return ask(tcp)
      const secured = connectTls({ socket: tcp, host: hop.host, ...serverName(hop.host), ALPNProtocols: ["http/1.1"] })
      secured.on("error", unusable).once("secureConnect", () => ask(secured))
    })
}

/** An HTTP client for one origin, by way of the proxy. */
export const dispatcherThrough = (hop: ProxyHop, url: URL): Client =>
  new UndiciClient(url.origin, {
    connect: (_options, done) =>
      openThrough(hop, url, (error, socket) =>
        socket === null ? done(error ?? new Error("The proxy opened no way."), null) : done(null, socket)
      )
  })
