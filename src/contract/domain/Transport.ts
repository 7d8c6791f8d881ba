/** Settings for the sockets of one connection, where the usual ones do not work (docs/providers.md). */
import type * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"

/** Each member null: the usual. */
export interface Transport {
  /** Certificates in PEM that are trusted in place of the usual authorities. */
  readonly ca: string | null
  /** The client's certificate in PEM, with its chain, and its private key: for providers that ask for one (mTLS). */
  readonly certificate: string | null
  readonly key: Redacted.Redacted | null
  /** The name for SNI and the check of the certificate. */
  readonly serverName: string | null
  readonly connectTimeoutMs: number | null
  /** Time in ms for which an idle socket is kept for the next call; the provider's own hint may shorten it. */
  readonly keepAliveMs: number | null
  readonly maxIdleSockets: number | null
  /** An address of this machine that sockets leave by. */
  readonly localAddress: string | null
}

const MaybeText = Schema.NullOr(Schema.String)
const MaybeNumber = Schema.NullOr(Schema.Number)

/** Stored form, encrypted as a whole. */
export const StoredTransport: Schema.Schema<Transport, string> = Schema.parseJson(
  Schema.Struct({
    ca: MaybeText,
    certificate: MaybeText,
    key: Schema.NullOr(Schema.Redacted(Schema.String)),
    serverName: MaybeText,
    connectTimeoutMs: MaybeNumber,
    keepAliveMs: MaybeNumber,
    maxIdleSockets: MaybeNumber,
    localAddress: MaybeText
  })
)

export const usualTransport: Transport = {
  ca: null,
  certificate: null,
  key: null,
  serverName: null,
  connectTimeoutMs: null,
  keepAliveMs: null,
  maxIdleSockets: null,
  localAddress: null
}
