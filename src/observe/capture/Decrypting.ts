/** The decrypting listener that the HTTP proxy and the server of custom hosts share; it is there while one of them needs it. */
import * as Effect from "effect/Effect"
import { Timers } from "../../platform/Timers.ts"
import { CaptureParts } from "./CaptureParts.ts"
import type { AuthorityFailed, StaticAuthority } from "./StaticAuthority.ts"
import { makeKey } from "./tls/CertificateAuthority.ts"
import { loadHttp2 } from "./tls/Http2.ts"
import { makeLeafCertificates } from "./tls/LeafCertificates.ts"
import type { ListenerOptions } from "./tls/Connection.ts"
import { type Listener, makeListener } from "./tls/Listener.ts"
import { Refusals } from "./tls/Refusals.ts"
import { makeServerTls } from "./tls/ServerLink.ts"

export type Intercept = NonNullable<ListenerOptions["intercept"]>
export type NeedsHttp1 = NonNullable<ListenerOptions["needsHttp1"]>
export type RefusesUpgrade = NonNullable<ListenerOptions["refusesUpgrade"]>

/** Answers requests in place of servers. */
export interface Interceptor {
  readonly intercept: Intercept
  readonly refusesUpgrade: RefusesUpgrade
  readonly needsHttp1: NeedsHttp1
}

export interface Decrypting {
  /** Hot: null while none is needed. */
  readonly current: () => Listener | null
  /** Makes it, and its authority, when they are not there. */
  readonly open: Effect.Effect<void, AuthorityFailed>
  /** Ends all its connections. */
  readonly close: Effect.Effect<void>
  /** Answers requests in place of servers from now on; null: all are relayed. */
  readonly setIntercept: (interceptor: Interceptor | null) => void
}

/** Time limit in ms of a connection to a server and of its TLS handshake, each. */
export const connectTimeoutMs = 15_000

export const make = (authority: StaticAuthority) =>
  Effect.gen(function* () {
    const timers = yield* Timers
    const parts = yield* CaptureParts
    let listener: Listener | null = null
    let interceptor: Interceptor | null = null

    const open = Effect.gen(function* () {
      if (listener !== null) return
      const [made, key, http2] = yield* Effect.all([authority.get, makeKey, loadHttp2], { concurrency: 3 })
      listener = makeListener({
        recording: { sink: parts.sink, timers, maxBodyBytes: parts.maxBodyBytes },
        http2,
        leaves: makeLeafCertificates(made, key),
        serverTls: makeServerTls({
          timers,
          timeoutMs: connectTimeoutMs,
          verifies: parts.verifiesServers,
          extraAuthority: parts.extraAuthority
        }),
        refusals: new Refusals(),
        isNeverDecrypted: parts.isNeverDecrypted,
        idleTimeoutMs: parts.idleTimeoutMs,
        intercept: (...asked) => interceptor?.intercept(...asked) ?? false,
        refusesUpgrade: (...asked) => interceptor?.refusesUpgrade(...asked) ?? false,
        needsHttp1: (host) => interceptor?.needsHttp1(host) ?? false
      })
    })

    return {
      current: () => listener,
      open,
      close: Effect.sync(() => {
        listener?.close()
        listener = null
      }),
      setIntercept: (next) => {
        interceptor = next
      }
    } satisfies Decrypting
  })
