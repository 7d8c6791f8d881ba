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
import { makeSignal } from "../../kernel/collections/Signal.ts"
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
/** A SHA-256 in hexadecimal digits. */
const hashChars = 64

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
    /** Hash of the token; null: none was made. */
    readonly hash: () => string | null
    /** Calls `listener` with the hash of each token that is made. */
    readonly onIssued: (listener: (hash: string) => void) => () => void
    /** Accepts the token of another process of this gateway, by its hash. */
    readonly follow: (hash: string) => void
  }
>() {}

export const layer: Layer.Layer<OwnerToken> = Layer.sync(OwnerToken, () => {
  let tokenHash: Buffer | null = null
  const issued = makeSignal<string>()
  const follow = (hash: string): void => {
    tokenHash = Buffer.from(hash)
  }
  return OwnerToken.of({
    issue: Effect.sync(() => {
      const token = formatKey(randomBytes(32))
      const hash = hashKey(token)
      follow(hash)
      issued.tell(hash)
      return Redacted.make(token)
    }),
    hash: () => tokenHash?.toString() ?? null,
    onIssued: issued.listen,
    follow,
    // Hot: clients that need no key often send one of another service.
    matches: (rawKey) =>
      tokenHash?.length === hashChars &&
      isGatewayKey(rawKey) &&
      timingSafeEqual(tokenHash, Buffer.from(hashKey(rawKey)))
  })
})
