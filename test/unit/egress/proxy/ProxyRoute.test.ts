import { assert, describe, it } from "@effect/vitest"
import type { CallOwner, Proxy, ProxyAssignment } from "../../../../src/subjects/proxies/entity.ts"
import {
  contradictsFamily,
  proxyUrl,
  resolveRoute,
  routeOfProxy,
  routingTable,
  type Switches
} from "../../../../src/net/egress/proxy/ProxyRoute.ts"

const proxy = (id: string, more: Partial<Proxy> = {}): Proxy => ({
  id,
  name: id,
  type: "socks5",
  host: "proxy.example",
  port: 1080,
  username: null,
  password: null,
  isReadable: true,
  family: "auto",
  source: "manual",
  isActive: true,
  createdAtMs: 0,
  updatedAtMs: 0,
  ...more
})

const owner: CallOwner = {
  connectionId: "c",
  provider: "p",
  apiKeyId: "k",
  proxyEnabled: true,
  proxyId: null,
  carriesKey: true,
  transport: null
}

const switches: Switches = { isGlobalOn: true, isSocksOn: true, autoSelect: false, free: "without_keys" }

const all = ["key", "connection", "provider", "global"].map((id) => proxy(id))
const everywhere: ReadonlyArray<ProxyAssignment> = [
  { scope: "key", scopeId: "k", proxyId: "key" },
  { scope: "connection", scopeId: "c", proxyId: "connection" },
  { scope: "provider", scopeId: "p", proxyId: "provider" },
  { scope: "global", scopeId: null, proxyId: "global" }
]

interface Asked {
  readonly proxies?: ReadonlyArray<Proxy>
  readonly assignments?: ReadonlyArray<ProxyAssignment>
  readonly switches?: Partial<Switches>
  readonly owner?: Partial<CallOwner>
  readonly failing?: ReadonlyArray<string>
}

const way = ({ assignments = everywhere, failing = [], proxies = all, ...more }: Asked): string => {
  const route = resolveRoute(
    routingTable(proxies, assignments),
    { ...switches, ...more.switches },
    { ...owner, ...more.owner },
    (id) => failing.includes(id)
  )
  return route._tag === "Proxied" ? route.name : route._tag === "Direct" ? "direct" : `${route.kind}:${route.name}`
}

