/**
 * Proxies of public lists. Lists are foreign text: each is bounded, only public addresses are taken from it, and each proxy is tried
 * before it is given out.
 */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Random from "effect/Random"
import type { Proxy } from "../../subjects/proxies/entity.ts"
import { noSecrets } from "../../kernel/secrets/SentSecrets.ts"
import { judgeHost, judgeUrl, requestPolicy } from "../../net/egress/OutboundPolicy.ts"
import { routeOfProxy } from "../../net/egress/proxy/ProxyRoute.ts"
import { PublicFetch } from "../../net/egress/PublicFetch.ts"
import { Upstream } from "../../net/egress/Upstream.ts"
import { Flags } from "../../subjects/flags/service.ts"
import { IdGen } from "../../platform/IdGen.ts"
import { ProxyPlan } from "./ProxyPlan.ts"

export interface FreeSearch {
  /** Addresses of lists. */
  readonly sources: ReadonlyArray<string>
  /** Fetched through each proxy. */
  readonly testUrl: string
  /** `host:port` of proxies that are not looked for. */
  readonly known: ReadonlySet<string>
  /** Number of proxies that may still be added. */
  readonly room: number
}

export interface FreeSearchResult {
  /** Proxies in the lists that were not known. */
  readonly listed: number
  readonly tested: number
  /** Proxies that work; not saved, not active. */
  readonly working: ReadonlyArray<Proxy>
  /** Reason for which the last list that failed could not be read; null: none failed. */
  readonly problem: string | null
}

export class FreeProxies extends Context.Tag("gateway/plane/providers/FreeProxies")<
  FreeProxies,
  { readonly search: (search: FreeSearch) => Effect.Effect<FreeSearchResult> }
>() {}

const listLimits = { timeoutMs: 15_000, maxBytes: 1_048_576 }
const tryLimits = { timeoutMs: 10_000, maxBytes: 65_536 }
const maxListed = 5_000
const maxTested = 100
const maxWorking = 20
const atOnce = 16
const maxLineChars = 300

export interface Listed {
  readonly type: "http" | "socks5"
  readonly host: string
  readonly port: number
}

/** `https` in such lists is an HTTP proxy that takes CONNECT, not one that is spoken to over TLS. */
const types: Readonly<Record<string, Listed["type"]>> = {
  http: "http",
  https: "http",
  socks5: "socks5",
  socks5h: "socks5"
}

const listedIn = (line: string): Listed | null => {
  const parts = /^(?:([a-z\d]{4,7}):\/\/)?([a-z\d.-]{1,253}|\[[\d.:a-f]{2,45}\]):(\d{1,5})(?:[\s,;]|$)/i.exec(line)
  const type = types[(parts?.[1] ?? "http").toLowerCase()]
  const port = Number(parts?.[3])
  if (type === undefined || parts === null || port < 1 || port > 65_535) return null
  return { type, host: (parts[2] ?? "").toLowerCase().replace(/^\[(.*)\]$/, "$1"), port }
}

/** Reads the proxies of a list, each once; other lines are ignored. Linear, and bounded. */
export const readList = (text: string): ReadonlyArray<Listed> => {
  const found = new Map<string, Listed>()
  for (const line of text.split("\n")) {
    const listed = listedIn(line.slice(0, maxLineChars).trim())
    if (listed !== null) found.set(`${listed.host}:${listed.port}`, listed)
    if (found.size >= maxListed) break
  }
  return [...found.values()]
}

export const make = Effect.gen(function* () {
  const fetch = yield* PublicFetch
  const flags = yield* Flags
  const ids = yield* IdGen
  const plan = yield* ProxyPlan
  const upstream = yield* Upstream

  const list = (url: string) =>
    Effect.match(
      fetch.get(url, listLimits, ({ status }) => status === 200, "operator"),
      {
        onFailure: ({ _tag }) => `${url.slice(0, maxLineChars)}: ${_tag}.`,
        onSuccess: ({ body, status }) =>
          status === 200 ? readList(body.toString("utf8")) : `${url.slice(0, maxLineChars)}: status ${status}.`
      }
    )

  const proxyOf = Effect.fnUntraced(function* ({ host, port, type }: Listed) {
    const nowMs = yield* Clock.currentTimeMillis
    const proxy: Proxy = {
      id: ids.next(nowMs),
      name: `free ${host.includes(":") ? `[${host}]` : host}:${port}`,
      type,
      host,
      port,
      username: null,
      password: null,
      isReadable: true,
      family: "auto",
      source: "free",
      isActive: false,
      createdAtMs: nowMs,
      updatedAtMs: nowMs
    }
    return proxy
  })

  const isWorking = (proxy: Proxy, test: URL) =>
    Effect.match(
      upstream.requestVia(
        routeOfProxy(proxy, plan.isSocksOn),
        {
          origin: test.origin,
          path: test.pathname + test.search,
          method: "GET",
          headers: ["accept", "*/*"],
          body: null,
          secrets: noSecrets
        },
        tryLimits
      ),
      { onFailure: () => false, onSuccess: ({ status }) => status >= 200 && status < 300 }
    )

  const search = Effect.fn("FreeProxies.search")(function* ({ known, room, sources, testUrl }: FreeSearch) {
    const policy = requestPolicy(flags.isOn)
    const lists = yield* Effect.forEach(sources, list, { concurrency: 4 })
    const problem = lists.findLast((each) => typeof each === "string") ?? null
    const candidates = new Map<string, Listed>()
    for (const each of lists.flatMap((entry) => (typeof entry === "string" ? [] : entry))) {
      const key = `${each.host}:${each.port}`
      const isUsable = each.type !== "socks5" || plan.isSocksOn
      if (isUsable && !known.has(key) && judgeHost(each.host, policy)._tag === "Allowed") candidates.set(key, each)
      if (candidates.size >= maxListed) break
    }
    const test = judgeUrl(testUrl, policy)
    const tried = test._tag === "Blocked" ? [] : [...(yield* Random.shuffle(candidates.values()))].slice(0, maxTested)
    const working: Array<Proxy> = []
    let tested = 0
    yield* Effect.forEach(
      tried,
      Effect.fnUntraced(function* (listed) {
        if (working.length >= Math.min(maxWorking, room) || test._tag === "Blocked") return
        tested += 1
        const proxy = yield* proxyOf(listed)
        if (yield* isWorking(proxy, test.url)) working.push(proxy)
      }),
      { concurrency: atOnce, discard: true }
    )
    return {
      listed: candidates.size,
      tested,
      working: working.slice(0, Math.min(maxWorking, room)),
      problem
    }
  })

  return FreeProxies.of({ search })
})

export const layer: Layer.Layer<FreeProxies, never, Flags | IdGen | ProxyPlan | PublicFetch | Upstream> = Layer.effect(
  FreeProxies,
  make
)
