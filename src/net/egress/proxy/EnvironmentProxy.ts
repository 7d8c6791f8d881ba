/**
 * The proxies that the environment names (`HTTP_PROXY`, `HTTPS_PROXY`, `ALL_PROXY`, `NO_PROXY`, in either letter case), and which of
 * them a call uses. Pure. docs/proxies.md has the rules.
 */
import * as Redacted from "effect/Redacted"
import { isIP } from "node:net"
import { booleanOf } from "../../../kernel/text/BooleanText.ts"
import { makeIpRanges } from "../../../kernel/IpRanges.ts"
import type { ProxyType } from "../../../subjects/proxies/entity.ts"
import { isLocalAddress } from "../OutboundPolicy.ts"
import type { ProxyHop } from "./ProxyRoute.ts"

export interface EnvironmentProxies {
  /** Hot. The proxy for calls to an origin; null: none. */
  readonly hopOf: (origin: string) => ProxyHop | null
  /** Description of the proxies in use, without credentials; null: none. */
  readonly description: string | null
  /** Variables that are set and cannot be used, as sentences without their values. */
  readonly problems: ReadonlyArray<string>
}

/** Name of the route, in answers and usage rows. */
export const environmentEgress = "environment"

const types: Readonly<Record<string, ProxyType>> = {
  "http:": "http",
  "https:": "https",
  "socks:": "socks5",
  "socks5:": "socks5",
  "socks5h:": "socks5"
}
const defaultPorts: Readonly<Record<ProxyType, number>> = { http: 80, https: 443, socks5: 1080 }

const maxUrlChars = 2_048
const maxListChars = 16_384
const maxEntries = 500
/** Origins whose answer is kept; beyond it all are worked out again. */
const maxKnown = 2_000

const bare = (host: string): string => host.replace(/^\[(.*)\]$/, "$1").replace(/\.$/, "")

const decoded = (text: string): string => {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** Null when the text is no address of a proxy. */
const readHop = (text: string): ProxyHop | null => {
  const address = /^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `http://${text}`
  if (address.length > maxUrlChars || !URL.canParse(address)) return null
  const url = new URL(address)
  const type = types[url.protocol]
  const host = bare(url.hostname)
  if (type === undefined || host === "") return null
  const port = url.port === "" ? defaultPorts[type] : Number(url.port)
  const shown = isIP(host) === 6 ? `[${host}]` : host
  return {
    key: `${type}://${shown}:${port} ${environmentEgress}`,
    id: environmentEgress,
    type,
    host,
    port,
    family: 0,
    username: url.username === "" ? null : decoded(url.username),
    password: url.password === "" ? null : Redacted.make(decoded(url.password))
  }
}

/** A host in lower case without brackets, and its port. */
type Excludes = (host: string, port: number) => boolean

/** `host`, `.suffix`, `*.suffix`, an address or a CIDR block, each with or without a port. A name stands for its subdomains, too. */
const readEntry = (entry: string): Excludes => {
  const [, bracketed, bracketedPort] = /^\[([^\]]*)\](?::(\d{1,5}))?$/.exec(entry) ?? []
  const isPlainV6 = bracketed === undefined && entry.split(":").length > 2
  const [, name = entry, namePort] =
    bracketed === undefined && !isPlainV6 ? (/^(.*?)(?::(\d{1,5}))?$/.exec(entry) ?? []) : []
  const host = (bracketed ?? (isPlainV6 ? entry : name)).toLowerCase()
  const port = bracketedPort ?? namePort
  const hasPort = (asked: number): boolean => port === undefined || Number(port) === asked
  if (host === "*") return (_asked, askedPort) => hasPort(askedPort)
  if (isIP(host.split("/", 1)[0] ?? "") !== 0) {
    const isIn = makeIpRanges([host])
    return (asked, askedPort) => hasPort(askedPort) && isIP(asked) !== 0 && isIn(asked)
  }
  const suffix = host.replace(/^\*?\./, "").replace(/\.$/, "")
  if (suffix === "") return () => false
  return (asked, askedPort) => hasPort(askedPort) && (asked === suffix || asked.endsWith(`.${suffix}`))
}

/** Names without a dot are of the network around: a container beside this one, a machine of the same subnet. */
const isLocal = (origin: string, host: string): boolean =>
  isLocalAddress(origin) || (isIP(host) === 0 && !host.includes("."))

const shownHop = ({ host, port, type, username }: ProxyHop): string =>
  `${type}://${username === null ? "" : "***@"}${isIP(host) === 6 ? `[${host}]` : host}:${port}`

const none: EnvironmentProxies = { hopOf: () => null, description: null, problems: [] }

/** Lower case wins over upper case, as other programs have it; a variable set to nothing is not set. */
export const readEnvironmentProxies = (environment: ReadonlyMap<string, string>): EnvironmentProxies => {
  if (booleanOf(environment.get("GATEWAY_IGNORE_PROXY_ENV")?.trim() ?? "") === true) return none
  const problems: Array<string> = []
  const value = (name: string): string => {
    const lower = environment.get(name.toLowerCase())?.trim() ?? ""
    return lower === "" ? (environment.get(name)?.trim() ?? "") : lower
  }
  const hopFor = (name: string): ProxyHop | null => {
    const text = value(name)
    const hop = text === "" ? null : readHop(text)
    if (text !== "" && hop === null) {
      problems.push(
        `${name} is no address of a proxy such as http://proxy.example:3128 (http, https and socks5 are possible), and is not used`
      )
    }
    return hop
  }
  const all = hopFor("ALL_PROXY")
  const hops = { "http:": hopFor("HTTP_PROXY") ?? all, "https:": hopFor("HTTPS_PROXY") ?? all }
  if (hops["http:"] === null && hops["https:"] === null) return { ...none, problems }
  const list = value("NO_PROXY")
  if (list.length > maxListChars)
    problems.push(`NO_PROXY is longer than ${maxListChars} characters: the rest is not read`)
  const entries = list
    .slice(0, maxListChars)
    .split(/[\s,]+/)
    .filter((entry) => entry !== "")
  if (entries.length > maxEntries) problems.push(`NO_PROXY has more than ${maxEntries} entries: the rest is not read`)
  const excludes = entries.slice(0, maxEntries).map(readEntry)

  const find = (origin: string): ProxyHop | null => {
    if (!URL.canParse(origin)) return null
    const { hostname, port, protocol } = new URL(origin)
    const hop = protocol === "http:" || protocol === "https:" ? hops[protocol] : null
    if (hop === null) return null
    const host = bare(hostname.toLowerCase())
    const asked = port === "" ? (protocol === "https:" ? 443 : 80) : Number(port)
    return isLocal(origin, host) || excludes.some((excluded) => excluded(host, asked)) ? null : hop
  }
  const known = new Map<string, ProxyHop | null>()
  const hopOf = (origin: string): ProxyHop | null => {
    const before = known.get(origin)
    if (before !== undefined) return before
    const found = find(origin)
    if (known.size >= maxKnown) known.clear()
    known.set(origin, found)
    return found
  }
  const shown = (["https:", "http:"] as const).flatMap((protocol) => {
    const hop = hops[protocol]
    return hop === null ? [] : [`${protocol}// by ${shownHop(hop)}`]
  })
  const except = entries.length === 0 ? "" : `, except ${entries.length} entries of NO_PROXY`
  return {
    hopOf,
    description: `Calls use the proxies of the environment: ${shown.join(", ")}${except}, and not to this machine and its network. GATEWAY_IGNORE_PROXY_ENV=true sets them aside.`,
    problems
  }
}
