/**
 * Every outbound HTTP call goes through here, under the outbound policy.
 * `dispatch` is the hot path: native callbacks on pooled connections, no Effect. `request` is the cold path on top of it.
 * Redirects are never followed; the caller sees the 3xx.
 */
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { Scope } from "effect/Scope"
import { type CallOwner, directEgress } from "../../subjects/proxies/entity.ts"
import type { Transport } from "../../contract/domain/Transport.ts"
import { LruMap } from "../../kernel/collections/LruMap.ts"
import { bothSecrets } from "../../kernel/secrets/SentSecrets.ts"
import { Flags } from "../../subjects/flags/service.ts"
import { Timers } from "../../platform/Timers.ts"
import {
  failedCall,
  startCall,
  type UnownedRequest,
  type UpstreamCall,
  type UpstreamRequest,
  type UpstreamSink
} from "./Call.ts"
import { type Connect, type ConnectorOptions, makeConnector } from "./Connector.ts"
import { Dns } from "./Dns.ts"
import { makeOriginPool, type Connection, type OriginPool } from "./OriginPool.ts"
import { environmentEgress } from "./proxy/EnvironmentProxy.ts"
import { hopSecrets } from "./proxy/HopSecrets.ts"
import { direct, type ProxyHop, type ProxyRoute } from "./proxy/ProxyRoute.ts"
import { ProxyRoutes } from "./proxy/ProxyRoutes.ts"
import { type OutboundPolicy, policyFlags, providerPolicy } from "./OutboundPolicy.ts"
import { transportKey } from "./TransportKey.ts"
import { transportFailure, type TransportFailure } from "./TransportFailure.ts"
import type { UpstreamHeaders } from "./UpstreamHeaders.ts"
import { UpstreamSettings } from "./UpstreamSettings.ts"

export type { UnownedRequest, UpstreamCall, UpstreamRequest, UpstreamSink } from "./Call.ts"
export type { TransportFailure, TransportFailureKind } from "./TransportFailure.ts"
export type { UpstreamHeaders } from "./UpstreamHeaders.ts"

export interface UpstreamResponse {
  readonly status: number
  readonly headers: UpstreamHeaders
  /** The whole body, decoded when the upstream compressed it. */
  readonly body: Buffer
}

export interface RequestLimits {
  /** Time limit in ms of the whole call, connecting included. */
  readonly timeoutMs: number
  /** Most bytes of the decoded body. */
  readonly maxBytes: number
}

export class ResponseTooLarge extends Data.TaggedError("ResponseTooLarge")<{ readonly limitBytes: number }> {}

export class TimedOut extends Data.TaggedError("TimedOut")<{ readonly timeoutMs: number }> {}

export type RequestError = TransportFailure | ResponseTooLarge | TimedOut

export class Upstream extends Context.Tag("gateway/net/egress/Upstream")<
  Upstream,
  {
    /** Hot: starts a call and returns before anything is received. Never throws. */
    readonly dispatch: (request: UpstreamRequest, sink: UpstreamSink) => UpstreamCall
    /** A whole answer, bounded in time and size. Interruption aborts the call. */
    readonly request: (request: UpstreamRequest, limits: RequestLimits) => Effect.Effect<UpstreamResponse, RequestError>
    /** Closes idle connections to an origin; running calls end undisturbed. */
    readonly closeOrigin: (origin: string) => void
    /**
     * Hot: names the route that a call to an origin would take now: `direct`, the name of its proxy, or `environment`
     * for one of the environment.
     */
    readonly egressOf: (owner: CallOwner, origin: string) => string
    /**
     * Makes a request as `request`, for signing in, renewing tokens and validating keys: when the proxy cannot be used and the flag
     * `GATEWAY_CONTROL_PLANE_PROXY_DIRECT_FALLBACK` is on, it is made directly, and that is logged. A failed proxy has passed nothing on.
     */
    readonly controlRequest: (
      request: UpstreamRequest,
      limits: RequestLimits
    ) => Effect.Effect<UpstreamResponse, RequestError>
    /**
     * Makes a request as `request`, by the route given, on a socket of its own: another call's success by that route
     * does not count for this one.
     */
    readonly requestVia: (
      route: ProxyRoute,
      request: UnownedRequest,
      limits: RequestLimits
    ) => Effect.Effect<UpstreamResponse, RequestError>
    /** Connects to a proxy and asks it for nothing; the milliseconds that took. */
    readonly reachProxy: (proxy: ProxyHop) => Effect.Effect<number, TransportFailure>
  }
