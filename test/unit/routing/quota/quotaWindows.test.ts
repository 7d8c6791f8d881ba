import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as TestClock from "effect/TestClock"
import type { DeclaredQuota } from "../../../../src/subjects/connections/entity.ts"
import { nanoUsdPerUsd } from "../../../../src/contract/domain/Usage.ts"
import type { Failure } from "../../../../src/plane/resilience/failure/FailureKind.ts"
import type { QuotaWindow } from "../../../../src/plane/routing/candidate/Candidate.ts"
import * as QuotaWindows from "../../../../src/plane/routing/quota/QuotaWindows.ts"
import { QuotaRepo } from "../../../../src/subjects/quotaGroups/QuotaRepo.ts"
import { started } from "../../resilience/support.ts"
import { reposInMemory } from "../../store/fixtures.ts"

const running = started(QuotaWindows.QuotaWindows, QuotaWindows.layer)

const minute = 60_000
const hour = 60 * minute
const day = 24 * hour
const nowMs = Date.parse("2026-03-10T12:00:00Z")

const headersOf = (headers: Readonly<Record<string, string>>) => (name: string) => headers[name] ?? null

const subscription = (fiveHours: string, sevenDays: string) =>
  headersOf({
    "anthropic-ratelimit-unified-status": "allowed",
    "anthropic-ratelimit-unified-5h-utilization": fiveHours,
    "anthropic-ratelimit-unified-5h-reset": String((nowMs + 2 * hour) / 1000),
    "anthropic-ratelimit-unified-7d-utilization": sevenDays,
    "anthropic-ratelimit-unified-7d-reset": String((nowMs + 3 * day) / 1000)
  })

const perMinute = (left: string) =>
  headersOf({
    "x-ratelimit-limit-requests": "100",
    "x-ratelimit-remaining-requests": left,
    "x-ratelimit-reset-requests": "30s"
  })

const quoted = (id: string, quotas: ReadonlyArray<DeclaredQuota> = []): QuotaWindows.QuotaConnection => ({ id, quotas })
const used = (tokens: number, usd = 0) => ({ tokens, costNanoUsd: usd * nanoUsdPerUsd })

const failure = (more: Partial<Failure>): Failure => ({
  kind: "rate_limit",
  place: "status",
  status: 429,
  answered: true,
  reason: "http_429",
  rule: "429",
  message: "slow down",
  hintMs: null,
  untilMs: nowMs + minute,
  scope: "connection",
  exhausts: "connection",
  contentBegan: false,
  ...more
})

/** What is left of the tightest. */
const least = (windows: ReadonlyArray<QuotaWindow>): number | null =>
  windows.length === 0 ? null : Math.min(...windows.map(({ remaining }) => remaining))

describe("a reader of one target", () => {
  it.scoped("reads what is known now, and gives the same list while nothing changes", () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(nowMs)
      const quotas = yield* running
      const connection = quoted("c")
      const read = quotas.reader(connection, "m")
      const check = (atMs: number) => assert.deepStrictEqual(read(atMs), quotas.of(connection, atMs, "m"))
      check(nowMs)
      quotas.learn("c", "m", perMinute("40"), nowMs)
      check(nowMs)
      assert.strictEqual(read(nowMs), read(nowMs + 1_000))
      assert.strictEqual(least(read(nowMs)), 0.4)
      quotas.learn("c", "m", subscription("0.9", "0.1"), nowMs)
      check(nowMs)
      check(nowMs + minute)
      check(nowMs + 3 * hour)
      quotas.forget("c")
      check(nowMs)
      assert.lengthOf(read(nowMs), 0)
    }).pipe(Effect.provide(reposInMemory))
  )
})

describe("QuotaWindows: a count that begins with its first use", () => {
  it.scoped("is seen from then on, also when the request that began it is looked at as of its arrival", () =>
    Effect.gen(function* () {
      const quotas = yield* running
      const account = quoted("c", [{ window: "5h", unit: "tokens", limit: 100 }])
      quotas.count(account, used(90), nowMs + 10)
      assert.strictEqual(least(quotas.of(account, nowMs, "m")), 1)
      assert.closeTo(least(quotas.of(account, nowMs + 10, "m")) ?? 1, 0.1, 1e-9)
    }).pipe(Effect.provide(reposInMemory))
  )
})

