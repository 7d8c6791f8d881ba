/**
 * Reads the target of a proxy's request: the authority of CONNECT, and the absolute URL of other requests (RFC 9112,
 * 3.2). Pure.
 */
import { isIP } from "node:net"
import { certificateName } from "../tls/CertificateName.ts"

export interface Authority {
  /** Lower case; an IPv6 address without brackets. */
  readonly host: string
  readonly port: number
}

const bracketed = /^\[([0-9a-f:.]{2,45})\]:(\d{1,5})$/iu
const named = /^([^\s:@/?#[\]]{1,254}):(\d{1,5})$/u

const portOf = (digits: string): number | null => {
  const port = Number(digits)
  return port >= 1 && port <= 65_535 ? port : null
}

/** `host:port` or `[v6]:port`; null when it is neither. */
export const readAuthority = (text: string): Authority | null => {
  const [, literal, literalPort = ""] = bracketed.exec(text) ?? []
  if (literal !== undefined) {
    const port = portOf(literalPort)
    return port === null || isIP(literal) !== 6 ? null : { host: literal.toLowerCase(), port }
  }
  const [, name = "", digits = ""] = named.exec(text) ?? []
  const host = name === "" ? null : certificateName(name)
  const port = portOf(digits)
  return host === null || port === null ? null : { host, port }
}

export interface AbsoluteTarget extends Authority {
  /** Value for the `Host` header. */
  readonly hostHeader: string
  /** Path with the query. */
  readonly path: string
}

/** An absolute `http` URL without user name and fragment; null for everything else, origin-form included. */
export const readAbsoluteTarget = (text: string): AbsoluteTarget | null => {
  if (!/^http:\/\/[^/?]/iu.test(text) || !URL.canParse(text)) return null
  const url = new URL(text)
  if (url.username !== "" || url.password !== "" || url.hash !== "") return null
  const host = certificateName(url.hostname.replace(/^\[(.*)\]$/u, "$1"))
  const port = url.port === "" ? 80 : Number(url.port)
  // The path as it was written: parsing would tidy it up.
  const rest = text.slice("http://".length)
  const slash = rest.search(/[/?]/u)
  const written = slash === -1 ? "" : rest.slice(slash)
  return host === null || port === 0
    ? null
    : { host, port, hostHeader: url.host, path: written.startsWith("/") ? written : `/${written}` }
}

/** Headers for the proxy alone (RFC 9110, 7.6.1), beside those that `Connection` names. */
const ofTheHop = [
  "connection",
  "keep-alive",
  "proxy-authenticate",
  "proxy-authorization",
  "proxy-connection",
  "upgrade"
]
const mostNamed = 32

/** Names in lower case. `isUpgrade`: then what agrees on the other protocol is left in. */
export const hopHeaders = (connection: string | undefined, isUpgrade: boolean): ReadonlySet<string> => {
  const names = (connection ?? "").toLowerCase().split(",", mostNamed)
  const all = new Set([...ofTheHop, ...names.map((name) => name.trim())])
  // What frames the body belongs to the message.
  for (const kept of ["content-length", "transfer-encoding", ...(isUpgrade ? ["connection", "upgrade"] : [])])
    all.delete(kept)
  return all
}
