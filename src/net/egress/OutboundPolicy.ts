/**
 * Decides which hosts an outbound call may reach (docs/security.md). Pure: names and URLs are checked as text, and every
 * address a name resolves to is checked again by the connector. Cloud-metadata addresses are always refused, whatever the
 * flags.
 */
import ipaddr from "ipaddr.js"
import { isIP } from "node:net"
import type { BooleanFlag } from "../../subjects/flags/FlagCatalog.ts"

export interface OutboundPolicy {
  /** True when LAN, carrier-grade NAT, unique local addresses and the like may be reached. */
  readonly allowPrivate: boolean
  /** True when this machine's own loopback addresses may be reached. */
  readonly allowLoopback: boolean
}

/** Longest URL that is parsed; browsers and servers have a similar limit. */
export const maxUrlChars = 8192

export type BlockReason =
  | "syntax"
  | "length"
  | "scheme"
  | "user_info"
  | "fragment"
  | "metadata"
  | "private"
  | "unroutable"

export type Verdict = { readonly _tag: "Allowed" } | { readonly _tag: "Blocked"; readonly reason: BlockReason }

export type UrlVerdict =
  | { readonly _tag: "Allowed"; readonly url: URL }
  | { readonly _tag: "Blocked"; readonly reason: BlockReason }

const allowed: Verdict = { _tag: "Allowed" }
const blocked = (reason: BlockReason) => ({ _tag: "Blocked", reason }) as const

/**
 * The policy for provider URLs under the flags in force. The private flag opens the network around the machine, but not the services of
 * the machine itself; the local one opens both.
 */
export const providerPolicy = (isOn: (flag: BooleanFlag) => boolean): OutboundPolicy => {
  const allowLoopback = !isOn("OUTBOUND_SSRF_GUARD_ENABLED") || isOn("GATEWAY_ALLOW_LOCAL_PROVIDER_URLS")
  return { allowLoopback, allowPrivate: allowLoopback || isOn("GATEWAY_ALLOW_PRIVATE_PROVIDER_URLS") }
}

/** The flags `providerPolicy` reads. */
export const policyFlags = [
  "OUTBOUND_SSRF_GUARD_ENABLED",
  "GATEWAY_ALLOW_LOCAL_PROVIDER_URLS",
  "GATEWAY_ALLOW_PRIVATE_PROVIDER_URLS"
] as const satisfies ReadonlyArray<BooleanFlag>

/**
 * The policy for URLs in requests (images, files): any caller of a model chooses them, so the permissions for the operator's own
 * providers do not apply.
 */
export const requestPolicy = (isOn: (flag: BooleanFlag) => boolean): OutboundPolicy => {
  const isOpen = !isOn("OUTBOUND_SSRF_GUARD_ENABLED")
  return { allowLoopback: isOpen, allowPrivate: isOpen }
}

/** Link-local as a whole, because instance credentials are served there on several addresses. */
const metadataNetworks = ["169.254.0.0/16", "100.100.100.200/32", "168.63.129.16/32", "192.0.0.192/32"].map((cidr) =>
  ipaddr.IPv4.parseCIDR(cidr)
)
const metadataNetworksV6 = ["fd00:ec2::254/128", "fd20:ce::254/128", "fe80::/10"].map((cidr) =>
  ipaddr.IPv6.parseCIDR(cidr)
)
const metadataNames = new Set([
  "metadata.google.internal",
  "metadata.goog",
  "instance-data",
  "instance-data.ec2.internal"
])
const privateSuffixes = [".local", ".internal"]

/**
 * Special ranges for hosts of a private network. All other special-purpose addresses belong to no host (reserved, documentation,
 * multicast), or wrap an IPv4 address in a way that cannot be decoded with certainty.
 * https://www.iana.org/assignments/iana-ipv4-special-registry and https://www.iana.org/assignments/iana-ipv6-special-registry
 */
const ownRanges = new Set(["loopback", "private", "carrierGradeNat", "uniqueLocal", "deprecatedSiteLocal"])
/** Network for benchmarks inside a private network; local proxies assign addresses from it. */
const benchmarkNetwork = ipaddr.IPv4.parseCIDR("198.18.0.0/15")
/** The only part of IPv6 that is allocated. https://www.iana.org/assignments/ipv6-address-space */
const globalV6 = ipaddr.IPv6.parseCIDR("2000::/3")

const nat64 = ipaddr.IPv6.parseCIDR("64:ff9b::/96")
const compatible = ipaddr.IPv6.parseCIDR("::/96")

const fromParts = (high: number, low: number): ipaddr.IPv4 =>
  new ipaddr.IPv4([high >> 8, high & 0xff, low >> 8, low & 0xff])

