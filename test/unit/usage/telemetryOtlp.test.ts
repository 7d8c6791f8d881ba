import { assert, describe, it } from "@effect/vitest"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import { createServer } from "node:http"
import type { IncomingHttpHeaders } from "node:http"
import type { AttemptRecord } from "../../../src/subjects/routing/entity.ts"
import * as AppConfig from "../../../src/platform/AppConfig.ts"
import * as Otlp from "../../../src/observe/usage/telemetry/Otlp.ts"
import { encodeTraces } from "../../../src/observe/usage/telemetry/OtlpEncode.ts"
import { LogSink } from "../../../src/observe/usage/telemetry/LogSink.ts"
import { jsonStyle } from "../../../src/observe/usage/telemetry/LogStyle.ts"
import * as Telemetry from "../../../src/observe/usage/Telemetry.ts"
import { usageRow } from "../../support/usageRow.ts"

type Traces = ReturnType<typeof encodeTraces>

interface Point {
  readonly attributes: ReadonlyArray<{ readonly key: string; readonly value: Readonly<Record<string, unknown>> }>
}

interface Metric {
  readonly name: string
  readonly unit: string
  readonly sum?: { readonly isMonotonic: boolean; readonly dataPoints: ReadonlyArray<Point & { asDouble: number }> }
  readonly histogram?: {
    readonly dataPoints: ReadonlyArray<
      Point & { count: string; bucketCounts: ReadonlyArray<string>; explicitBounds: ReadonlyArray<number> }
    >
  }
}

interface Metrics {
  readonly resourceMetrics: ReadonlyArray<{ readonly scopeMetrics: ReadonlyArray<{ metrics: ReadonlyArray<Metric> }> }>
}

interface Received {
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: Traces & Metrics
}

interface Collector {
  readonly url: string
  readonly received: Array<Received>
  readonly close: () => void
}

/** A collector on loopback; `refusing` says which post to a path, counted from 0, is answered with 400. */
const collector = (refusing: (path: string, count: number) => boolean = () => false) =>
  Effect.acquireRelease(
    Effect.async<Collector>((resume) => {
      const received: Array<Received> = []
      const server = createServer(async (request, response) => {
        const path = request.url ?? ""
        const chunks: Array<Buffer> = []
        for await (const chunk of request) chunks.push(chunk)
        const count = received.filter((one) => one.path === path).length
        received.push({ path, headers: request.headers, body: JSON.parse(Buffer.concat(chunks).toString()) })
        response.writeHead(refusing(path, count) ? 400 : 200, { "content-type": "application/json" }).end("{}")
      })
      const close = () => {
        server.close()
        server.closeAllConnections()
      }
      server.listen(0, "127.0.0.1", () => {
        const address = server.address()
        const port = typeof address === "object" ? address?.port : undefined
        resume(Effect.succeed({ url: `http://127.0.0.1:${port}/`, received, close }))
      })
    }),
    ({ close }) => Effect.sync(close)
  )

const spansOf = ({ body }: Received) => body.resourceSpans[0]?.scopeSpans[0]?.spans ?? []

const batchSizes = (received: ReadonlyArray<Received>): ReadonlyArray<number> =>
  received.filter((one) => one.path === "/v1/traces").map((one) => spansOf(one).length)

const attributesOf = (point: Point): Record<string, unknown> =>
  Object.fromEntries(point.attributes.map(({ key, value }) => [key, Object.values(value)[0]]))

/** Runs telemetry against an endpoint; everything is sent when its scope closes. */
const observing = (
  otlpEndpoint: string | null,
  use: (telemetry: Telemetry.Telemetry["Type"]) => void,
  more: Partial<AppConfig.AppConfigShape> = {}
) =>
  Effect.map(Telemetry.Telemetry, use).pipe(
    Effect.provide(
      Telemetry.layer.pipe(
        Layer.provide(Otlp.layer),
        Layer.provide(Layer.succeed(LogSink, { style: jsonStyle, takes: () => true, write: () => {} })),
        Layer.provide(AppConfig.layerOf({ dataDir: "unused", otlpEndpoint, ...more }))
      )
    )
  )

const resource = { attributes: [["service.name", "gateway"]], version: "1" } as const

const path = "/v1/chat/completions?key=secret"

