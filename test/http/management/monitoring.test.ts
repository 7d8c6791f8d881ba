/** Every metric that the page on monitoring, the alert rules and the board name is one of a running gateway. */
import { assert, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { readFileSync } from "node:fs"
import { eventually } from "../../support/eventually.ts"
import { workerFamilies } from "../../../src/entry/metrics/WorkerMetrics.ts"
import * as FakeUpstream from "../../support/FakeUpstream.ts"
import * as TestGateway from "../../support/TestGateway.ts"

const read = (name: string): string => readFileSync(new URL(`../../../docs/${name}`, import.meta.url), "utf8")

const metricsIn = (text: string): ReadonlyArray<string> => [
  ...new Set(
    Array.from(text.matchAll(/\b(?:gateway|process)_[a-z_]+/g), ([name]) => name.replace(/_(?:bucket|sum|count)$/, ""))
  )
]

it.scopedLive("names metrics that the gateway has", () =>
  Effect.gen(function* () {
    const upstream = yield* FakeUpstream.start
    const gateway = yield* TestGateway.start()
    const page = yield* Effect.promise(async () => {
      const account = { provider: "openai", name: "w", apiKey: "k", baseUrl: upstream.origin, wires: ["chat"] }
      await gateway.manage("POST", "/api/providers", { ...account, models: ["gpt-4o"] })
      for (const stream of [false, true]) {
        upstream.always(
          stream
            ? FakeUpstream.sse(FakeUpstream.chatStream(["Hello"]))
            : FakeUpstream.json(FakeUpstream.chatCompletion({ text: "Hello" }))
        )
        await (
          await gateway.post("/v1/chat/completions", {
            model: "openai/gpt-4o",
            stream,
            messages: [{ role: "user", content: "Hi" }]
          })
        ).text()
      }
      const headers = { authorization: `Bearer ${TestGateway.adminKey}` }
      // Of a moment without a tick of the event loop there is no delay to tell.
      return eventually(
        "the delay of the event loop",
        async () => (await fetch(`${gateway.url}/metrics`, { headers })).text(),
        (text) => text.includes("\ngateway_event_loop_delay_seconds ")
      )
    })
    const known = new Set(Array.from(page.matchAll(/^# TYPE (\S+)/gm), ([, name]) => name))
    // Of a gateway with workers, which this is not.
    const none = { shed: 0, bodiesRefused: 0 }
    for (const { name } of workerFamilies({ wanted: 0, running: 0, byPlace: [], ended: none })) known.add(name)
    for (const file of ["monitoring.md", "monitoring/alerts.yml", "monitoring/grafana.json"]) {
      const named = metricsIn(read(file))
      assert.isAbove(named.length, 7, file)
      for (const name of named) assert.isTrue(known.has(name), `${file}: ${name}`)
    }
  })
)