/** The IPv4 address embedded in an IPv6 address; null when there is none. */
const embedded = (address: ipaddr.IPv6): ipaddr.IPv4 | null => {
  const parts = address.parts
  const last = (): ipaddr.IPv4 => fromParts(parts[6] ?? 0, parts[7] ?? 0)
  if (address.isIPv4MappedAddress()) return address.toIPv4Address()
  if (address.match(nat64)) return last()
  if (parts[0] === 0x2002) return fromParts(parts[1] ?? 0, parts[2] ?? 0)
  // `::` and `::1` are addresses in their own right.
  if (address.match(compatible) && (parts[6] !== 0 || (parts[7] ?? 0) > 1)) return last()
  return null
}

const judgeRange = (range: string, policy: OutboundPolicy): Verdict => {
  if (range === "unicast") return allowed
  if (!ownRanges.has(range)) return blocked("unroutable")
  return (range === "loopback" ? policy.allowLoopback : policy.allowPrivate) ? allowed : blocked("private")
}

const judgeV4 = (address: ipaddr.IPv4, policy: OutboundPolicy): Verdict => {
  if (metadataNetworks.some((network) => address.match(network))) return blocked("metadata")
  return judgeRange(address.match(benchmarkNetwork) ? "private" : address.range(), policy)
}

/** The family of an IP address in its usual text form; 0: it is none. */
export const addressFamily = (text: string): number => isIP(text)

/** Checks an IP address in its usual text form. Forms only some parsers understand (octal, hexadecimal, short) are refused. */
export const judgeAddress = (address: string, policy: OutboundPolicy): Verdict => {
  const family = isIP(address)
  if (family === 0) return blocked("syntax")
  if (family === 4) return judgeV4(ipaddr.IPv4.parse(address), policy)
  const parsed = ipaddr.IPv6.parse(address)
  const inner = embedded(parsed)
  if (inner !== null) return judgeV4(inner, policy)
  if (metadataNetworksV6.some((network) => parsed.match(network))) return blocked("metadata")
  const range = parsed.range()
  return range === "unicast" && !parsed.match(globalV6) ? blocked("unroutable") : judgeRange(range, policy)
}

/**
 * Checks a host as written in a URL: a literal as an address, a name by the name alone. The addresses of an allowed name are still to
 * be checked.
 */
export const judgeHost = (host: string, policy: OutboundPolicy): Verdict => {
  const name = host
    .toLowerCase()
    // One trailing dot is part of a fully qualified name; several are not a name.
    .replace(/\.$/, "")
    .replace(/^\[(.*)\]$/, "$1")
  if (name === "" || name.endsWith(".")) return blocked("syntax")
  if (isIP(name) !== 0) return judgeAddress(name, policy)
  if (metadataNames.has(name)) return blocked("metadata")
  if (name === "localhost" || name.endsWith(".localhost")) return policy.allowLoopback ? allowed : blocked("private")
  const isPrivate = privateSuffixes.some((suffix) => name.endsWith(suffix))
  return isPrivate && !policy.allowPrivate ? blocked("private") : allowed
}

const onlyPublic: OutboundPolicy = { allowLoopback: false, allowPrivate: false }

/**
 * Checks whether a URL leads to this machine or its network (loopback, link-local or private), as far as its host
 * shows.
 */
export const isLocalAddress = (url: string): boolean => {
  if (!URL.canParse(url)) return false
  const verdict = judgeHost(new URL(url).hostname, onlyPublic)
  return verdict._tag === "Blocked" && (verdict.reason === "private" || verdict.reason === "metadata")
}

/** Checks a URL from outside: absolute, http or https, no user-info, no fragment, and an allowed host. */
export const judgeUrl = (text: string, policy: OutboundPolicy): UrlVerdict => {
  if (text.length > maxUrlChars) return blocked("length")
  if (!URL.canParse(text)) return blocked("syntax")
  const url = new URL(text)
  if (url.protocol !== "http:" && url.protocol !== "https:") return blocked("scheme")
  if (url.username !== "" || url.password !== "") return blocked("user_info")
  if (text.includes("#")) return blocked("fragment")
  const host = judgeHost(url.hostname, policy)
  return host._tag === "Blocked" ? host : { _tag: "Allowed", url }
}

/** Error messages for the sender of the URL. One text for everything the network decides, so that it cannot be probed. */
export const blockMessage: Readonly<Record<BlockReason, string>> = {
  syntax: "It is not an absolute URL.",
  length: `It is longer than ${maxUrlChars} characters, the limit.`,
  scheme: "Only http and https URLs are allowed.",
  user_info: "User name and password do not belong into the URL.",
  fragment: "The URL must not have a fragment.",
  metadata: "The outbound policy does not allow this address.",
  private: "The outbound policy does not allow this address.",
  unroutable: "The outbound policy does not allow this address."
}
