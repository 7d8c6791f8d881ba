/** Sums of the usage log: each row once, also when rows are deleted, and the sums of keys stay exact. */
import * as SqlClient from "@effect/sql/SqlClient"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FastCheck from "effect/FastCheck"
import * as Layer from "effect/Layer"
import * as TestClock from "effect/TestClock"
import * as TestContext from "effect/TestContext"
import type { UsageRow } from "../../../src/contract/domain/Usage.ts"
import * as Sql from "../../../src/store/Sql.ts"
import * as SpendRepo from "../../../src/subjects/usage/SpendRepo.ts"
import * as UsageSumsRepo from "../../../src/subjects/usage/UsageSumsRepo.ts"
import { mostGroups, otherModel } from "../../../src/store/usage/UsageSumsSql.ts"
import { put, rowAt, sumAll } from "../../support/UsageLog.ts"

const hourMs = 3_600_000
const dayMs = 24 * hourMs
const nowMs = Date.UTC(2026, 8, 20, 12, 34, 56)

const deleteAll = (expired: UsageSumsRepo.Expired) =>
  Effect.gen(function* () {
    const sums = yield* UsageSumsRepo.UsageSumsRepo
    const upTo = yield* sums.newest
    let deleted = 0
    for (;;) {
      const some = yield* sums.deleteSome(expired, upTo, nowMs)
      if (some === 0) return deleted
      deleted += some
    }
  })

/** Of a table of sums. */
const total = (table: "usage_hours" | "usage_days" | "usage_minutes") =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const [row] = yield* sql<{ readonly requests: number | null; readonly cost: number | null }>`
      SELECT SUM(requests) AS requests, SUM(cost_nano_usd) AS cost FROM ${sql(table)}`
    return [row?.requests ?? 0, row?.cost ?? 0]
  })

const store = Layer.mergeAll(UsageSumsRepo.layer, SpendRepo.layer).pipe(Layer.provideMerge(Sql.layerMemory))
const within = <A, E>(use: Effect.Effect<A, E, Layer.Layer.Success<typeof store>>) =>
  TestClock.setTime(nowMs).pipe(Effect.zipRight(use), Effect.provide(store))

/** An entry of the ledger for a row that was answered by its second call. */
const call = (attempt: number) => ({
  attempt,
  provider: "openai",
  connectionId: "connection-1",
  model: "gpt-4.1",
  state: attempt === 1 ? ("voided" as const) : ("settled" as const),
  reservedNanoUsd: 10,
  settledNanoUsd: attempt === 1 ? 0 : 7,
  price: null,
  createdAtMs: nowMs,
  settledAtMs: nowMs
})

