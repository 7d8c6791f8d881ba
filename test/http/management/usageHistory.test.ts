/** Usage over time, over HTTP, of a gateway with a real database. */
import { assert, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FakeUpstream from "../../support/FakeUpstream.ts"
import * as TestGateway from "../../support/TestGateway.ts"
import { adminKey } from "../../support/TestGateway.ts"
import { eventuallyFound } from "../../support/eventually.ts"

const ask = (model: string) => ({ model, messages: [{ role: "user", content: "hello" }] })

it.live("sums up what was asked, keeps it when the log is purged, and shows what is under way", () =>
  Effect.scoped(
    Effect.gen(function* () {
      const upstream = yield* FakeUpstream.start
      const gateway = yield* TestGateway.start()
      yield* Effect.promise(async () => {
        const { manage, post } = gateway
        upstream.always(FakeUpstream.json(FakeUpstream.chatCompletion()))
        const connection = await gateway.connect("one", upstream, "chat")
        await manage("PATCH", "/api/pricing", { one: { m: { input: 1, output: 2 } } })
        for (let n = 0; n < 3; n += 1) {
          const answer = await post("/v1/chat/completions", ask("one/m"), { "x-session-id": "my-session" })
          assert.strictEqual(answer.status, 200, await answer.text())
        }
        const unknown = await post("/v1/chat/completions", ask("nothing/there"))
        assert.strictEqual(unknown.status, 404)
        await unknown.text()

        const { logs } = await manage("GET", "/api/usage/logs")
        const costUsd = logs.reduce((sum: number, log: { costUsd: number }) => sum + log.costUsd, 0)
        assert.isAbove(costUsd, 0)

        for (const range of ["1h", "24h", "7d", "30d", "90d"]) {
          const found = await manage("GET", `/api/usage/analytics?range=${range}`)
          assert.strictEqual(found.summary.requests, 4, range)
          assert.strictEqual(found.summary.successRate, 0.75)
          assert.closeTo(found.summary.costUsd, costUsd, 1e-12)
          assert.strictEqual(found.byModel[0].model, "m")
          assert.deepInclude(found.byProvider[0], { provider: "one", requests: 3, failed: 0 })
          assert.deepInclude(found.byConnection[0], { connectionId: connection.id, name: "one", requests: 3 })
          assert.deepInclude(found.byApiKey[0], { apiKeyId: null, requests: 4 })
          const days: ReadonlyArray<{ readonly requests: number }> = found.dailyTrend
          assert.strictEqual(
            days.reduce((sum, { requests }) => sum + requests, 0),
            4
          )
        }

        const zoned = await manage("GET", "/api/usage/analytics?timezone=Pacific/Kiritimati&range=7d")
        const there = new Intl.DateTimeFormat("en-CA", { timeZone: "Pacific/Kiritimati" }).format(new Date(zoned.to))
        assert.deepInclude(zoned, { timezone: "Pacific/Kiritimati", range: "7d", inexact: [] })
        assert.deepInclude(zoned.dailyTrend.at(-1), { date: there, requests: 4 })
        const from = encodeURIComponent(`${zoned.to.slice(0, 10)}T00:00:00Z`)
        const between = await manage("GET", `/api/usage/history?from=${from}&timezone=Europe/Zurich`)
        assert.deepInclude(between, { range: null, timezone: "Europe/Zurich", inexact: [] })
        const wrong: ReadonlyArray<readonly [query: string, field: string]> = [
          ["timezone=Mars/Base", "timezone"],
          ["timezone=%2B02:00", "timezone"],
          ["from=2026-02-30", "from"],
          ["from=2026-02-01T00:00:00", "from"],
          [`from=${from}&to=${from}`, "to"],
          [`from=${from}&range=7d`, "range"],
          ["tz=UTC", "tz"]
        ]
        for (const [query, field] of wrong) {
          for (const route of ["analytics", "history"]) {
            const response = await fetch(`${gateway.url}/api/usage/${route}?${query}`, {
              headers: { authorization: `Bearer ${adminKey}` }
            })
            assert.strictEqual(response.status, 400, query)
            const { error } = (await response.json()) as { readonly error: { readonly param: string } }
            assert.strictEqual(error.param, field, query)
          }
        }

        const history = await manage("GET", "/api/usage/history?range=24h")
        assert.strictEqual(history.totalRequests, 4)
        assert.strictEqual(history.byModel["one/m"].requests, 3)
        assert.strictEqual(history.byAccount[connection.id].requests, 3)
        assert.lengthOf(history.last10Minutes, 10)
        const minutes: ReadonlyArray<{ readonly requests: number }> = history.last10Minutes
        assert.strictEqual(
          minutes.reduce((sum, { requests }) => sum + requests, 0),
          4
        )
        assert.deepStrictEqual(history.activeRequests, [])

        const { count, sessions } = await manage("GET", "/api/sessions")
        assert.strictEqual(count, 1)
        assert.deepInclude(sessions[0], { named: true, requests: 3, model: "m", provider: "one" })
        assert.notInclude(JSON.stringify(sessions), "my-session")

        const telemetry = await manage("GET", "/api/telemetry/summary?windowMs=60000")
        assert.strictEqual(telemetry.windowMs, 60_000)
        assert.deepInclude(
          telemetry.providers.find((each: { provider: string }) => each.provider === "one"),
          { count: 3 }
        )
        assert.strictEqual(telemetry.errorRate, 0.25)

        const exported = await fetch(`${gateway.url}/api/usage/export?format=jsonl&provider=one`, {
          headers: { authorization: `Bearer ${adminKey}` }
        })
        const lines = (await exported.text()).trimEnd().split("\n")
        assert.strictEqual(lines.length, 3)
        assert.strictEqual(JSON.parse(lines[0] ?? "").provider, "one")
        const csv = await fetch(`${gateway.url}/api/usage/export`, {
          headers: { authorization: `Bearer ${adminKey}` }
        })
        assert.strictEqual((await csv.text()).trimEnd().split("\r\n").length, 5)

        const { models } = await manage("GET", "/api/models/catalog?limit=1000")
        const listed = models.find((each: { id: string }) => each.id === "one/m")
        assert.deepInclude(listed, { kind: "model", source: "connection", priceSource: "override", priceDated: null })
        assert.deepStrictEqual(listed.health, [{ connectionId: connection.id, name: "one", state: "available" }])
        assert.isTrue(models.some((each: { kind: string }) => each.kind === "auto"))
        const sourced = await manage("GET", "/api/pricing?includeSources")
        assert.deepStrictEqual(sourced.one.m, { input: 1, output: 2, source: "override", dated: null })
        assert.deepStrictEqual(await manage("GET", "/api/pricing"), { one: { m: { input: 1, output: 2 } } })
        assert.deepStrictEqual(await manage("DELETE", "/api/pricing"), {})
        assert.deepStrictEqual(await manage("GET", "/api/pricing"), {})

        const caches = await manage("GET", "/api/cache/stats")
        assert.deepInclude(caches.semanticCache, { enabled: false, memorySize: 0, hitRate: 0 })
        assert.deepStrictEqual(await manage("DELETE", "/api/cache/stats"), { cleared: 0 })

        assert.deepStrictEqual(await manage("POST", "/api/settings/purge-request-history", {}), { deleted: 4 })
        assert.deepStrictEqual((await manage("GET", "/api/usage/logs")).logs, [])
        for (const range of ["1h", "24h", "7d", "30d", "90d"]) {
          const { summary } = await manage("GET", `/api/usage/analytics?range=${range}`)
          assert.strictEqual(summary.requests, 4, `${range} after the purge`)
          assert.closeTo(summary.costUsd, costUsd, 1e-12)
        }
      })
    })
  )
)

it.live("shows a call that is under way, and none any more when it is over", () =>
  Effect.scoped(
    Effect.gen(function* () {
      const upstream = yield* FakeUpstream.start
      const gateway = yield* TestGateway.start()
      yield* Effect.promise(async () => {
        const { manage, post } = gateway
        const connection = await gateway.connect("one", upstream, "chat")
        const latch = FakeUpstream.makeLatch()
        upstream.always(async (response, request) => {
          await latch.opened
          await FakeUpstream.json(FakeUpstream.chatCompletion())(response, request)
        })
        const asking = post("/v1/chat/completions", ask("one/m"))
        const active = await eventuallyFound("a call under way", async () => {
          const found = await manage("GET", "/api/usage/history?range=1h")
          return found.activeRequests.length > 0 ? found : undefined
        })
        assert.deepStrictEqual(active.activeRequests, [
          { provider: "one", model: "m", account: connection.id, count: 1 }
        ])
        assert.deepStrictEqual(active.pending, { byModel: { "one/m": 1 }, byAccount: { [connection.id]: 1 } })
        latch.open()
        await (await asking).text()
        assert.deepStrictEqual((await manage("GET", "/api/usage/history?range=1h")).activeRequests, [])
      })
    })
  )
)

it.live("refuses ranges, cursors, times and windows that are none, with the field", () =>
  Effect.scoped(
    Effect.gen(function* () {
      const gateway = yield* TestGateway.start()
      yield* Effect.promise(async () => {
        for (const [method, path, field, body] of [
          ["GET", "/api/usage/analytics?range=2h", "range"],
          ["GET", "/api/usage/history?range=", "range"],
          ["GET", "/api/usage/history?rage=24h", "rage"],
          ["GET", "/api/usage/request-logs?cursor=x", "cursor"],
          ["GET", "/api/usage/request-logs?from=yesterday", "from"],
          ["GET", "/api/usage/request-logs?limit=0", "limit"],
          ["GET", "/api/usage/export?to=never", "to"],
          ["GET", "/api/usage/export?format=xml", "format"],
          ["GET", "/api/telemetry/summary?windowMs=5", "windowMs"],
          ["GET", "/api/telemetry/summary?windowMs=NaN", "windowMs"],
          ["POST", "/api/settings/purge-request-history", "before", { before: "soon" }],
          ["POST", "/api/settings/purge-request-history", "after", { after: "2035-01-01" }],
          ["PATCH", "/api/settings", "usage.maxRows", { usage: { maxRows: 1 } }],
          ["PATCH", "/api/settings", "usage.retentionDays", { usage: { retentionDays: 0.5 } }]
        ] as const) {
          const answer = await fetch(gateway.url + path, {
            method,
            headers: { authorization: `Bearer ${adminKey}`, "content-type": "application/json" },
            ...(body === undefined ? {} : { body: JSON.stringify(body) })
          })
          const { error } = (await answer.json()) as {
            readonly error: { readonly details: ReadonlyArray<{ readonly field: string }> }
          }
          assert.strictEqual(answer.status, 400, path)
          assert.deepStrictEqual(
            error.details.map((each) => each.field),
            [field],
            path
          )
        }
      })
    })
  )
)