describe("QuotaWindows: learned", () => {
  it.scoped("shows windows until they reset, then knows nothing of them", () =>
    Effect.gen(function* () {
      const quotas = yield* running
      const account = quoted("c")
      assert.deepStrictEqual(quotas.of(account, nowMs, "m"), [])
      assert.isNull(least(quotas.of(account, nowMs, "m")))
      quotas.learn("c", "m", subscription("0.25", "0.5"), nowMs)
      const both: ReadonlyArray<QuotaWindow> = [
        { window: "5h", remaining: 0.75, resetAtMs: nowMs + 2 * hour },
        { window: "weekly", remaining: 0.5, resetAtMs: nowMs + 3 * day }
      ]
      assert.deepStrictEqual(quotas.of(account, nowMs, "m"), both)
      assert.strictEqual(quotas.of(account, nowMs + 1, "m"), quotas.of(account, nowMs + 2, "m"), "worked out once")
      assert.strictEqual(least(quotas.of(account, nowMs, "m")), 0.5)
      quotas.learn("c", "m", headersOf({ "content-type": "text/plain" }), nowMs + minute)
      assert.deepStrictEqual(quotas.of(account, nowMs + 2 * hour - 1, "m"), both)
      assert.deepStrictEqual(quotas.of(account, nowMs + 2 * hour, "m"), both.slice(1))
      assert.deepStrictEqual(quotas.of(account, nowMs + 3 * day, "m"), [])
      assert.deepStrictEqual(quotas.of(quoted("other"), nowMs, "m"), [])
    }).pipe(Effect.provide(reposInMemory))
  )

  it.scoped("the newer word counts", () =>
    Effect.gen(function* () {
      const quotas = yield* running
      quotas.learn("c", "m", subscription("0.25", "0.5"), nowMs)
      assert.strictEqual(quotas.of(quoted("c"), nowMs, "m")[0]?.remaining, 0.75)
      quotas.learn("c", "m", subscription("1", "0.5"), nowMs)
      assert.strictEqual(quotas.of(quoted("c"), nowMs, "m")[0]?.remaining, 0)
      assert.lengthOf(quotas.of(quoted("c"), nowMs, "m"), 2)
    }).pipe(Effect.provide(reposInMemory))
  )

  it.scoped("rates are kept apart, by model, until they reset", () =>
    Effect.gen(function* () {
      const quotas = yield* running
      quotas.learn("c", "large", perMinute("5"), nowMs)
      quotas.learn("c", "small", perMinute("90"), nowMs)
      assert.deepStrictEqual(quotas.of(quoted("c"), nowMs, "m"), [])
      assert.deepStrictEqual(quotas.of(quoted("c"), nowMs, "large"), [
        { window: "rate", remaining: 0.05, resetAtMs: nowMs + 30_000 }
      ])
      assert.strictEqual(least(quotas.of(quoted("c"), nowMs, "small")), 0.9)
      assert.isNull(least(quotas.of(quoted("c"), nowMs, "another")))
      assert.lengthOf(quotas.report(quoted("c"), nowMs).rates, 2)
      assert.strictEqual(least(quotas.of(quoted("c"), nowMs + 29_999, "large")), 0.05)
      assert.isNull(least(quotas.of(quoted("c"), nowMs + 30_000, "large")))
      assert.deepStrictEqual(quotas.report(quoted("c"), nowMs + 30_000).rates, [])
    }).pipe(Effect.provide(reposInMemory))
  )

  it.scoped("a rate that does not say when it resets is believed for a minute", () =>
    Effect.gen(function* () {
      const quotas = yield* running
      const header = headersOf({ "x-ratelimit-limit": "10", "x-ratelimit-remaining": "1" })
      quotas.learn("c", "m", header, nowMs)
      assert.strictEqual(least(quotas.of(quoted("c"), nowMs + minute - 1, "m")), 0.1)
      assert.isNull(least(quotas.of(quoted("c"), nowMs + minute, "m")))
    }).pipe(Effect.provide(reposInMemory))
  )

  it.scoped("a refusal tells what headers did not", () =>
    Effect.gen(function* () {
      const quotas = yield* running
      const free = { "x-ratelimit-limit-requests": "100", "x-ratelimit-remaining-requests": "80" }
      quotas.learn("c", "m", headersOf(free), nowMs)
      quotas.refused("c", "m", failure({}), nowMs)
      assert.strictEqual(least(quotas.of(quoted("c"), nowMs, "m")), 0)
      assert.strictEqual(least(quotas.of(quoted("c"), nowMs, "n")), 0)
      assert.isNull(least(quotas.of(quoted("c"), nowMs + minute, "n")))

      const google = failure({ kind: "quota_exhausted", rule: "google_daily_quota", scope: "model" })
      quotas.refused("g", "m", google, nowMs)
      assert.strictEqual(least(quotas.of(quoted("g"), nowMs, "m")), 0)
      assert.isNull(least(quotas.of(quoted("g"), nowMs, "n")))

      const daily = failure({ kind: "quota_exhausted", rule: "daily_quota", untilMs: nowMs + 12 * hour })
      quotas.refused("d", "m", daily, nowMs)
      assert.deepStrictEqual(quotas.of(quoted("d"), nowMs, "m"), [
        { window: "daily", remaining: 0, resetAtMs: nowMs + 12 * hour }
      ])
      for (const other of [failure({ untilMs: null }), failure({ kind: "transient" }), failure({ kind: "banned" })]) {
        quotas.refused("x", "m", other, nowMs)
      }
      assert.isNull(least(quotas.of(quoted("x"), nowMs, "m")))
    }).pipe(Effect.provide(reposInMemory))
  )

  it.scoped("is bounded: the models of a connection, and the connections", () =>
    Effect.gen(function* () {
      const quotas = yield* running
      for (let n = 0; n <= QuotaWindows.maxModels; n += 1) quotas.learn("c", `m${n}`, perMinute("5"), nowMs)
      assert.lengthOf(quotas.report(quoted("c"), nowMs).rates, QuotaWindows.maxModels)
      assert.isNull(least(quotas.of(quoted("c"), nowMs, "m0")))
      for (let n = 0; n < QuotaWindows.capacity; n += 1) quotas.learn(`c${n}`, "m", perMinute("5"), nowMs)
      assert.isNull(least(quotas.of(quoted("c"), nowMs, "m1")))
      assert.strictEqual(least(quotas.of(quoted("c0"), nowMs, "m")), 0.05)
    }).pipe(Effect.provide(reposInMemory))
  )
})