describe("UsageSumsRepo", () => {
  it.effect("deletes the entries of the ledger with their request", () =>
    within(
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const more = { attempts: 2, calls: [call(1), call(2)] }
        yield* put([rowAt(nowMs - 40 * dayMs, 1, more), rowAt(nowMs - 60_000, 2, more)])
        yield* sumAll
        const count = sql<{ readonly n: number }>`SELECT COUNT(*) AS n FROM ledger_entries`
        assert.deepStrictEqual(yield* count, [{ n: 4 }])
        assert.strictEqual(yield* deleteAll({ _tag: "Before", beforeMs: nowMs - 30 * dayMs }), 1)
        assert.deepStrictEqual(yield* count, [{ n: 2 }])
      })
    )
  )

  it.effect("adds every row once by hour and day, however often it is asked to", () =>
    within(
      Effect.gen(function* () {
        const rows = Array.from({ length: 1_234 }, (_, n) =>
          rowAt(nowMs - n * 7 * 60_000, n, { costNanoUsd: n, outcome: n % 5 === 0 ? "failed" : "completed" })
        )
        yield* put(rows)
        yield* sumAll
        // A repeat of the journal after a crash brings the same rows again.
        yield* put(rows)
        yield* sumAll
        const expected = [1_234, (1_233 * 1_234) / 2]
        assert.deepStrictEqual(yield* total("usage_hours"), expected)
        assert.deepStrictEqual(yield* total("usage_days"), expected)
        const sql = yield* SqlClient.SqlClient
        const [done] = yield* sql<{
          readonly completed: number
          readonly n: number
        }>`SELECT SUM(completed) AS completed, COUNT(*) AS n FROM usage_days`
        assert.strictEqual(done?.completed, rows.filter(({ outcome }) => outcome === "completed").length)
        assert.strictEqual(done?.n, new Set(rows.map((row) => Math.floor(row.timestampMs / dayMs))).size)
      })
    )
  )

  it.effect("counts rows that are written after the newest were deleted, and after the file was rewritten", () =>
    within(
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        yield* put([rowAt(nowMs - 3 * hourMs, 1), rowAt(nowMs - 2 * hourMs, 2)])
        yield* sumAll
        assert.strictEqual(yield* deleteAll({ _tag: "Before", beforeMs: nowMs }), 2)
        yield* sql`VACUUM`
        yield* put([rowAt(nowMs - hourMs, 3)])
        yield* sumAll
        assert.deepStrictEqual((yield* total("usage_hours"))[0], 3)
      })
    )
  )

  it.effect("deletes no row that is not in the sums yet", () =>
    within(
      Effect.gen(function* () {
        yield* put([rowAt(nowMs - 3 * dayMs, 1)])
        yield* sumAll
        yield* put([rowAt(nowMs - 2 * dayMs, 2)])
        assert.strictEqual(yield* deleteAll({ _tag: "Before", beforeMs: nowMs }), 1)
        yield* sumAll
        assert.strictEqual(yield* deleteAll({ _tag: "Before", beforeMs: nowMs }), 1)
        assert.deepStrictEqual((yield* total("usage_days"))[0], 2)
      })
    )
  )

  it.effect("keeps the newest rows of a log that is too long", () =>
    within(
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        yield* put(Array.from({ length: 900 }, (_, n) => rowAt(nowMs - (900 - n) * 1000, n)))
        yield* sumAll
        assert.strictEqual(yield* deleteAll({ _tag: "Beyond", maxRows: 250 }), 650)
        const [left] = yield* sql<{ readonly n: number; readonly first: number }>`
          SELECT COUNT(*) AS n, MIN(timestamp_ms) AS first FROM usage_log`
        assert.deepStrictEqual(left, { n: 250, first: nowMs - 250_000 })
      })
    )
  )

  it.effect("takes models together where callers name too many, and goes on with those it knows", () =>
    within(
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const many = mostGroups + 2_000
        const rows = Array.from({ length: many }, (_, n) => rowAt(nowMs, n, { model: `model-${n}` }))
        for (let n = 0; n < many; n += 1_000) yield* put(rows.slice(n, n + 1_000))
        yield* sumAll
        yield* put([rowAt(nowMs, many, { model: "model-0" }), rowAt(nowMs, many + 1, { model: "new" })])
        yield* sumAll
        const [groups] = yield* sql<{ readonly n: number; readonly requests: number }>`
          SELECT COUNT(*) AS n, SUM(requests) AS requests FROM usage_hours`
        assert.isAtMost(groups?.n ?? 0, mostGroups + UsageSumsRepo.sumStep + 1)
        assert.strictEqual(groups?.requests, many + 2)
        const of = (model: string) =>
          Effect.map(
            sql<{ readonly requests: number }>`SELECT requests FROM usage_hours WHERE model = ${model}`,
            ([row]) => row?.requests ?? 0
          )
        assert.strictEqual(yield* of("model-0"), 2)
        assert.strictEqual(yield* of("new"), 0)
        assert.isAbove(yield* of(otherModel), 1)
      })
    )
  )

  it.effect("goes on with counts so large that their sum would be no whole number any more", () =>
    within(
      Effect.gen(function* () {
        const tokens = { in: Number.MAX_SAFE_INTEGER, out: 0, cacheRead: 0, cacheWrite: 0, reasoning: 0 }
        yield* put(Array.from({ length: 3 }, (_, n) => rowAt(nowMs, n, { tokens })))
        yield* sumAll
        yield* put([rowAt(nowMs, 4, { tokens })])
        yield* sumAll
        assert.strictEqual((yield* total("usage_hours"))[0], 4)
      })
    )
  )

  it.effect("deletes sums that are too old for every answer", () =>
    within(
      Effect.gen(function* () {
        const sums = yield* UsageSumsRepo.UsageSumsRepo
        yield* put([rowAt(nowMs - 900 * dayMs, 1), rowAt(nowMs - 50 * dayMs, 2), rowAt(nowMs - dayMs, 3)])
        yield* sumAll
        while ((yield* sums.deleteOldSums(nowMs)) > 0);
        assert.strictEqual((yield* total("usage_hours"))[0], 1)
        assert.strictEqual((yield* total("usage_days"))[0], 2)
      })
    )
  )
})

const minuteMs = 60_000

/** Requests of two keys over some weeks, with times that are often at the edge of a minute or hour. */
const requests = FastCheck.array(
  FastCheck.record({
    at: FastCheck.oneof(
      FastCheck.integer({ min: nowMs - 33 * dayMs, max: nowMs }),
      FastCheck.integer({ min: 0, max: 200 }).map((n) => Math.floor(nowMs / hourMs) * hourMs - n * 15 * minuteMs),
      FastCheck.integer({ min: 0, max: 200 }).map((n) => Math.floor(nowMs / minuteMs) * minuteMs - n * minuteMs - 1)
    ),
    apiKeyId: FastCheck.constantFrom("key-1", "key-2", null),
    provider: FastCheck.constantFrom("openai", "groq"),
    model: FastCheck.constantFrom("gpt-4.1", "llama"),
    costNanoUsd: FastCheck.nat(1_000_000)
  }),
  { minLength: 1, maxLength: 60 }
)

