/** `GET /api/usage/series` of a gateway with a real database and a reading thread. */
import { assert, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FakeUpstream from "../../support/FakeUpstream.ts"
import * as TestGateway from "../../support/TestGateway.ts"
import { adminKey } from "../../support/TestGateway.ts"

const ask = (model: string) => ({ model, messages: [{ role: "user", content: "hello" }] })
const sum = (all: ReadonlyArray<number>): number => all.reduce((one, other) => one + other, 0)

it.live("shows usage step by step, split and filtered as the log is, and refuses what it cannot show", () =>
  Effect.scoped(
    Effect.gen(function* () {
      const upstream = yield* FakeUpstream.start
      const gateway = yield* TestGateway.start()
      yield* Effect.promise(async () => {
        const { manage, post } = gateway
        upstream.always(FakeUpstream.json(FakeUpstream.chatCompletion()))
        const one = await gateway.connect("one", upstream, "chat")
        await gateway.connect("two", upstream, "chat")
        await manage("PATCH", "/api/pricing", { one: { m: { input: 1, output: 2 } } })
        for (const model of ["one/m", "one/m", "two/m", "nothing/there"]) {
          await (await post("/v1/chat/completions", ask(model))).text()
        }
        const { logs } = await manage("GET", "/api/usage/logs")
        assert.lengthOf(logs, 4)
        const costUsd = sum(logs.map((log: { costUsd: number }) => log.costUsd))

        for (const step of ["minute", "hour", "day"]) {
          for (const tz of ["UTC", "Asia/Kathmandu", "America/New_York"]) {
            const from = new Date(Date.now() - 3 * 3_600_000).toISOString()
            const found = await manage("GET", `/api/usage/series?from=${from}&step=${step}&tz=${tz}&by=provider&top=1`)
            assert.deepInclude(found, { step, tz, by: "provider", basis: "sums", scannedTo: null, inexact: [] })
            assert.strictEqual(sum(found.total.requests), 4)
            assert.strictEqual(sum(found.total.failed), 1)
            assert.closeTo(sum(found.total.costUsd), costUsd, 1e-12)
            assert.lengthOf(found.series, 1)
            assert.deepInclude(found.series[0], { key: "one", name: "one" })
            assert.strictEqual(sum(found.series[0].requests), 2)
            assert.strictEqual(sum(found.rest.requests), 2)
            assert.lengthOf(found.total.p95Ms, found.starts.length)
          }
        }
        const byConnection = await manage("GET", "/api/usage/series?by=connection")
        assert.strictEqual(byConnection.step, "hour")
        assert.deepInclude(byConnection.series[0], { key: one.id, name: "one" })
        const byOutcome = await manage("GET", "/api/usage/series?by=outcome&provider=two")
        assert.deepStrictEqual(
          byOutcome.series.map((each: { key: string; requests: ReadonlyArray<number> }) => [
            each.key,
            sum(each.requests)
          ]),
          [["completed", 1]]
        )
        const byLog = await manage("GET", "/api/usage/series?requestedModel=one/m")
        assert.strictEqual(byLog.basis, "log")
        assert.strictEqual(sum(byLog.total.requests), 2)
        const day = new Date().toISOString().slice(0, 10)
        const days = await manage("GET", `/api/usage/series?from=${day}&step=hour&tz=Europe/Zurich`)
        assert.include(["22:00:00.000Z", "23:00:00.000Z"], days.starts[0].slice(11))

        const wrong: ReadonlyArray<readonly [query: string, field: string]> = [
          ["tz=Mars/Base", "tz"],
          ["tz=%2B02:00", "tz"],
          ["from=2026-02-30", "from"],
          ["from=2026-03-01&to=2026-02-01", "to"],
          ["from=2026-03-01&to=2026-03-01", "to"],
          ["from=2026-01-01&to=2026-03-01&step=minute", "step"],
          ["from=1971-01-01&to=2400-01-01&step=minute", "step"],
          ["from=1971-01-01", "step"],
          ["step=week", "step"],
          ["by=status", "by"],
          ["top=0", "top"],
          ["top=31", "top"],
          ["timezone=UTC", "timezone"],
          ["cursor=x", "cursor"],
          ["limit=1", "limit"]
        ]
        for (const [query, field] of wrong) {
          const response = await fetch(`${gateway.url}/api/usage/series?${query}`, {
            headers: { authorization: `Bearer ${adminKey}` }
          })
          assert.strictEqual(response.status, 400, query)
          const { error } = (await response.json()) as { readonly error: { readonly param: string } }
          assert.strictEqual(error.param, field, query)
        }
      })
    })
  )
)
