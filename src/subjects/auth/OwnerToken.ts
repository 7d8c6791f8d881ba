/**
 * The token of the gateway's owner: a secret that a running gateway hands to the commands of its own machine through a file
 * (`platform/files/OwnerFile`). It is made anew at every start, and this module keeps only its hash.
 *
 * It counts only on a direct connection from this machine, in `Authorization`, among headers that a command-line program sends. A browser
 * adds headers by itself (`Sec-Fetch-*`, `Cookie`, `Origin`, `Referer`), and so do proxies and tunnels; what they add has many names, so
 * that the headers which are allowed are listed here, and not the ones that are not.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import { randomBytes, timingSafeEqual } from "node:crypto"
import { isGatewayKey } from "../../kernel/secrets/GatewayKey.ts"
import { bearerOf, publicAddressHeader, type RequestHeaders } from "./Credentials.ts"
import { formatKey, hashKey } from "./KeyFormat.ts"
import { isLoopback } from "./Loopback.ts"

const plainHeaders: ReadonlySet<string> = new Set([
  "accept",
  "accept-encoding",
  "accept-language",
  "authorization",
  "connection",
  "content-length",
  "content-type",
  "host",
  "if-match",
  "if-none-match",
  "transfer-encoding",
  "user-agent",
  // https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#streamable-http
  "last-event-id",
  "mcp-protocol-version",
  "mcp-session-id",
  // https://a2a-protocol.org/v1.0.0/specification/#142-http-headers
  "a2a-extensions",
  "a2a-version",
  // The handshake of a WebSocket. A page cannot open one with an `Authorization`, and a browser adds `Origin` to it.
  "sec-websocket-extensions",
  "sec-websocket-key",
  "sec-websocket-version",
  "upgrade"
])
const ownPrefix = "x-gateway-"

/** Checks whether a request with the token in `rawKey` came directly from a program of this machine. */
export const isDirect = (rawKey: string, headers: RequestHeaders, socketAddress: string | null): boolean =>
  bearerOf(headers) === rawKey &&
  isLoopback(socketAddress, headers) &&
  Object.keys(headers).every(
    (name) => plainHeaders.has(name) || name.startsWith(ownPrefix) || name === publicAddressHeader
  )

export class OwnerToken extends Context.Tag("gateway/subjects/auth/OwnerToken")<
  OwnerToken,
  {
    /** Makes the token; an earlier one of this run is no longer accepted. */
    readonly issue: Effect.Effect<Redacted.Redacted>
    /** Hot, for keys that are not an API key: whether it is the token, whatever request it came with. */
    readonly matches: (rawKey: string) => boolean
  }
>() {}

export const layer: Layer.Layer<OwnerToken> = Layer.sync(OwnerToken, () => {
  let tokenHash: Buffer | null = null
  return OwnerToken.of({
    issue: Effect.sync(() => {
      const token = formatKey(randomBytes(32))
      tokenHash = Buffer.from(hashKey(token))
      return Redacted.make(token)
    }),
    // Hot: clients that need no key often send one of another service.
    matches: (rawKey) =>
      tokenHash !== null && isGatewayKey(rawKey) && timingSafeEqual(tokenHash, Buffer.from(hashKey(rawKey)))
  })
})