describe("the way of a call", () => {
  it("is that of the key, the connection, the provider, of all, and direct, in this order", () => {
    for (const [left, expected] of ["key", "connection", "provider", "global", "direct"].entries()) {
      assert.strictEqual(way({ assignments: everywhere.slice(left) }), expected)
    }
  })

  it("is direct while proxies are off for the connection", () => {
    assert.strictEqual(way({ owner: { proxyEnabled: false }, switches: { autoSelect: true } }), "direct")
  })

  it("keeps what is assigned to one key, connection or provider while the proxy of all is off", () => {
    const off = { isGlobalOn: false, autoSelect: true }
    for (const [left, expected] of ["key", "connection", "provider", "direct", "direct"].entries()) {
      assert.strictEqual(way({ assignments: everywhere.slice(left), switches: off }), expected)
    }
    const removed = { proxies: [], switches: off }
    assert.strictEqual(way({ ...removed, assignments: everywhere.slice(1) }), "proxy:null")
    assert.strictEqual(way({ ...removed, assignments: everywhere.slice(3) }), "direct")
  })

  it("of a connection that is not saved is the one named for it", () => {
    const named = { connectionId: "candidate", apiKeyId: null, proxyId: "key" }
    assert.strictEqual(way({ owner: named }), "key")
    assert.strictEqual(way({ owner: named, assignments: [], switches: { isGlobalOn: false } }), "key")
    assert.strictEqual(way({ owner: { ...named, proxyId: "gone" } }), "proxy:null")
    assert.strictEqual(way({ owner: { ...named, proxyEnabled: false } }), "direct")
  })

  it("passes over the assignments of others, and those of callers without a key or connection", () => {
    assert.strictEqual(way({ owner: { apiKeyId: "other" } }), "connection")
    assert.strictEqual(way({ owner: { apiKeyId: null, connectionId: null } }), "provider")
  })

  const unusable: ReadonlyArray<readonly [string, ReadonlyArray<Proxy>, string]> = [
    ["was removed", [], "proxy:null"],
    ["is not active", [proxy("key", { isActive: false })], "proxy:key"],
    ["has a password that cannot be read", [proxy("key", { isReadable: false })], "proxy:key"],
    ["is of the other family", [proxy("key", { host: "10.0.0.1", family: "ipv6" })], "proxy_family:key"],
    ["is run by strangers", [proxy("key", { source: "free" })], "proxy:key"]
  ]
  it.each(unusable)("is no other one when the assigned proxy %s", (_, proxies, expected) => {
    const others = all.filter(({ id }) => id !== "key")
    assert.strictEqual(way({ proxies: [...proxies, ...others], switches: { autoSelect: true } }), expected)
  })

  it("is none by SOCKS5 while that is off", () => {
    assert.strictEqual(way({ switches: { isSocksOn: false } }), "proxy:key")
    assert.strictEqual(way({ proxies: [proxy("key", { type: "http" })], switches: { isSocksOn: false } }), "key")
  })

  it("goes through strangers as the settings say", () => {
    const proxies = [proxy("key", { source: "free" })]
    assert.strictEqual(way({ proxies, owner: { carriesKey: false } }), "key")
    assert.strictEqual(way({ proxies, switches: { free: "always" } }), "key")
    assert.strictEqual(way({ proxies, owner: { carriesKey: false }, switches: { free: "never" } }), "proxy:key")
  })

  it("is chosen automatically where nothing is assigned: the first that works", () => {
    const auto = { assignments: [], switches: { autoSelect: true } }
    assert.strictEqual(way({ ...auto, switches: { autoSelect: false } }), "direct")
    assert.strictEqual(way(auto), "key")
    assert.strictEqual(way({ ...auto, failing: ["key"] }), "connection")
    const [, ...rest] = all
    assert.strictEqual(way({ ...auto, proxies: [proxy("key", { isActive: false }), ...rest] }), "connection")
    assert.strictEqual(way({ ...auto, proxies: [] }), "direct")
  })

  it("is not direct when all that could be chosen fail", () => {
    const failing = all.map(({ id }) => id)
    assert.strictEqual(way({ assignments: [], switches: { autoSelect: true }, failing }), "key")
  })

  it("of a test goes through a proxy that is not active", () => {
    assert.strictEqual(routeOfProxy(proxy("a", { isActive: false, source: "free" }), true)._tag, "Proxied")
    assert.strictEqual(routeOfProxy(proxy("a"), false)._tag, "Unavailable")
  })
})

describe("the address of a proxy", () => {
  const urls: ReadonlyArray<readonly [Partial<Proxy>, string]> = [
    [{}, "socks5://proxy.example:1080"],
    [{ family: "ipv4" }, "socks5://proxy.example:1080?family=ipv4"],
    [{ type: "https", family: "ipv6", host: "::1", port: 443 }, "https://[::1]:443?family=ipv6"],
    [{ type: "http", host: "10.0.0.1" }, "http://10.0.0.1:1080"]
  ]
  it.each(urls)("of %j names a pinned family once", (more, url) => {
    assert.strictEqual(proxyUrl(proxy("a", more)), url)
  })

  const contradictions: ReadonlyArray<readonly [string, Proxy["family"], boolean]> = [
    ["10.0.0.1", "ipv6", true],
    ["::1", "ipv4", true],
    ["10.0.0.1", "ipv4", false],
    ["::1", "auto", false],
    ["proxy.example", "ipv6", false]
  ]
  it.each(contradictions)("%s contradicts %s: %s", (host, family, expected) => {
    assert.strictEqual(contradictsFamily(host, family), expected)
  })

  it("makes connections of their own for each family, host and change", () => {
    const keyOf = (more: Partial<Proxy>): string => {
      const route = routeOfProxy(proxy("a", more), true)
      return route._tag === "Proxied" ? route.hop.key : ""
    }
    const keys = [{}, { family: "ipv4" }, { host: "other.example" }, { updatedAtMs: 1 }, { port: 1 }] as const
    assert.strictEqual(new Set(keys.map(keyOf)).size, keys.length)
  })
})
