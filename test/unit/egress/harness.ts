/** What the tests of the transport share: layers over real sockets, and a sink that remembers. */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { AddressInfo, Server } from "node:net"
import { once } from "node:events"
import { noSecrets } from "../../../src/kernel/secrets/SentSecrets.ts"
import type { CallOwner } from "../../../src/subjects/proxies/entity.ts"
import * as Dns from "../../../src/net/egress/Dns.ts"
import type { ProxyRoute } from "../../../src/net/egress/proxy/ProxyRoute.ts"
import { ProxyHealth } from "../../../src/net/egress/proxy/ProxyHealth.ts"
import { layerDirect, ProxyRoutes } from "../../../src/net/egress/proxy/ProxyRoutes.ts"
import {
  layer as upstreamLayer,
  type TransportFailure,
  type Upstream,
  type UpstreamCall,
  type UpstreamHeaders,
  type UpstreamRequest
} from "../../../src/net/egress/Upstream.ts"
import * as UpstreamSettings from "../../../src/net/egress/UpstreamSettings.ts"
import * as Flags from "../../../src/subjects/flags/service.ts"
import { layerMemory } from "../../../src/subjects/flags/repo.ts"
import * as AppConfig from "../../../src/platform/AppConfig.ts"
import * as Timers from "../../../src/platform/Timers.ts"

/** Flags under which private addresses are refused. */
export const publicOnlyFlags = { GATEWAY_ALLOW_LOCAL_PROVIDER_URLS: "false" }

export interface Setup {
  readonly flags?: Readonly<Record<string, string>>
  readonly resolve?: (hostname: string) => Promise<ReadonlyArray<string>>
  readonly timers?: Layer.Layer<Timers.Timers>
  /** The ways of calls that have an owner. */
  readonly routes?: (owner: CallOwner) => ProxyRoute
}

export const transport = (setup: Setup = {}) =>
  upstreamLayer.pipe(
    Layer.provideMerge(Flags.layer),
    Layer.provideMerge(
      Layer.mergeAll(
        setup.resolve === undefined ? Dns.layer : Layer.succeed(Dns.Dns, { resolve: setup.resolve }),
        setup.timers ?? Timers.layer,
        UpstreamSettings.layerOf({ connectTimeoutMs: 10_000 }),
        layerMemory(setup.flags),
        setup.routes === undefined
          ? layerDirect
          : Layer.succeed(ProxyRoutes, { routeOf: setup.routes, onChange: () => () => {}, health: new ProxyHealth() }),
        AppConfig.layerOf({ dataDir: "/nowhere" })
      )
    )
  )

export const post = (origin: string, more: Partial<UpstreamRequest> = {}): UpstreamRequest => ({
  origin,
  path: "/v1/chat/completions",
  method: "POST",
  headers: ["content-type", "application/json"],
  body: "{}",
  secrets: noSecrets,
  owner: null,
  ...more
})

export interface Recorded {
  readonly status: number | null
  readonly body: string
  readonly failure: TransportFailure | null
}

export interface Recording {
  readonly call: UpstreamCall
  readonly headers: Promise<{ readonly status: number; readonly headers: UpstreamHeaders }>
  /** The first piece of the body. */
  readonly firstChunk: Promise<string>
  /** Everything, once `onEnd` or `onFail` has come. */
  readonly finished: Promise<Recorded>
  /** Sink methods in the order they were called. */
  readonly events: ReadonlyArray<"headers" | "data" | "end" | "fail">
}

const deferred = <A>() => {
  let resolve: (value: A) => void = () => {}
  const promise = new Promise<A>((settle) => {
    resolve = settle
  })
  return { promise, resolve }
}

/** Dispatches and remembers. `onData` decides about pausing; by default nothing pauses. */
export const record = (
  upstream: typeof Upstream.Service,
  request: UpstreamRequest,
  onData: (chunk: Buffer) => boolean = () => true
): Recording => {
  const events: Array<"headers" | "data" | "end" | "fail"> = []
  const chunks: Array<Buffer> = []
  let status: number | null = null
  const headers = deferred<{ readonly status: number; readonly headers: UpstreamHeaders }>()
  const firstChunk = deferred<string>()
  const finished = deferred<Recorded>()
  const finish = (failure: TransportFailure | null): void =>
    finished.resolve({ status, body: Buffer.concat(chunks).toString("utf8"), failure })
  const call = upstream.dispatch(request, {
    onHeaders: (received, list) => {
      events.push("headers")
      status = received
      headers.resolve({ status: received, headers: list })
    },
    onData: (chunk) => {
      events.push("data")
      chunks.push(chunk)
      firstChunk.resolve(chunk.toString("utf8"))
      return onData(chunk)
    },
    onEnd: () => {
      events.push("end")
      finish(null)
    },
    onFail: (failure) => {
      events.push("fail")
      finish(failure)
    }
  })
  return { call, headers: headers.promise, firstChunk: firstChunk.promise, finished: finished.promise, events }
}

/** A bare server for faults that HTTP servers do not make; closed with the scope. */
export const listen = (server: Server) =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      server.listen(0, "127.0.0.1")
      await once(server, "listening")
      return (server.address() as AddressInfo).port
    }),
    () => Effect.sync(() => void server.close())
  )
