/** Runs on the client's host: the gateway's `Upstream`, told by messages what to call and through which proxy. */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import { readdirSync, readFileSync } from "node:fs"
import { lookup } from "node:dns/promises"
import { noSecrets } from "../../../src/kernel/secrets/SentSecrets.ts"
import type { CallOwner, Proxy, ProxyFamily, ProxyType } from "../../../src/subjects/proxies/entity.ts"
import * as Dns from "../../../src/net/egress/Dns.ts"
import { resolveRoute, routingTable } from "../../../src/net/egress/proxy/ProxyRoute.ts"
import { ProxyHealth } from "../../../src/net/egress/proxy/ProxyHealth.ts"
import { ProxyRoutes } from "../../../src/net/egress/proxy/ProxyRoutes.ts"
import {
  layer as upstreamLayer,
  type TransportFailureKind,
  Upstream,
  type UpstreamCall
} from "../../../src/net/egress/Upstream.ts"
import * as UpstreamSettings from "../../../src/net/egress/UpstreamSettings.ts"
import * as Flags from "../../../src/subjects/flags/service.ts"
import { layerMemory } from "../../../src/subjects/flags/repo.ts"
import * as AppConfig from "../../../src/platform/AppConfig.ts"
import * as Timers from "../../../src/platform/Timers.ts"
import { type Fetch, type Fetching, startFetch } from "./fetches.ts"

export interface ProxyAt {
  readonly type: ProxyType
  readonly host: string
  readonly port: number
  readonly username: string | null
  readonly password: string | null
  readonly family?: ProxyFamily
  readonly isActive?: boolean
  /** Proxies with another version are other ones for the pools. Left out: one of its own for each call. */
  readonly version?: number
}

export interface CallAt {
  /** Null: direct. */
  readonly proxy: ProxyAt | null
  /** With a path. */
  readonly url: string
}

export interface Outcome {
  readonly status: number | null
  /** Up to 100,000 characters. */
  readonly body: string
  readonly bytes: number
  readonly failure: TransportFailureKind | null
  readonly message: string | null
  readonly ms: number
}

export interface Usage {
  readonly files: number
  /** Sockets that can still send or receive. */
  readonly sockets: number
  readonly timers: number
}

export interface Load {
  readonly calls: number
  readonly bytes: number
  readonly ms: number
}

export type Ask =
  | { readonly op: "call"; readonly call: CallAt }
  /** Comes back with the first piece of the body, or the failure. */
  | { readonly op: "begin"; readonly call: CallAt; readonly stream: string }
  | { readonly op: "ended"; readonly stream: string }
  | { readonly op: "abort"; readonly stream: string }
  | { readonly op: "many"; readonly call: CallAt; readonly count: number }
  /** So many at a time, for so long. */
  | { readonly op: "load"; readonly call: CallAt; readonly parallel: number; readonly ms: number }
  /** Requests to the gateway on this host; with a name, until the first piece of the body only. */
  | { readonly op: "fetch"; readonly fetch: Fetch; readonly stream: string | null }
  | { readonly op: "fetched"; readonly stream: string }
  | { readonly op: "usage" }
  | { readonly op: "lookup"; readonly name: string }

const health = new ProxyHealth()
const keptChars = 100_000
const transport = upstreamLayer.pipe(
  Layer.provideMerge(Flags.layer),
  Layer.provideMerge(
    Layer.mergeAll(
      Dns.layer,
      Timers.layer,
      UpstreamSettings.layerOf({ connectTimeoutMs: Number(process.env["CONNECT_TIMEOUT_MS"] ?? "3000") }),
      layerMemory(),
      Layer.succeed(ProxyRoutes, { routeOf: (owner) => routeOf(owner), onChange: () => () => {}, health }),
      AppConfig.layerOf({ dataDir: "/nowhere" })
    )
  )
)

const plans = new Map<string, ProxyAt>()
let versions = 1_000_000

const routeOf = (owner: CallOwner) => {
  const plan = plans.get(owner.connectionId ?? "")
  if (plan === undefined) throw new Error("a call without a plan")
  const proxy: Proxy = {
    id: "p",
    name: "office",
    type: plan.type,
    host: plan.host,
    port: plan.port,
    username: plan.username,
    password: plan.password === null ? null : Redacted.make(plan.password),
    isReadable: true,
    family: plan.family ?? "auto",
    source: "manual",
    isActive: plan.isActive ?? true,
    createdAtMs: 0,
    updatedAtMs: plan.version ?? versions++
  }
  const table = routingTable([proxy], [{ scope: "connection", scopeId: owner.connectionId, proxyId: "p" }])
  return resolveRoute(
    table,
    { isGlobalOn: true, isSocksOn: true, autoSelect: false, free: "never" },
    owner,
    health.isFailing
  )
}

interface Running {
  readonly call: UpstreamCall
  readonly begun: Promise<Outcome>
  readonly ended: Promise<Outcome>
}

let calls = 0

