/**
 * Sends spans and metrics to an OpenTelemetry collector over OTLP/HTTP with JSON. Loaded only when one is configured.
 * Written by hand instead of `@effect/opentelemetry/Otlp`, which also exports every log line and internal span, marks failed spans as
 * interrupted, reads metrics from a registry shared by the whole process and has no bound on its queue.
 */
import type { Dispatcher } from "undici"
import { dispatcherThrough } from "../../../net/egress/proxy/ProxiedSocket.ts"
import type { ProxyHop } from "../../../net/egress/proxy/ProxyRoute.ts"
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import * as HttpBody from "@effect/platform/HttpBody"
import * as HttpClient from "@effect/platform/HttpClient"
import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import type { HttpClientError } from "@effect/platform/HttpClientError"
import type { TimeoutException } from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Schedule from "effect/Schedule"
import type * as Scope from "effect/Scope"
import type { Pairs } from "../../../platform/Pairs.ts"
import { version } from "../../../platform/Version.ts"
import type { MetricsSnapshot } from "./Families.ts"
import { encodeMetrics, encodeTraces, type Resource } from "./OtlpEncode.ts"
import type { RequestSummary } from "./Summary.ts"
import { asSentence } from "../../../kernel/text/Sentence.ts"

export interface OtlpExport {
  /** Hot: takes the request for the next batch of spans; dropped when too many wait. */
  readonly offer: (summary: RequestSummary) => void
  /** Sends what `read` gives at every interval and once more when the scope closes. */
  readonly publish: (read: () => MetricsSnapshot) => Effect.Effect<void, never, Scope.Scope>
}

const maxWaitingSpans = 4096
const batchSize = 512
const spanInterval = "1 second"
const metricInterval = "10 seconds"
const requestTimeout = "10 seconds"
/** Longest delay of a shutdown by a collector that does not answer. */
const shutdownTimeout = "3 seconds"

export interface OtlpOptions {
  /** Headers for the collector, such as its key. */
  readonly headers: Redacted.Redacted<Pairs>
  /** Attributes of the resource that telemetry is about. */
  readonly attributes: Pairs
  /** Proxy by which the collector is reached; absent or null: none. */
  readonly proxy?: ProxyHop | null
}

export const plainOptions: OtlpOptions = { headers: Redacted.make([]), attributes: [["service.name", "gateway"]] }

type Failure = HttpClientError | TimeoutException

/** The reason without the address, which may hold credentials. */
const reasonOf = (error: Failure): string => {
  if (error._tag === "TimeoutException") return "timeout"
  return error._tag === "ResponseError" ? `status ${error.response.status}` : error.reason
}

/** Checks whether a retry cannot help. */
const isFinal = (error: Failure): boolean => {
  if (error._tag !== "ResponseError") return false
  const { status } = error.response
  return status < 500 && status !== 408 && status !== 429
}

/** `endpoint` is the collector's base URL, without `/v1/traces`. */
export const make = Effect.fnUntraced(function* (
  endpoint: string,
  { attributes, headers }: OtlpOptions = plainOptions
): Effect.fn.Return<OtlpExport, never, HttpClient.HttpClient | Scope.Scope> {
  const base = endpoint.replace(/\/+$/u, "")
  const client = (yield* HttpClient.HttpClient).pipe(
    HttpClient.filterStatusOk,
    HttpClient.mapRequest((request) => HttpClientRequest.setHeaders(request, Redacted.value(headers))),
    HttpClient.transformResponse(Effect.timeout(requestTimeout)),
    HttpClient.withTracerDisabledWhen(() => true),
    HttpClient.withTracerPropagation(false)
  )
  const resource: Resource = { attributes, version }
  const startMs = yield* Clock.currentTimeMillis
  const waiting: Array<RequestSummary> = []
  let lostSpans = 0

  /** Posts to one path, and logs when that begins to fail and when it works again. */
  const sender = (path: string) => {
    let failing = false
    const turned = (to: boolean, words: string) =>
      Effect.suspend(() => {
        if (failing === to) return Effect.void
        failing = to
        const log = to ? Effect.logWarning : Effect.logInfo
        return log(`OTLP export to ${path} ${words}`)
      })
    return (body: unknown) =>
      client.post(`${base}${path}`, { body: HttpBody.unsafeJson(body) }).pipe(
        Effect.zipRight(turned(false, "works again")),
        Effect.tapError((error) =>
          turned(true, `fails: ${asSentence(reasonOf(error))} Check OTEL_EXPORTER_OTLP_ENDPOINT and its collector.`)
        ),
        Effect.as("accepted" as const),
        Effect.catchAll((error) => Effect.succeed(isFinal(error) ? ("refused" as const) : ("later" as const)))
      )
  }
  const sendTraces = sender("/v1/traces")
  const sendMetrics = sender("/v1/metrics")

  const reportLost = Effect.suspend(() => {
    if (lostSpans === 0) return Effect.void
    const lost = lostSpans
    lostSpans = 0
    return Effect.logWarning(`OTLP export: ${lost} spans were lost`)
  })

  /** Spans leave the queue only when the collector has accepted them, so that neither a short outage nor a shutdown loses any. */
  const exportSpans = Effect.gen(function* () {
    while (waiting.length > 0) {
      const batch = waiting.slice(0, batchSize)
      const result = yield* sendTraces(encodeTraces(resource, batch))
      if (result === "later") return
      waiting.splice(0, batch.length)
      if (result === "refused") lostSpans += batch.length
    }
    yield* reportLost
  })

  /** The finalizer is added first and so runs last: the loop is stopped before the closing export. */
  const keepExporting = (once: Effect.Effect<void>, interval: typeof spanInterval | typeof metricInterval) =>
    Effect.addFinalizer(() => once.pipe(Effect.interruptible, Effect.timeoutOption(shutdownTimeout))).pipe(
      Effect.zipRight(Effect.forkScoped(Effect.schedule(once, Schedule.spaced(interval)))),
      Effect.asVoid
    )
  yield* keepExporting(exportSpans, spanInterval)

  return {
    offer: (summary) => {
      if (waiting.length < maxWaitingSpans) waiting.push(summary)
      else lostSpans++
    },
    publish: (read) =>
      keepExporting(
        Effect.flatMap(Clock.currentTimeMillis, (nowMs) =>
          Effect.asVoid(sendMetrics(encodeMetrics(resource, read(), startMs, nowMs)))
        ),
        metricInterval
      )
  }
})

const dispatcherBy = (proxy: ProxyHop | null, endpoint: string): Effect.Effect<Dispatcher, never, Scope.Scope> =>
  proxy === null
    ? NodeHttpClient.makeDispatcher
    : Effect.acquireRelease(
        Effect.sync(() => dispatcherThrough(proxy, new URL(endpoint))),
        (dispatcher) => Effect.promise(() => dispatcher.destroy())
      )

/** A client of its own: nothing else shares its connections, and it is never traced. */
export const makeLive = (endpoint: string, options: OtlpOptions): Effect.Effect<OtlpExport, never, Scope.Scope> =>
  Effect.flatMap(dispatcherBy(options.proxy ?? null, endpoint), (dispatcher) =>
    Effect.provideService(make(endpoint, options), HttpClient.HttpClient, NodeHttpClient.makeUndici(dispatcher))
  )