describe("OTLP export", () => {
  it.scopedLive("sends spans and metrics to a collector before the scope is closed", () =>
    Effect.gen(function* () {
      const { received, url } = yield* collector()
      yield* observing(url, ({ observe }) => {
        observe({ row: usageRow(), method: "POST", path })
        observe({ row: usageRow({ outcome: "failed", status: 502, error: "http_502" }), method: "POST", path })
      })
      assert.sameMembers(
        received.map((one) => one.path),
        ["/v1/traces", "/v1/metrics"]
      )
      for (const { headers } of received) {
        assert.include(headers["content-type"], "application/json")
        assert.isUndefined(headers["traceparent"])
      }
      assert.notInclude(JSON.stringify(received), "secret")

      const [completed, failed] = received.flatMap((one) => (one.path === "/v1/traces" ? spansOf(one) : []))
      assert.isDefined(completed)
      assert.isDefined(failed)
      assert.strictEqual(completed.traceId, "0199aaaabbbb7ccc8dddeeeeeeeeeeee")
      assert.match(completed.spanId, /^[0-9a-f]{16}$/u)
      assert.strictEqual(completed.name, "chat openai/gpt-4.1")
      assert.strictEqual(completed.startTimeUnixNano, "1760000000000000000")
      assert.strictEqual(completed.endTimeUnixNano, "1760000000250000000")
      const attributes = attributesOf(completed)
      assert.strictEqual(attributes["gen_ai.operation.name"], "chat")
      assert.strictEqual(attributes["gen_ai.request.model"], "openai/gpt-4.1")
      assert.strictEqual(attributes["gen_ai.response.model"], "gpt-4.1")
      assert.strictEqual(attributes["gen_ai.provider.name"], "openai")
      assert.strictEqual(attributes["gen_ai.usage.input_tokens"], "10")
      assert.strictEqual(attributes["gen_ai.usage.output_tokens"], "20")
      assert.strictEqual(attributes["http.response.status_code"], "200")
      assert.strictEqual(attributes["url.path"], "/v1/chat/completions")
      assert.notProperty(attributes, "error.type")
      assert.deepStrictEqual(failed.status, { code: 2, message: "http_502" })
      assert.strictEqual(attributesOf(failed)["error.type"], "http_502")

      const posted = received.find((one) => one.path === "/v1/metrics")
      const metrics = posted?.body.resourceMetrics[0]?.scopeMetrics[0]?.metrics ?? []
      const requests = metrics.find((one) => one.name === "gateway.requests")?.sum
      assert.isTrue(requests?.isMonotonic)
      assert.deepStrictEqual(
        requests?.dataPoints.map((point) => point.asDouble),
        [1, 1]
      )
      const tokens = metrics.find((one) => one.name === "gen_ai.client.token.usage")
      assert.strictEqual(tokens?.unit, "{token}")
      const input = tokens?.histogram?.dataPoints[0]
      assert.isDefined(input)
      assert.strictEqual(attributesOf(input)["gen_ai.token.type"], "input")
      assert.strictEqual(input.count, "1")
      assert.lengthOf(input.bucketCounts, input.explicitBounds.length + 1)
    })
  )

  it.scopedLive("sends many spans in batches", () =>
    Effect.gen(function* () {
      const { received, url } = yield* collector()
      yield* observing(url, ({ observe }) => {
        for (let index = 0; index < 1100; index++) observe({ row: usageRow(), method: "POST", path })
      })
      assert.deepStrictEqual(batchSizes(received), [512, 512, 76])
    })
  )

  it.scopedLive("goes on with the next batch when one is refused", () =>
    Effect.gen(function* () {
      const { received, url } = yield* collector((at, count) => at === "/v1/traces" && count === 0)
      yield* observing(url, ({ observe }) => {
        for (let index = 0; index < 600; index++) observe({ row: usageRow(), method: "POST", path })
      })
      assert.deepStrictEqual(batchSizes(received), [512, 88])
    })
  )

  it.scopedLive("does not fail without a collector", () =>
    Effect.gen(function* () {
      const { close, url } = yield* collector()
      close()
      yield* observing(url, ({ observe }) => observe({ row: usageRow(), method: "POST", path }))
    })
  )

  it.scopedLive("works without an endpoint", () =>
    observing(null, ({ metrics, observe }) => {
      observe({ row: usageRow(), method: "POST", path })
      assert.lengthOf(metrics()[0]?.samples ?? [], 1)
    })
  )
})

const environment = {
  DATA_DIR: "unused",
  OTEL_EXPORTER_OTLP_HEADERS: "Authorization=Bearer%20a-collector-key, x-tenant=blue",
  OTEL_SERVICE_NAME: "team-gateway",
  OTEL_RESOURCE_ATTRIBUTES: "service.name=other,deployment.environment.name=staging"
}

const configured = (values: Readonly<Record<string, string>>) =>
  Effect.either(AppConfig.make).pipe(Effect.withConfigProvider(ConfigProvider.fromMap(new Map(Object.entries(values)))))