>() {}

/** Placeholder for the target of a connection that ends at the proxy. */
const noTarget = new URL("http://target.invalid")

type UsableRoute = Exclude<ProxyRoute, { readonly _tag: "Unavailable" }>

/** Origins with a pool of their own; beyond it the one unused longest loses its idle connections. */
const maxOrigins = 2_000

const withIdentityEncoding = (headers: ReadonlyArray<string>): ReadonlyArray<string> =>
  headers.some((name, i) => i % 2 === 0 && name.toLowerCase() === "accept-encoding")
    ? headers
    : [...headers, "accept-encoding", "identity"]

/**
 * Reads one whole answer by way of `dispatch`. Where `headSuffices`, the call ends with the headers and the body is empty.
 */
export const collect = <Request extends UnownedRequest>(
  dispatch: (request: Request, sink: UpstreamSink) => UpstreamCall,
  request: Request,
  maxBytes: number,
  headSuffices: (head: Pick<UpstreamResponse, "status" | "headers">) => boolean = () => false
): Effect.Effect<UpstreamResponse, TransportFailure | ResponseTooLarge> =>
  Effect.async((resume) => {
    const chunks: Array<Buffer> = []
    let size = 0
    let head: Pick<UpstreamResponse, "status" | "headers"> | null = null
    const call = dispatch(request, {
      onHeaders: (status, headers) => {
        head = { status, headers }
        if (headSuffices(head)) {
          call.abort()
          resume(Effect.succeed({ ...head, body: Buffer.alloc(0) }))
        } else if (request.method !== "HEAD" && Number(headers.get("content-length")) > maxBytes) {
          call.abort()
          resume(Effect.fail(new ResponseTooLarge({ limitBytes: maxBytes })))
        }
      },
      onData: (chunk) => {
        size += chunk.length
        if (size > maxBytes) {
          call.abort()
          resume(Effect.fail(new ResponseTooLarge({ limitBytes: maxBytes })))
        } else chunks.push(chunk)
        return true
      },
      onEnd: () =>
        resume(
          head === null
            ? Effect.fail(transportFailure("protocol"))
            : Effect.succeed({ ...head, body: Buffer.concat(chunks, size) })
        ),
      onFail: (failure) => resume(Effect.fail(failure))
    })
    return Effect.sync(() => call.abort())
  })

const parsedOrigin = (origin: string): URL | null => {
  const url = URL.canParse(origin) ? new URL(origin) : null
  return url === null || url.origin !== origin || !/^https?:$/.test(url.protocol) ? null : url
}

interface ClientServices {
  readonly dns: Context.Tag.Service<Dns>
  readonly routes: Context.Tag.Service<ProxyRoutes>
  readonly timers: Context.Tag.Service<Timers>
  readonly settings: Context.Tag.Service<UpstreamSettings>
  /** Returns the policy; called for every connection. */
  readonly policy: () => OutboundPolicy
}

/** The pools of connections, and the choice between them. */
class Pools {
  readonly #services: ClientServices
  readonly #pools = new LruMap<string, OriginPool>({ capacity: maxOrigins, onRemove: (_, pool) => pool.retire() })
  readonly #connections = new Set<Connection>()
  #isClosed = false

  constructor(services: ClientServices) {
    this.#services = services
  }