describe("QuotaWindows: declared", () => {
  it.scoped("counts requests, tokens and money in the window of the calendar", () =>
    Effect.gen(function* () {
      const quotas = yield* running
      const account = quoted("c", [
        { window: "daily", unit: "requests", limit: 10 },
        { window: "daily", unit: "tokens", limit: 1_000 },
        { window: "monthly", unit: "usd", limit: 4 }
      ])
      assert.deepStrictEqual(quotas.of(account, nowMs, "m"), [
        { window: "daily", remaining: 1, resetAtMs: nowMs + 12 * hour },
        { window: "monthly", remaining: 1, resetAtMs: Date.parse("2026-04-01T00:00:00Z") }
      ])
      quotas.count(account, used(600, 1), nowMs)
      quotas.count(account, used(100, 0), nowMs + 1)
      assert.deepStrictEqual(
        quotas
          .report(account, nowMs)
          .quotas.map(({ remaining, total, unit, used: spent }) => [unit, spent, total, remaining]),
        [
          ["requests", 2, 10, 8],
          ["tokens", 700, 1_000, 300],
          ["usd", 1, 4, 3]
        ]
      )
      assert.deepStrictEqual(
        quotas.of(account, nowMs, "m").map(({ remaining }) => remaining),
        [0.3, 0.75]
      )
      quotas.count(account, used(5_000), nowMs + 2)
      assert.strictEqual(quotas.of(account, nowMs + 2, "m")[0]?.remaining, 0)
      assert.deepStrictEqual(
        quotas.of(account, nowMs + 12 * hour, "m").map(({ remaining }) => remaining),
        [1, 0.75]
      )
      assert.deepStrictEqual(quotas.of(quoted("c"), nowMs, "m"), [], "what is no longer declared is not shown")
    }).pipe(Effect.provide(reposInMemory))
  )

  it.scoped("five hours begin with the first use, or at the time that was given", () =>
    Effect.gen(function* () {
      const quotas = yield* running
      const floating = quoted("c", [{ window: "5h", unit: "requests", limit: 4 }])
      assert.deepStrictEqual(quotas.of(floating, nowMs, "m"), [{ window: "5h", remaining: 1, resetAtMs: null }])
      quotas.count(floating, used(1), nowMs)
      quotas.count(floating, used(1), nowMs + 4 * hour)
      assert.deepStrictEqual(quotas.of(floating, nowMs + 4 * hour, "m"), [
        { window: "5h", remaining: 0.5, resetAtMs: nowMs + 5 * hour }
      ])
      quotas.count(floating, used(1), nowMs + 6 * hour)
      assert.deepStrictEqual(quotas.of(floating, nowMs + 6 * hour, "m"), [
        { window: "5h", remaining: 0.75, resetAtMs: nowMs + 11 * hour }
      ])
      const fixed = quoted("d", [{ window: "5h", unit: "requests", limit: 4, resetAt: "2026-03-10T13:00:00Z" }])
      quotas.count(fixed, used(1), nowMs)
      assert.deepStrictEqual(quotas.of(fixed, nowMs, "m"), [{ window: "5h", remaining: 0.75, resetAtMs: nowMs + hour }])
      assert.deepStrictEqual(quotas.of(fixed, nowMs + hour, "m"), [
        { window: "5h", remaining: 1, resetAtMs: nowMs + 6 * hour }
      ])
    }).pipe(Effect.provide(reposInMemory))
  )

  it.scoped("a share of a window is measured on what the provider shows", () =>
    Effect.gen(function* () {
      const quotas = yield* running
      const account = quoted("c", [{ window: "5h", unit: "percent", limit: 50 }])
      assert.deepStrictEqual(quotas.of(account, nowMs, "m"), [])
      const unknown = quotas.report(account, nowMs).quotas[0]
      assert.isNull(unknown?.remaining)
      quotas.learn("c", "m", subscription("0.3", "0.1"), nowMs)
      assert.strictEqual(quotas.of(account, nowMs, "m").find(({ window }) => window === "5h")?.remaining, 0.4)
      quotas.learn("c", "m", subscription("0.7", "0.1"), nowMs)
      assert.strictEqual(quotas.of(account, nowMs, "m").find(({ window }) => window === "5h")?.remaining, 0)
    }).pipe(Effect.provide(reposInMemory))
  )
})