describe("OTLP settings of the environment", () => {
  it.scopedLive("send the collector its headers and name the resource", () =>
    Effect.gen(function* () {
      const { received, url } = yield* collector()
      const config = Either.getOrThrow(yield* configured(environment))
      assert.notInclude(JSON.stringify(config.otlpHeaders), "a-collector-key")
      const { otlpHeaders, otlpResource } = config
      yield* observing(url, ({ observe }) => observe({ row: usageRow(), method: "POST", path }), {
        otlpHeaders,
        otlpResource
      })
      assert.isNotEmpty(received)
      for (const { body, headers } of received.filter((one) => one.path === "/v1/traces")) {
        assert.deepInclude(headers, { authorization: "Bearer a-collector-key", "x-tenant": "blue" })
        const attributes = Object.fromEntries(
          body.resourceSpans[0]?.resource.attributes.map(({ key, value }) => [key, Object.values(value)[0]]) ?? []
        )
        assert.deepInclude(attributes, {
          "service.name": "team-gateway",
          "deployment.environment.name": "staging"
        })
      }
    })
  )

  it.effect("are refused when they are no pairs or no headers, without their values", () =>
    Effect.gen(function* () {
      for (const headers of ["a-collector-key", "x y=a-collector-key", "x=a-collector-key%0d%0a", "x=%"]) {
        const refused = yield* configured({ ...environment, OTEL_EXPORTER_OTLP_HEADERS: headers })
        assert.isTrue(Either.isLeft(refused), headers)
        assert.include(String(Either.getLeft(refused).pipe(Option.getOrNull)), "OTEL_EXPORTER_OTLP_HEADERS")
        assert.notInclude(String(Either.getLeft(refused).pipe(Option.getOrNull)), "a-collector-key")
      }
    })
  )
})

const attempt = (provider: string, given: Partial<AttemptRecord> = {}): AttemptRecord => ({
  provider,
  connectionId: "c1",
  model: "m1",
  status: 200,
  outcome: "completed",
  reason: "ok",
  startedMs: 1_000,
  latencyMs: 500,
  ...given
})

describe("OTLP spans", () => {
  const clientTrace = "4bf92f3577b34da6a3ce929d0e0e4736"
  const spans = (traceparent: string | null) =>
    encodeTraces(resource, [
      {
        row: usageRow(),
        method: "POST",
        path,
        traceparent,
        attempts: [attempt("openai", { outcome: "failed", status: 503, reason: "http_503" }), attempt("groq")]
      }
    ]).resourceSpans[0]?.scopeSpans[0]?.spans ?? []

  it("stand in the client's trace, and each attempt has its own below the request", () => {
    const [request, failed, good] = spans(`00-${clientTrace}-00f067aa0ba902b7-01`)
    assert.deepInclude(request, { traceId: clientTrace, parentSpanId: "00f067aa0ba902b7", kind: 2 })
    assert.deepInclude(failed, { traceId: clientTrace, parentSpanId: request?.spanId ?? "", kind: 3 })
    assert.deepStrictEqual(failed?.status, { code: 2, message: "http_503" })
    assert.strictEqual(failed?.endTimeUnixNano, "1500000000")
    assert.deepStrictEqual(good?.status, {})
    assert.notStrictEqual(good?.spanId, failed?.spanId)
    assert.deepInclude(attributesOf(good ?? assert.fail()), { "gen_ai.provider.name": "groq", "gateway.attempt": "2" })
  })

  it("have a trace of their own without a valid traceparent, and none where the client does not record", () => {
    for (const wrong of [
      null,
      "nonsense",
      `00-${"0".repeat(32)}-00f067aa0ba902b7-01`,
      `ff-${clientTrace}-00f067aa0ba902b7-01`
    ]) {
      const [request] = spans(wrong)
      assert.notStrictEqual(request?.traceId, clientTrace)
      assert.notProperty(request, "parentSpanId")
    }
    assert.isEmpty(spans(`00-${clientTrace}-00f067aa0ba902b7-00`))
  })
})

describe("OTLP encoding", () => {
  it("hashes ids that are no UUID, the same way every time", () => {
    const spanOf = () =>
      encodeTraces(resource, [{ row: usageRow({ id: "row-1", requestId: "request-1" }), method: "POST", path }])
        .resourceSpans[0]?.scopeSpans[0]?.spans[0]
    assert.match(spanOf()?.traceId ?? "", /^[0-9a-f]{32}$/u)
    assert.deepStrictEqual(spanOf(), spanOf())
  })
})
