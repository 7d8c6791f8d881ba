/** HTTP/2 of Node, which is loaded with the first listener that decrypts: it is the dearest of Node's own modules, and nothing else needs it. */
import * as Effect from "effect/Effect"
import type * as NodeHttp2 from "node:http2"

export type Http2 = typeof NodeHttp2

export const loadHttp2: Effect.Effect<Http2> = Effect.promise(() => import("node:http2"))

/** Name of HTTP/2 as clients and servers write it in their handshakes (RFC 9113, 3.2). */
export const h2 = "h2"

/** First bytes of a client that speaks HTTP/2 without having asked (RFC 9113, 3.4). */
export const clientPreface = Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "latin1")
