/** Egress proxies: by which address a call leaves (docs/proxies.md). */
import type * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import type { Connection } from "../connections/entity.ts"
import type { Transport } from "../../contract/domain/Transport.ts"

export const ProxyType = Schema.Literal("http", "https", "socks5")
export type ProxyType = typeof ProxyType.Type

/** IP family of the connection to the proxy; the family that the proxy itself uses is its own choice. */
export const ProxyFamily = Schema.Literal("auto", "ipv4", "ipv6")
export type ProxyFamily = typeof ProxyFamily.Type

/** `free`: found in a public list, run by strangers. */
export const ProxySource = Schema.Literal("manual", "free")
export type ProxySource = typeof ProxySource.Type

export interface Proxy {
  readonly id: string
  /** Unique; `X-Gateway-Egress` shows it. */
  readonly name: string
  readonly type: ProxyType
  /** A host name or an IP literal, without brackets. */
  readonly host: string
  readonly port: number
  readonly username: string | null
  readonly password: Redacted.Redacted | null
  /** False when the stored password cannot be decrypted with the key in use; such a proxy is not used. */
  readonly isReadable: boolean
  readonly family: ProxyFamily
  readonly source: ProxySource
  readonly isActive: boolean
  readonly createdAtMs: number
  readonly updatedAtMs: number
}

/** Scopes from the most to the least particular: `key`, `connection`, `provider`, `global`. */
export const ProxyScope = Schema.Literal("key", "connection", "provider", "global")
export type ProxyScope = typeof ProxyScope.Type

/** One scope's proxy. The proxy may have been removed since: calls of the scope then fail, they do not go direct. */
export interface ProxyAssignment {
  readonly scope: ProxyScope
  /** Null for `global` only. */
  readonly scopeId: string | null
  readonly proxyId: string
}

/** Owner on whose behalf a call is made. */
export interface CallOwner {
  readonly connectionId: string | null
  readonly provider: string | null
  readonly apiKeyId: string | null
  /** False: the connection always goes direct. */
  readonly proxyEnabled: boolean
  /** The proxy named for a connection that is not saved yet: it counts as assigned to it. Null: none is. */
  readonly proxyId: string | null
  /** True when a credential of the connection goes along. */
  readonly carriesKey: boolean
  /** Settings for the sockets; null: the usual ones. */
  readonly transport: Transport | null
}

/** Members of a connection that decide the route of its calls. */
type OwningConnection = Pick<
  Connection,
  "id" | "provider" | "proxyEnabled" | "unsavedProxyId" | "authType" | "headers" | "transport"
>

/** The owner of calls to an account; `apiKeyId` is null for calls that no key of the gateway asked for. */
export const ownerOf = (
  { authType, headers, id, provider, proxyEnabled, transport, unsavedProxyId }: OwningConnection,
  apiKeyId: string | null = null
): CallOwner => ({
  connectionId: unsavedProxyId === null ? null : id,
  provider,
  apiKeyId,
  proxyEnabled,
  proxyId: unsavedProxyId ?? null,
  carriesKey: authType !== "none" || headers !== null,
  transport
})

/** The owner of calls to a provider before there is an account; `proxyId` is the proxy named for that account. */
export const ownerAt = (provider: string, proxyId: string | null): CallOwner => ({
  connectionId: null,
  provider,
  apiKeyId: null,
  proxyEnabled: true,
  proxyId,
  carriesKey: true,
  transport: null
})

/** Codes of errors whose call found its proxy unusable; they are reasons of attempts as well. */
export const proxyCodes = ["PROXY_UNAVAILABLE", "PROXY_FAMILY_UNAVAILABLE"] as const

/** Name of the direct route in answers. */
export const directEgress = "direct"
