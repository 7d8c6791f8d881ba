/** `GET /api/usage/{connectionId}` over real HTTP: what providers showed and what the operator declared. */
import { assert, layer } from "@effect/vitest"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { nanoUsdPerUsd } from "../../../src/contract/domain/Usage.ts"
import { QuotaWindows } from "../../../src/plane/routing/quota/QuotaWindows.ts"
import { layerOf, TestApp } from "./TestApp.ts"

const connect = Effect.fnUntraced(function* (more: Readonly<Record<string, unknown>> = {}) {
  const app = yield* TestApp
  const body = { provider: "openai", apiKey: "sk-0123456789-key", ...more }
  const answer = yield* app.admin("/api/providers", { method: "POST", body })
  assert.strictEqual(answer.status, 201, answer.text)
  return String(answer.at("connection.id"))
})

const usage = Effect.fnUntraced(function* (id: string) {
  const app = yield* TestApp
  const answer = yield* app.admin(`/api/usage/${id}`)
  assert.strictEqual(answer.status, 200, answer.text)
  return answer
})

const headersOf = (headers: Readonly<Record<string, string>>) => (name: string) => headers[name] ?? null

layer(layerOf())("GET /api/usage/{connectionId}", (it) => {
  it.effect("a connection of which nothing is known", () =>
    Effect.gen(function* () {
      const answer = yield* usage(yield* connect())
      assert.deepStrictEqual(JSON.parse(answer.text), { plan: null, quotas: {}, limits: [], rates: [] })
    })
  )

  it.effect("an unknown id is 404 and names it; other callers are refused", () =>
    Effect.gen(function* () {
      const app = yield* TestApp
      const answer = yield* app.admin("/api/usage/no-such-connection")
      assert.strictEqual(answer.status, 404)
      assert.include(String(answer.at("error.message")), "no-such-connection")
      assert.strictEqual((yield* app.call(`/api/usage/${yield* connect()}`)).status, 401)
      const logs = yield* app.admin("/api/usage/logs")
      assert.deepStrictEqual(logs.at("logs"), [], "the log is not taken for a connection")
    })
  )

  it.effect("all quotas of all connections in one answer, with the time at which they will be used up", () =>
    Effect.gen(function* () {
      const app = yield* TestApp
      const quotas = yield* QuotaWindows
      const id = yield* connect({ name: "shown" })
      const declared = yield* connect({ name: "counted", quotas: [{ window: "daily", unit: "requests", limit: 10 }] })
      const nowMs = Math.floor((yield* Clock.currentTimeMillis) / 1000) * 1000
      const headers = headersOf({
        "x-codex-plan-type": "pro",
        "x-codex-primary-used-percent": "90",
        "x-codex-primary-window-minutes": "300",
        "x-codex-primary-reset-after-seconds": "3600",
        "x-ratelimit-limit-tokens": "1000",
        "x-ratelimit-remaining-tokens": "0",
        "x-ratelimit-reset-tokens": "30s"
      })
      quotas.learn(id, "gpt-5", headers, nowMs)
      const answer = yield* app.admin("/api/quotas")
      assert.strictEqual(answer.status, 200, answer.text)
      const { windows } = JSON.parse(answer.text) as { readonly windows: ReadonlyArray<Record<string, unknown>> }
      const of = (connectionId: string) => windows.filter((window) => window["connectionId"] === connectionId)
      const [window, rate] = of(id)
      assert.deepInclude(window, {
        connectionName: "shown",
        provider: "openai",
        plan: "pro",
        window: "5h",
        used: 90,
        total: 100,
        resetAt: new Date(nowMs + 3_600_000).toISOString(),
        source: "learned",
        basis: "forecast"
      })
      // 90 of 100 in four hours: the rest lasts for 26 minutes and 40 seconds.
      const atMs = Date.parse(String(window?.["exhaustedAt"]))
      assert.closeTo(atMs, nowMs + 1_600_000, 60_000)
      assert.deepInclude(rate, { model: "gpt-5", total: 1_000, remaining: 0, source: "header", basis: "header" })
      assert.strictEqual(rate?.["exhaustedAt"], new Date(nowMs).toISOString())
      assert.deepInclude(of(declared)[0], {
        used: 0,
        total: 10,
        exhaustedAt: null,
        source: "declared",
        basis: "declared"
      })
      assert.strictEqual((yield* app.call("/api/quotas")).status, 401)
    })
  )

  it.effect("what the provider showed: plan, windows and rate limits", () =>
    Effect.gen(function* () {
      const quotas = yield* QuotaWindows
      const id = yield* connect()
      const nowMs = Math.floor((yield* Clock.currentTimeMillis) / 1000) * 1000
      const headers = headersOf({
        "x-codex-plan-type": "pro",
        "x-codex-primary-used-percent": "33.3",
        "x-codex-primary-window-minutes": "300",
        "x-codex-primary-reset-after-seconds": "3600",
        "x-ratelimit-limit-tokens": "1000",
        "x-ratelimit-remaining-tokens": "250",
        "x-ratelimit-reset-tokens": "30s"
      })
      quotas.learn(id, "gpt-5", headers, nowMs)
      const answer = yield* usage(id)
      const fiveHours = {
        used: 33.3,
        total: 100,
        remaining: 66.7,
        remainingPercentage: 66.7,
        resetAt: new Date(nowMs + 3_600_000).toISOString(),
        unit: "percent",
        source: "learned"
      }
      assert.deepStrictEqual(JSON.parse(answer.text), {
        plan: "pro",
        quotas: {
          "5h": fiveHours,
          tokens: {
            used: 750,
            total: 1000,
            remaining: 250,
            remainingPercentage: 25,
            resetAt: new Date(nowMs + 30_000).toISOString(),
            unit: "tokens",
            source: "learned"
          }
        },
        limits: [{ window: "5h", ...fiveHours }],
        rates: [
          {
            model: "gpt-5",
            name: "tokens",
            total: 1000,
            remaining: 250,
            resetAt: new Date(nowMs + 30_000).toISOString()
          }
        ]
      })
    })
  )

  it.effect("what the operator declared is counted; a window shows its tightest limit", () =>
    Effect.gen(function* () {
      const quotas = yield* QuotaWindows
      const declared = [
        { window: "daily", unit: "requests", limit: 10, resetAt: "2026-01-01T06:00:00Z" },
        { window: "daily", unit: "usd", limit: 3, resetAt: "2026-01-01T06:00:00Z" },
        { window: "5h", unit: "percent", limit: 80 }
      ] as const
      const id = yield* connect({ quotas: declared })
      const nowMs = yield* Clock.currentTimeMillis
      quotas.count({ id, quotas: declared }, { tokens: 10, costNanoUsd: 2 * nanoUsdPerUsd }, nowMs)
      const answer = yield* usage(id)
      assert.deepInclude(answer.at("quotas.daily") as object, { used: 2, total: 3, remaining: 1, unit: "usd" })
      assert.strictEqual(answer.at("quotas.daily.remainingPercentage"), 33.333333)
      assert.match(String(answer.at("quotas.daily.resetAt")), /T06:00:00\.000Z$/)
      assert.deepInclude(answer.at("limits.0") as object, { window: "daily", used: 1, total: 10, remaining: 9 })
      assert.deepInclude(answer.at("quotas.5h") as object, { total: 80, remaining: null, resetAt: null })
    })
  )

  it.effect("another credential: what the provider showed is forgotten, what was counted stays", () =>
    Effect.gen(function* () {
      const app = yield* TestApp
      const quotas = yield* QuotaWindows
      const declared = [{ window: "daily", unit: "requests", limit: 10 }] as const
      const id = yield* connect({ quotas: declared })
      const nowMs = yield* Clock.currentTimeMillis
      const shown = { "anthropic-ratelimit-unified-5h-utilization": "0.5", "x-ratelimit-remaining-requests": "0" }
      quotas.learn(id, "m", headersOf(shown), nowMs)
      quotas.count({ id, quotas: declared }, { tokens: 1, costNanoUsd: 0 }, nowMs)
      assert.deepStrictEqual(Object.keys((yield* usage(id)).at("quotas") as object), ["daily", "5h", "requests"])
      yield* app.admin(`/api/providers/${id}`, { method: "PUT", body: { apiKey: "another" } })
      const answer = yield* usage(id)
      assert.deepStrictEqual(Object.keys(answer.at("quotas") as object), ["daily"])
      assert.strictEqual(answer.at("quotas.daily.used"), 1)
      assert.deepStrictEqual(answer.at("rates"), [])
    })
  )

  it.effect("a declared quota that can never be is refused, with its field", () =>
    Effect.gen(function* () {
      const app = yield* TestApp
      const id = yield* connect()
      for (const [quota, field] of [
        [{ window: "daily", unit: "percent", limit: 101 }, "quotas.0.limit"],
        [{ window: "daily", unit: "requests", limit: 0 }, "quotas.0.limit"],
        [{ window: "daily", unit: "requests", limit: 1, resetAt: "whenever" }, "quotas.0.resetAt"],
        [{ window: "yearly", unit: "requests", limit: 1 }, "quotas.0.window"]
      ] as const) {
        const answer = yield* app.admin(`/api/providers/${id}`, { method: "PUT", body: { quotas: [quota] } })
        assert.deepStrictEqual([answer.status, answer.at("error.details.0.field")], [400, field])
      }
    })
  )

  it.effect("what was known of a removed connection goes with it", () =>
    Effect.gen(function* () {
      const app = yield* TestApp
      const quotas = yield* QuotaWindows
      const id = yield* connect()
      const nowMs = yield* Clock.currentTimeMillis
      quotas.learn(id, "m", headersOf({ "anthropic-ratelimit-unified-5h-utilization": "0.5" }), nowMs)
      assert.strictEqual((yield* usage(id)).at("quotas.5h.used"), 50)
      assert.strictEqual((yield* app.admin(`/api/providers/${id}`, { method: "DELETE" })).status, 204)
      assert.strictEqual((yield* app.admin(`/api/usage/${id}`)).status, 404)
      assert.deepStrictEqual(quotas.of({ id, quotas: [] }, nowMs, "m"), [])
    })
  )
})
