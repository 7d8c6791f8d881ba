/** Rules for the route by which a call leaves, without sockets (docs/proxies.md). */
import { isIP } from "node:net"
import type * as Redacted from "effect/Redacted"
import type {
  CallOwner,
  Proxy,
  ProxyAssignment,
  ProxyFamily,
  ProxyScope,
  ProxyType
} from "../../../subjects/proxies/entity.ts"

/** Facts of a proxy for the connector. */
export interface ProxyHop {
  /** Two hops with the same key may share connections. Without credentials. */
  readonly key: string
  /** Id of the proxy. */
  readonly id: string
  readonly type: ProxyType
  /** A name or an IP literal, without brackets. */
  readonly host: string
  readonly port: number
  /** Address family of the connection to the proxy, 0 for any. */
  readonly family: 0 | 4 | 6
  readonly username: string | null
  readonly password: Redacted.Redacted | null
}

export type ProxyRoute =
  | { readonly _tag: "Direct" }
  | { readonly _tag: "Proxied"; readonly name: string; readonly hop: ProxyHop }
  /** The proxy to use is not available. `name` is null when it was removed. */
  | { readonly _tag: "Unavailable"; readonly kind: "proxy" | "proxy_family"; readonly name: string | null }

export const direct: ProxyRoute = { _tag: "Direct" }

export interface Switches {
  /** Off: the proxy of all calls and the automatic choice are not used; those of keys, connections and providers are. */
  readonly isGlobalOn: boolean
  readonly isSocksOn: boolean
  /** Calls without an assigned proxy use the first one that works. */
  readonly autoSelect: boolean
  /** Condition under which free proxies are used. */
  readonly free: "never" | "without_keys" | "always"
}

/** All that is configured, indexed for the hot path. */
export interface RoutingTable {
  readonly proxies: ReadonlyMap<string, Proxy>
  /** Proxy ids by `assignmentKey`. */
  readonly assigned: ReadonlyMap<string, string>
}

/** Makes the key of an assignment in `RoutingTable.assigned`. */
export const assignmentKey = (scope: ProxyScope, scopeId: string | null): string => `${scope}:${scopeId ?? ""}`

export const routingTable = (
  proxies: ReadonlyArray<Proxy>,
  assignments: ReadonlyArray<ProxyAssignment>
): RoutingTable => ({
  proxies: new Map(proxies.map((proxy) => [proxy.id, proxy])),
  assigned: new Map(assignments.map(({ proxyId, scope, scopeId }) => [assignmentKey(scope, scopeId), proxyId]))
})

const familyNumbers: Readonly<Record<ProxyFamily, ProxyHop["family"]>> = { auto: 0, ipv4: 4, ipv6: 6 }

/** Checks whether the host is a literal of the other family than the one asked for. */
export const contradictsFamily = (host: string, family: ProxyFamily): boolean => {
  const literal = isIP(host)
  return literal !== 0 && familyNumbers[family] !== 0 && familyNumbers[family] !== literal
}

/**
 * A proxy's address as a URL without credentials; a pinned family is its query `family=ipv4` or `family=ipv6`, written once.
 * `auto` leaves the URL as it is.
 */
export const proxyUrl = ({ family, host, port, type }: Pick<Proxy, "type" | "host" | "port" | "family">): string => {
  const url = `${type}://${isIP(host) === 6 ? `[${host}]` : host}:${port}`
  return family === "auto" ? url : `${url}?family=${family}`
}

/** Facts besides the proxy that decide whether it may be used for a call. */
type Use = Pick<Switches, "isSocksOn" | "free"> & Pick<CallOwner, "carriesKey">

const isRefused = ({ isActive, isReadable, source, type }: Proxy, { carriesKey, free, isSocksOn }: Use): boolean =>
  !isActive ||
  !isReadable ||
  (type === "socks5" && !isSocksOn) ||
  (source === "free" && (free === "never" || (free === "without_keys" && carriesKey)))

const routeThrough = (proxy: Proxy | undefined, use: Use): ProxyRoute => {
  const name = proxy?.name ?? null
  if (proxy === undefined || isRefused(proxy, use)) return { _tag: "Unavailable", kind: "proxy", name }
  const { family, host, id, password, port, type, updatedAtMs, username } = proxy
  if (contradictsFamily(host, family)) return { _tag: "Unavailable", kind: "proxy_family", name }
  const key = `${proxyUrl(proxy)} ${id} ${updatedAtMs}`
  return {
    _tag: "Proxied",
    name: proxy.name,
    hop: { key, id, type, host, port, family: familyNumbers[family], username, password }
  }
}

/** Makes the route of a proxy that is tried out: it need not be active, and no key goes along. */
export const routeOfProxy = (proxy: Proxy, isSocksOn: boolean): ProxyRoute =>
  routeThrough({ ...proxy, isActive: true }, { isSocksOn, free: "always", carriesKey: false })

/**
 * The oldest one that can be used and does not fail; when all fail, the oldest of them: who asked for a proxy must not leave by his own
 * address because it is down. Direct when there is none.
 */
const firstWorking = ({ proxies }: RoutingTable, use: Use, isFailing: (proxyId: string) => boolean): ProxyRoute => {
  let failing: ProxyRoute | null = null
  for (const proxy of proxies.values()) {
    const route = routeThrough(proxy, use)
    if (route._tag !== "Proxied") continue
    if (!isFailing(proxy.id)) return route
    failing ??= route
  }
  return failing ?? direct
}

/**
 * Switched off for the connection: direct. Otherwise the proxy of the key, of the connection, of the provider, then, unless those are
 * off, of all and the automatic choice, then direct. An assigned proxy that is missing or inactive is never passed over.
 */
export const resolveRoute = (
  table: RoutingTable,
  switches: Switches,
  { apiKeyId, carriesKey, connectionId, provider, proxyEnabled, proxyId: named }: CallOwner,
  isFailing: (proxyId: string) => boolean
): ProxyRoute => {
  if (!proxyEnabled) return direct
  const { assigned } = table
  const { free, isGlobalOn, isSocksOn } = switches
  const use: Use = { isSocksOn, free, carriesKey }
  const of = (scope: ProxyScope, scopeId: string | null): string | undefined =>
    scopeId === null ? undefined : assigned.get(assignmentKey(scope, scopeId))
  const proxyId =
    of("key", apiKeyId) ??
    named ??
    of("connection", connectionId) ??
    of("provider", provider) ??
    (isGlobalOn ? assigned.get(assignmentKey("global", null)) : undefined)
  if (proxyId !== undefined) return routeThrough(table.proxies.get(proxyId), use)
  return isGlobalOn && switches.autoSelect ? firstWorking(table, use, isFailing) : direct
}
