/** `GET /api/usage/series` of a gateway with a real database and a reading thread. */
import { assert, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type { UsageBreakdownView } from "../../../src/subjects/usageHistory/routes.ts"
import * as FakeUpstream from "../../support/FakeUpstream.ts"
import * as TestGateway from "../../support/TestGateway.ts"
import { adminKey } from "../../support/TestGateway.ts"

type SplitRow = UsageBreakdownView["rows"][number]

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

it.live("shows usage by two dimensions, with what the cache has saved, and refuses what it cannot show", () =>
  Effect.scoped(
    Effect.gen(function* () {
      const upstream = yield* FakeUpstream.start
      const gateway = yield* TestGateway.start()
      yield* Effect.promise(async () => {
        const { manage, post } = gateway
        const usage = { prompt_tokens: 1_000, completion_tokens: 10, prompt_tokens_details: { cached_tokens: 600 } }
        upstream.always(FakeUpstream.json({ ...FakeUpstream.chatCompletion(), usage }))
        await gateway.connect("one", upstream, "chat")
        await gateway.connect("two", upstream, "chat")
        await manage("PATCH", "/api/pricing", { one: { m: { input: 1_000, output: 0, cached: 250 } } })
        const { key, secret } = await manage("POST", "/api/keys", { name: "ci" })
        const asKey = { authorization: `Bearer ${secret}` }
        for (const model of ["one/m", "one/m", "two/m"]) {
          await (await post("/v1/chat/completions", ask(model), asKey)).text()
        }
        await (await post("/v1/chat/completions", ask("one/m"))).text()

        const found = await manage("GET", "/api/usage/breakdown?by=model&and=apiKey&tz=Asia/Kathmandu")
        assert.deepInclude(found, { by: "model", and: "apiKey", tz: "Asia/Kathmandu", basis: "sums", scannedTo: null })
        // 400 tokens at 0.001, 600 at 0.00025; read from the cache for 0.00075 less each.
        const each = { failed: 0, tokensIn: 1_000, tokensOut: 10, cacheRead: 600 }
        const names = { key: "one/m", name: "one/m" }
        assert.deepStrictEqual(
          found.rows.map(
            ({ cacheSavedUsd, costUsd, requests, tokensIn, tokensOut, cacheRead, failed, ...keys }: SplitRow) => ({
              ...keys,
              requests,
              failed,
              tokensIn: tokensIn / requests,
              tokensOut: tokensOut / requests,
              cacheRead: cacheRead / requests,
              costUsd: Number((costUsd / requests).toFixed(9)),
              saved: Number((cacheSavedUsd / requests).toFixed(9))
            })
          ),
          [
            { ...names, andKey: key.id, andName: "ci", requests: 2, ...each, costUsd: 0.55, saved: 0.45 },
            { ...names, andKey: null, andName: null, requests: 1, ...each, costUsd: 0.55, saved: 0.45 },
            { key: "two/m", name: "two/m", andKey: key.id, andName: "ci", requests: 1, ...each, costUsd: 0, saved: 0 }
          ]
        )
        assert.closeTo(found.total.costUsd, 1.65, 1e-9)
        assert.closeTo(found.total.cacheSavedUsd, 1.35, 1e-9)
        assert.strictEqual(found.rest.requests, 0)

        const cut = await manage("GET", "/api/usage/breakdown?by=apiKey&top=1")
        assert.deepInclude(cut.rows[0], { key: key.id, name: "ci", andKey: null, requests: 3 })
        assert.strictEqual(cut.rest.requests, 1)
        assert.closeTo(cut.rest.costUsd + cut.rows[0].costUsd, cut.total.costUsd, 1e-12)
        const ofKey = await manage("GET", `/api/usage/breakdown?by=provider&and=combo&apiKeyId=${key.id}`)
        assert.deepStrictEqual(
          ofKey.rows.map((row: SplitRow) => [row.key, row.andKey, row.requests]),
          [
            ["one", null, 2],
            ["two", null, 1]
          ]
        )
        const byLog = await manage("GET", "/api/usage/breakdown?by=provider&requestedModel=two/m")
        assert.deepInclude(byLog, { basis: "log" })
        assert.deepInclude(byLog.rows[0], { key: "two", requests: 1 })

        for (const [query, field] of [
          ["", "by"],
          ["by=status", "by"],
          ["by=model&and=day", "and"],
          ["by=model&top=501", "top"],
          ["by=model&tz=Mars/Base", "tz"],
          ["by=model&from=2026-03-01&to=2026-02-01", "to"],
          ["by=model&from=1971-01-01", "step"],
          ["by=model&step=hour", "step"]
        ]) {
          const response = await fetch(`${gateway.url}/api/usage/breakdown?${query}`, {
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