const history = FastCheck.record({
  requests,
  /** How many of the rows are in the sums, and up to where they are then deleted. */
  summed: FastCheck.boolean(),
  deletedBefore: FastCheck.integer({ min: nowMs - 33 * dayMs, max: nowMs }),
  later: requests,
  windows: FastCheck.array(
    FastCheck.record({
      sinceMs: FastCheck.integer({ min: 0, max: 31 * 24 * 60 }).map(
        (n) => Math.floor(nowMs / minuteMs) * minuteMs - n * minuteMs
      ),
      lengthMs: FastCheck.integer({ min: 1, max: 40 * 24 * 60 }).map((n) => n * minuteMs),
      apiKeyId: FastCheck.constantFrom("key-1", "key-2"),
      provider: FastCheck.constantFrom("openai", "groq", undefined),
      model: FastCheck.constantFrom("gpt-4.1", "llama", undefined)
    }),
    { minLength: 1, maxLength: 6 }
  )
})

describe("SpendRepo over sums", () => {
  it("answers the same whatever of the log was summed and deleted", async () => {
    await FastCheck.assert(
      FastCheck.asyncProperty(history, ({ deletedBefore, later, requests, summed, windows }) =>
        within(
          Effect.gen(function* () {
            const sql = yield* SqlClient.SqlClient
            const spend = yield* SpendRepo.SpendRepo
            for (const key of ["key-1", "key-2"]) {
              yield* sql`INSERT INTO token_limits ${sql.insert({
                id: key,
                apiKeyId: key,
                scopeType: "global",
                scopeValue: "",
                tokenLimit: 1,
                resetInterval: "daily",
                resetTime: "00:00",
                timeZone: "UTC",
                enabled: 1,
                createdAtMs: 0,
                updatedAtMs: 0
              })}`
            }
            const all = [...requests, ...later].map(({ at, ...row }, n) => rowAt(at, n, row))
            yield* put(all.slice(0, requests.length))
            if (summed) yield* sumAll
            yield* deleteAll({ _tag: "Before", beforeMs: deletedBefore })
            yield* put(all.slice(requests.length))
            for (const { lengthMs, sinceMs, ...scope } of windows) {
              const untilMs = sinceMs + lengthMs
              const isCounted = (row: UsageRow) =>
                row.apiKeyId === scope.apiKeyId &&
                row.timestampMs >= sinceMs &&
                row.timestampMs < untilMs &&
                (scope.provider === undefined || row.provider === scope.provider) &&
                (scope.model === undefined || row.model === scope.model)
              const counted = all.filter(isCounted)
              const found = yield* spend.sum({
                apiKeyId: scope.apiKeyId,
                sinceMs,
                untilMs,
                ...(scope.provider === undefined ? {} : { provider: scope.provider }),
                ...(scope.model === undefined ? {} : { model: scope.model })
              })
              assert.deepStrictEqual(found, {
                requests: counted.length,
                tokens: counted.length * 30,
                costNanoUsd: counted.reduce((sum, row) => sum + row.costNanoUsd, 0)
              })
              if (scope.provider === undefined && scope.model === undefined) {
                const of = (yield* spend.sums({ sinceMs, untilMs }, false)).find(
                  ({ apiKeyId }) => apiKeyId === scope.apiKeyId
                )
                assert.deepStrictEqual(
                  of,
                  counted.length === 0 ? undefined : { apiKeyId: scope.apiKeyId, provider: "", model: "", ...found }
                )
              }
              const latest = (yield* spend.lastArrivals(sinceMs)).get(scope.apiKeyId)
              const ofKey = all.filter((row) => row.apiKeyId === scope.apiKeyId && row.timestampMs >= sinceMs)
              assert.isAtLeast(
                latest ?? 0,
                ofKey.reduce((last, row) => Math.max(last, row.timestampMs), 0)
              )
              const arrivals = yield* spend.arrivals(scope.apiKeyId, sinceMs, 1_000)
              const arrived = all.filter((row) => row.apiKeyId === scope.apiKeyId && row.timestampMs >= sinceMs)
              assert.strictEqual(arrivals.length, arrived.length)
            }
          })
        ).pipe(Effect.provide(TestContext.TestContext), Effect.runPromise)
      ),
      { numRuns: 60 }
    )
  })
})