const run = (upstream: typeof Upstream.Service, { proxy, url }: CallAt): Running => {
  const { origin, pathname, search } = new URL(url)
  const connectionId = `c${calls++}`
  if (proxy !== null) plans.set(connectionId, proxy)
  const owner =
    proxy === null
      ? null
      : {
          connectionId,
          provider: null,
          apiKeyId: null,
          proxyEnabled: true,
          proxyId: null,
          carriesKey: true,
          transport: null
        }
  const startedMs = performance.now()
  let status: number | null = null
  let body = ""
  let bytes = 0
  let begin: (outcome: Outcome) => void = () => {}
  let end: (outcome: Outcome) => void = () => {}
  const begun = new Promise<Outcome>((resolve) => (begin = resolve))
  const ended = new Promise<Outcome>((resolve) => (end = resolve))
  const outcome = (failure: TransportFailureKind | null, message: string | null): Outcome => ({
    status,
    body,
    bytes,
    failure,
    message,
    ms: performance.now() - startedMs
  })
  const finish = (failure: TransportFailureKind | null, message: string | null): void => {
    plans.delete(connectionId)
    begin(outcome(failure, message))
    end(outcome(failure, message))
  }
  const call = upstream.dispatch(
    {
      origin,
      path: pathname + search,
      method: "POST",
      headers: ["content-type", "text/plain"],
      body: "ask",
      secrets: noSecrets,
      owner
    },
    {
      onHeaders: (received) => void (status = received),
      onData: (chunk) => {
        bytes += chunk.length
        if (body.length < keptChars) body += chunk.toString("latin1")
        begin(outcome(null, null))
        return true
      },
      onEnd: () => finish(null, null),
      onFail: ({ kind, message }) => finish(kind, message)
    }
  )
  return { call, begun, ended }
}

/** With the first failure the others are given up: they may wait for each other. */
const atOnce = async (running: ReadonlyArray<Running>): Promise<ReadonlyArray<Outcome>> => {
  const failed = new Promise<Outcome>((resolve) => {
    for (const { ended } of running) void ended.then((outcome) => outcome.failure !== null && resolve(outcome))
  })
  const outcomes = await Promise.race([Promise.all(running.map(({ ended }) => ended)), failed])
  if (!("failure" in outcomes)) return outcomes
  for (const { call } of running) call.abort()
  return [outcomes]
}

const load = async (
  upstream: typeof Upstream.Service,
  { call, ms, parallel }: Extract<Ask, { readonly op: "load" }>
): Promise<Load> => {
  const startedMs = performance.now()
  let calls = 0
  let bytes = 0
  const worker = async (): Promise<void> => {
    while (performance.now() - startedMs < ms) {
      const outcome = await run(upstream, call).ended
      if (outcome.failure !== null) throw new Error(`${call.url}: ${outcome.failure}`)
      calls += 1
      bytes += outcome.bytes
    }
  }
  await Promise.all(Array.from({ length: parallel }, worker))
  return { calls, bytes, ms: performance.now() - startedMs }
}

/** TIME_WAIT, and the end of a connection whose other side is gone, are the kernel's; LISTEN is not a connection. */
const isOver = new Set(["06", "07", "0A"])

const sockets = (): number =>
  ["tcp", "tcp6"]
    .flatMap((table) => readFileSync(`/proc/self/net/${table}`, "utf8").split("\n").slice(1))
    .filter((line) => line.trim() !== "" && !isOver.has(line.trim().split(/\s+/)[3] ?? "")).length

const serve = (upstream: typeof Upstream.Service, live: () => number) => {
  const streams = new Map<string, Running>()
  const fetches = new Map<string, Fetching>()
  const streamOf = (name: string): Running => {
    const stream = streams.get(name)
    if (stream === undefined) throw new Error(`no stream ${name}`)
    return stream
  }
  return async (ask: Ask): Promise<unknown> => {
    switch (ask.op) {
      case "call":
        return run(upstream, ask.call).ended
      case "begin": {
        const running = run(upstream, ask.call)
        streams.set(ask.stream, running)
        return Promise.race([running.begun, new Promise((resolve) => setTimeout(resolve, 400, null))])
      }
      case "ended":
        return streamOf(ask.stream).ended
      case "abort":
        return streamOf(ask.stream).call.abort()
      case "many":
        return atOnce(Array.from({ length: ask.count }, () => run(upstream, ask.call)))
      case "fetch": {
        const fetching = startFetch(ask.fetch)
        if (ask.stream === null) return fetching.ended
        fetches.set(ask.stream, fetching)
        return fetching.begun
      }
      case "fetched":
        return fetches.get(ask.stream)?.ended
      case "load":
        return load(upstream, ask)
      case "usage":
        return { files: readdirSync("/proc/self/fd").length, sockets: sockets(), timers: live() }
      case "lookup":
        return lookup(ask.name).then(
          ({ address }) => address,
          () => null
        )
    }
  }
}

process.on("disconnect", () => process.exit())
await Effect.gen(function* () {
  const upstream = yield* Upstream
  const timers = yield* Timers.Timers
  const answer = serve(upstream, timers.live)
  process.on("message", ({ ask, id }: { readonly ask: Ask; readonly id: number }) => {
    answer(ask).then(
      (value) => process.send?.({ id, value }),
      (error: unknown) => process.send?.({ id, error: String(error) })
    )
  })
  process.send?.({ id: 0, value: "ready" })
  yield* Effect.never
}).pipe(Effect.scoped, Effect.provide(transport), Effect.runPromise)
