import { assert, describe, it } from "@effect/vitest"
import { renderPrometheus } from "../../../src/entry/metrics/Metrics.ts"
import { processFamilies } from "../../../src/entry/metrics/ProcessMetrics.ts"
import * as RequestMetrics from "../../../src/observe/usage/telemetry/RequestMetrics.ts"
import { problems } from "../../support/prometheus.ts"
import { usageRow } from "../../support/usageRow.ts"

describe("Prometheus page", () => {
  it("renders a histogram with cumulative buckets", () => {
    const page = renderPrometheus([
      {
        type: "histogram",
        name: "h_seconds",
        help: "Some\\ttime\nin seconds.",
        bounds: [0.1, 1],
        samples: [{ labels: { a: "x" }, counts: [1, 2, 3], sum: 7.5 }]
      }
    ])
    assert.strictEqual(
      page,
      `# HELP h_seconds Some\\\\ttime\\nin seconds.
# TYPE h_seconds histogram
h_seconds_bucket{a="x",le="0.1"} 1
h_seconds_bucket{a="x",le="1"} 3
h_seconds_bucket{a="x",le="+Inf"} 6
h_seconds_sum{a="x"} 7.5
h_seconds_count{a="x"} 6
`
    )
    assert.deepStrictEqual(problems(page), [])
  })

  it("escapes label values", () => {
    const page = renderPrometheus([
      { type: "counter", name: "c_total", help: "C.", samples: [{ labels: { a: 'back\\ quote" line\n' }, value: 1 }] }
    ])
    assert.include(page, String.raw`c_total{a="back\\ quote\" line\n"} 1`)
    assert.deepStrictEqual(problems(page), [])
  })

  it("renders what is known of the process", () => {
    assert.strictEqual(
      renderPrometheus(
        processFamilies({
          uptimeMs: 1500,
          rssBytes: 4096,
          eventLoopDelayMs: null,
          openStreams: 3,
          liveTimers: 0,
          fibers: 12,
          activeResources: new Map([
            ["TCPSocketWrap", 2],
            ["Timeout", 5]
          ])
        })
      ),
      `# HELP gateway_uptime_seconds Time since the gateway started.
# TYPE gateway_uptime_seconds gauge
gateway_uptime_seconds 1.5
# HELP process_resident_memory_bytes Resident memory of the process.
# TYPE process_resident_memory_bytes gauge
process_resident_memory_bytes 4096
# HELP gateway_open_streams Streamed answers in flight.
# TYPE gateway_open_streams gauge
gateway_open_streams 3
# HELP gateway_live_timers Timers of requests that will still run.
# TYPE gateway_live_timers gauge
gateway_live_timers 0
# HELP gateway_fibers Effect fibers that have begun and not ended.
# TYPE gateway_fibers gauge
gateway_fibers 12
# HELP gateway_active_resources What keeps the event loop busy, by Node's own types.
# TYPE gateway_active_resources gauge
gateway_active_resources{type="TCPSocketWrap"} 2
gateway_active_resources{type="Timeout"} 5
`
    )
  })

  it("renders real metrics as a page that Prometheus can read", () => {
    const metrics = RequestMetrics.make()
    metrics.observe(usageRow({ costNanoUsd: 1 }))
    metrics.observe(usageRow({ model: 'odd "name"\\', outcome: "failed", status: 503 }))
    const page = renderPrometheus(metrics.snapshot())
    assert.deepStrictEqual(problems(page), [])
    assert.include(page, "gateway_request_cost_usd_sum")
  })

  it("is empty without metrics", () => {
    assert.strictEqual(renderPrometheus(RequestMetrics.make().snapshot()), "")
  })
})

describe("the grammar checker", () => {
  it.each([
    ["# TYPE a counter\na 1", "line feed"],
    ["# TYPE a counter\na{b=c} 1\n", "no sample"],
    ["# TYPE a counter\na 1\na 2\n", "twice"],
    ["# TYPE a counter\nb 1\n", "outside its family"],
    ['# TYPE a histogram\na_bucket{le="1"} 2\na_bucket{le="+Inf"} 1\na_sum 1\na_count 1\n', "do not rise"],
    ['# TYPE a histogram\na_bucket{le="1"} 2\na_sum 1\na_count 2\n', "+Inf"]
  ])("finds what is wrong with %j", (page, problem) => {
    assert.include(problems(page).join("; "), problem)
  })
})