  readonly dispatch = (request: UpstreamRequest, sink: UpstreamSink): UpstreamCall => {
    const { origin, owner } = request
    const route = this.routeTo(origin, owner)
    if (this.#isClosed || route._tag === "Unavailable") return this.#refuse(route, sink)
    return startOn(route, this.#poolOf(origin, route, owner?.transport ?? null), request, sink)
  }

  /** Makes the call on a socket of its own. */
  readonly dispatchVia = (route: ProxyRoute, request: UnownedRequest, sink: UpstreamSink): UpstreamCall => {
    if (this.#isClosed || route._tag === "Unavailable") return this.#refuse(route, sink)
    const pool = this.#open(request.origin, route._tag === "Proxied" ? route.hop : null, null)
    // Nothing waits in it for a second call.
    pool?.retire()
    return startOn(route, pool, request, sink)
  }

  readonly closeOrigin = (origin: string): void => {
    this.#pools.prune((_, key) => key === origin || key.startsWith(`${origin} `))
  }

  readonly egressOf = (owner: CallOwner, origin: string): string => {
    const route = this.routeTo(origin, owner)
    return route._tag === "Direct" ? directEgress : (route.name ?? "unavailable")
  }

  /**
   * Chooses the route. The gateway's own proxies take precedence over the environment; an account whose proxies are off
   * stays without one.
   */
  routeTo(origin: string, owner: CallOwner | null): ProxyRoute {
    const { routes, settings } = this.#services
    const route = owner === null ? direct : routes.routeOf(owner)
    const { environmentProxy } = settings
    if (route._tag !== "Direct" || environmentProxy === undefined || owner?.proxyEnabled === false) return route
    const hop = environmentProxy(origin)
    return hop === null ? route : { _tag: "Proxied", name: environmentEgress, hop }
  }

  connector(url: URL, more: Pick<ConnectorOptions, "proxy" | "onProxy" | "transport" | "endsAtProxy">): Connect {
    const { dns, policy, settings, timers } = this.#services
    return makeConnector(url, { dns, timers, connectTimeoutMs: settings.connectTimeoutMs, policy, ...more })
  }

  recordProxy({ id }: ProxyHop, isWorking: boolean, elapsedMs: number): void {
    if (id === environmentEgress) return
    const { routes, timers } = this.#services
    routes.health.record(id, { isWorking, atMs: timers.nowMs(), latencyMs: Math.round(elapsedMs) })
  }

  /** Connections that were made as the proxies were set before are not used again; what runs on them ends undisturbed. */
  forgetProxied(): void {
    this.#pools.prune((_, key) => key.includes(" "))
  }

  forgetAll(): void {
    this.#pools.clear()
  }

  close(): void {
    this.#isClosed = true
    this.#pools.clear()
    for (const connection of this.#connections) {
      connection.client.destroy(null, () => {})
      connection.cancelConnect()
    }
  }

  #refuse(route: ProxyRoute, sink: UpstreamSink): UpstreamCall {
    const kind = this.#isClosed || route._tag !== "Unavailable" ? "other" : route.kind
    return failedCall(transportFailure(kind), sink)
  }

  /** An edited proxy has another key: its old connections are idle from then on, and close by themselves. */
  #poolOf(origin: string, route: UsableRoute, transport: Transport | null): OriginPool | null {
    const proxy = route._tag === "Proxied" ? route.hop : null
    const direct = transport === null ? origin : `${origin} ${transportKey(transport)}`
    const key = proxy === null ? direct : `${direct} ${proxy.key}`
    const known = this.#pools.get(key)
    if (known !== undefined) return known
    const pool = this.#open(origin, proxy, transport)
    if (pool !== null) this.#pools.set(key, pool)
    return pool
  }

  #open(origin: string, proxy: ProxyHop | null, transport: Transport | null): OriginPool | null {
    const url = parsedOrigin(origin)
    if (url === null) return null
    const onProxy = (isWorking: boolean, elapsedMs: number): void => {
      if (proxy !== null) this.recordProxy(proxy, isWorking, elapsedMs)
    }
    const connector = this.connector(url, {
      ...(transport === null ? {} : { transport }),
      ...(proxy === null ? {} : { proxy, onProxy })
    })
    return makeOriginPool(origin, connector, this.#connections, transport ?? undefined)
  }
}

/** Starts a call on a connection of the pool; null: the origin may not be called. */
const startOn = (
  route: UsableRoute,
  pool: OriginPool | null,
  request: UnownedRequest,
  sink: UpstreamSink
): UpstreamCall => {
  if (pool === null) return failedCall(transportFailure("blocked"), sink)
  if (route._tag === "Direct") return startCall(pool, request, sink)
  return startCall(pool, { ...request, secrets: bothSecrets(request.secrets, hopSecrets(route.hop)) }, sink)
}

/** Makes a whole request by way of `call`. */
const collectWithin = <Request extends UnownedRequest>(
  call: (request: Request, sink: UpstreamSink) => UpstreamCall,
  sent: Request,
  { maxBytes, timeoutMs }: RequestLimits
): Effect.Effect<UpstreamResponse, RequestError> =>
  Effect.timeoutFail(collect(call, { ...sent, headers: withIdentityEncoding(sent.headers) }, maxBytes), {
    duration: timeoutMs,
    onTimeout: () => new TimedOut({ timeoutMs })
  })

const makeReachProxy = (pools: Pools, { monotonicMs }: Context.Tag.Service<Timers>) =>
  Effect.fn("Upstream.reachProxy")((proxy: ProxyHop) =>
    Effect.async<number, TransportFailure>((resume) => {
      const startedMs = monotonicMs()
      const record = (isWorking: boolean): number => {
        const elapsedMs = monotonicMs() - startedMs
        pools.recordProxy(proxy, isWorking, elapsedMs)
        return elapsedMs
      }
      let isOver = false
      const abort = pools.connector(noTarget, { proxy, endsAtProxy: true })({
        onSocket: (socket) => {
          isOver = true
          socket.destroy()
          resume(Effect.succeed(record(true)))
        },
        onFail: (failure) => {
          if (isOver) return
          isOver = true
          record(false)
          resume(Effect.fail(failure))
        }
      })
      return Effect.sync(() => {
        isOver = true
        abort()
      })
    })
  )

export const make: Effect.Effect<
  Context.Tag.Service<Upstream>,
  never,
  Flags | Dns | ProxyRoutes | Timers | UpstreamSettings | Scope
> = Effect.gen(function* () {
  const flags = yield* Flags
  const dns = yield* Dns
  const routes = yield* ProxyRoutes
  const timers = yield* Timers
  const settings = yield* UpstreamSettings
  const pools = new Pools({ dns, routes, timers, settings, policy: () => providerPolicy(flags.isOn) })

  const request = Effect.fn("Upstream.request")((sent: UpstreamRequest, limits: RequestLimits) =>
    collectWithin(pools.dispatch, sent, limits)
  )

  const requestVia = Effect.fn("Upstream.requestVia")(
    (route: ProxyRoute, sent: UnownedRequest, limits: RequestLimits) =>
      collectWithin((asked: UnownedRequest, sink) => pools.dispatchVia(route, asked, sink), sent, limits)
  )

  const mayGoDirect = (error: RequestError): boolean =>
    error._tag === "TransportFailure" &&
    (error.kind === "proxy" || error.kind === "proxy_family") &&
    flags.isOn("GATEWAY_CONTROL_PLANE_PROXY_DIRECT_FALLBACK")

  const controlRequest = Effect.fn("Upstream.controlRequest")((sent: UpstreamRequest, limits: RequestLimits) =>
    Effect.catchIf(request(sent, limits), mayGoDirect, () =>
      Effect.zipRight(
        Effect.logWarning(
          `A request to ${sent.origin} is made from this machine's own address: its proxy cannot be used, and GATEWAY_CONTROL_PLANE_PROXY_DIRECT_FALLBACK is on.`
        ),
        request({ ...sent, owner: sent.owner === null ? null : { ...sent.owner, proxyEnabled: false } }, limits)
      )
    )
  )

  const stops = [
    routes.onChange(() => pools.forgetProxied()),
    // Sockets made under another policy must not outlive it.
    ...policyFlags.map((flag) => flags.onChange(flag, () => pools.forgetAll()))
  ]
  yield* Effect.addFinalizer(() =>
    Effect.sync(() => {
      for (const stop of stops) stop()
      pools.close()
    })
  )
  return Upstream.of({
    dispatch: pools.dispatch,
    request,
    controlRequest,
    requestVia,
    reachProxy: makeReachProxy(pools, timers),
    closeOrigin: pools.closeOrigin,
    egressOf: pools.egressOf
  })
})

export const layer: Layer.Layer<Upstream, never, Flags | Dns | ProxyRoutes | Timers | UpstreamSettings> = Layer.scoped(
  Upstream,
  make
)
