/**
 * Decides whether a request was made on this machine. Only the socket's address counts; a request that came through a proxy or a
 * tunnel was made elsewhere, whatever its last hop, and a foreign `Host` is a sign of DNS rebinding.
 */
import { headerOf } from "./Credentials.ts"
import type { RequestHeaders } from "./Credentials.ts"

const forwarding = [
  "forwarded",
  "via",
  "x-forwarded-for",
  "x-forwarded-host",
  "x-forwarded-proto",
  "x-forwarded-port",
  "x-forwarded-prefix",
  "x-forwarded-server",
  "x-real-ip",
  "x-client-ip",
  "true-client-ip",
  "cf-connecting-ip",
  "cf-ray",
  "fly-client-ip",
  "tailscale-user-login"
]

const isLoopbackAddress = (address: string): boolean =>
  /^(?:::ffff:)?127\.\d+\.\d+\.\d+$/i.test(address) || address === "::1"

/** A `Host` that always means this machine. Names below `.localhost` are not among them: how they resolve depends on the resolver. */
export const isOwnHost = (host: string): boolean => /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])(?::\d+)?$/i.test(host)

/** `socketAddress` is the peer address of the socket, null when it is gone. */
export const isLoopback = (socketAddress: string | null, headers: RequestHeaders): boolean =>
  socketAddress !== null &&
  isLoopbackAddress(socketAddress) &&
  forwarding.every((name) => headers[name] === undefined) &&
  isOwnHost(headerOf(headers, "host") ?? "")