describe("QuotaWindows: restart", () => {
  const account = quoted("c", [{ window: "daily", unit: "requests", limit: 10 }])

  it.effect("long windows and counts survive it, rates and what is over do not", () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(nowMs)
      yield* Effect.scoped(
        Effect.gen(function* () {
          const quotas = yield* running
          quotas.learn("c", "m", subscription("0.25", "0.5"), nowMs)
          quotas.learn("c", "m", perMinute("5"), nowMs)
          quotas.learn("rates only", "m", perMinute("5"), nowMs)
          quotas.count(account, used(5), nowMs)
          quotas.learn("gone", "m", subscription("0.25", "0.5"), nowMs)
          quotas.forget("gone")
        })
      )
      const repo = yield* QuotaRepo
      assert.deepStrictEqual(
        (yield* repo.list).map(({ key }) => key),
        ["c"]
      )
      yield* TestClock.setTime(nowMs + 3 * hour)
      yield* Effect.scoped(
        Effect.gen(function* () {
          const quotas = yield* running
          assert.deepStrictEqual(quotas.of(account, nowMs + 3 * hour, "m"), [
            { window: "daily", remaining: 0.9, resetAtMs: nowMs + 12 * hour },
            { window: "weekly", remaining: 0.5, resetAtMs: nowMs + 3 * day }
          ])
          assert.deepStrictEqual(quotas.report(account, nowMs).rates, [])
        })
      )
      yield* TestClock.setTime(nowMs + 30 * day)
      yield* Effect.scoped(Effect.flatMap(running, (quotas) => quotas.flush))
      assert.deepStrictEqual(yield* repo.list, [])
    }).pipe(Effect.provide(reposInMemory))
  )

  it.effect("a row that cannot be read is dropped, the others are not", () =>
    Effect.gen(function* () {
      const repo = yield* QuotaRepo
      const good = { plan: "pro", learned: [], counts: {} }
      const learned = [{ window: "weekly", unit: "percent", used: 20, total: 100, resetAtMs: null, untilMs: day }]
      yield* repo.save("c", JSON.stringify({ ...good, learned }))
      yield* repo.save("broken", "{")
      yield* repo.save("strange", JSON.stringify({ ...good, learned: [{ ...learned[0], window: "fortnight" }] }))
      yield* Effect.scoped(
        Effect.gen(function* () {
          const quotas = yield* running
          assert.deepStrictEqual(quotas.of(quoted("c"), 0, "m"), [
            { window: "weekly", remaining: 0.8, resetAtMs: null }
          ])
          assert.strictEqual(quotas.report(quoted("c"), 0).plan, "pro")
          yield* quotas.flush
          assert.deepStrictEqual(
            (yield* repo.list).map(({ key }) => key),
            ["c"]
          )
        })
      )
    }).pipe(Effect.provide(reposInMemory))
  )
})
