/**
 * Whether a request was made on this very machine, by itself. Only the socket's address counts; a request that came through a proxy or a
 * tunnel is somebody else's, whatever its last hop, and a foreign Host is a page that rebinds its name to us.
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

/** A `Host` that names this machine wherever it is read. Names below `.localhost` are left to whoever resolves them. */
export const isOwnHost = (host: string): boolean => /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])(?::\d+)?$/i.test(host)

/** `socketAddress` is the peer address of the socket, null when it is gone. */
export const isLoopback = (socketAddress: string | null, headers: RequestHeaders): boolean =>
  socketAddress !== null &&
  isLoopbackAddress(socketAddress) &&
  forwarding.every((name) => headers[name] === undefined) &&
  isOwnHost(headerOf(headers, "host") ?? "")
