/** Usage over time in days of any zone: what the sums say is what the rows say, counted by another calendar. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Random from "effect/Random"
import { localDayMs, spanOf, type UsageSpan } from "../../../src/subjects/usageHistory/entity.ts"
import * as SqlClient from "@effect/sql/SqlClient"
import { ReadWorker, type ReadRow } from "../../../src/store/engine/ReadWorker.ts"
import * as Sql from "../../../src/store/Sql.ts"
import * as UsageHistoryRepo from "../../../src/subjects/usageHistory/repo.ts"
import * as UsageSumsRepo from "../../../src/subjects/usage/UsageSumsRepo.ts"
import { put, rowAt, sumAll } from "../../support/UsageLog.ts"

const hourMs = 3_600_000
const dayMs = 24 * hourMs
/** Within 40 days before are changes of the clocks in Europe and in America. */
const nowMs = Date.UTC(2026, 10, 10, 12, 34, 56)

/** Reads on the same connection: the thread needs a file. */
const reader = Layer.effect(
  ReadWorker,
  Effect.map(SqlClient.SqlClient, (client) =>
    ReadWorker.of({
      read: (statements) =>
        Effect.orDie(
          Effect.forEach(statements, ({ parameters, sql }) => client.unsafe<ReadRow>(sql, parameters).withoutTransform)
        )
    })
  )
)

const store = Layer.mergeAll(UsageSumsRepo.layer, UsageHistoryRepo.layer).pipe(
  Layer.provideMerge(reader),
  Layer.provideMerge(Sql.layerMemory)
)

const dateIn = (timeZone: string) => {
  const format = new Intl.DateTimeFormat("en-CA", { timeZone, year: "numeric", month: "2-digit", day: "2-digit" })
  return (ms: number): string => format.format(ms)
}

const countBy = <A>(all: ReadonlyArray<A>, nameOf: (one: A) => string) => {
  const counts: Record<string, number> = {}
  for (const one of all) counts[nameOf(one)] = (counts[nameOf(one)] ?? 0) + 1
  return counts
}

const daysOf = Effect.fnUntraced(function* (asked: UsageSpan) {
  const repo = yield* UsageHistoryRepo.UsageHistoryRepo
  const span = spanOf(asked, nowMs)
  const { days, summary } = yield* repo.breakdown(span.source)
  const counts = Object.fromEntries(
    [...days].map(([ms, { requests }]) => [new Date(ms).toISOString().slice(0, 10), requests])
  )
  return { span, counts, summary }
})

const times = Effect.gen(function* () {
  const found: Array<number> = []
  for (let n = 0; n < 700; n += 1) found.push(nowMs - (yield* Random.nextIntBetween(0, 39 * dayMs)))
  return found
}).pipe(Effect.withRandom(Random.make("days of charts")))

describe("usage over time", () => {
  for (const timeZone of ["UTC", "Europe/Zurich", "America/New_York", "Pacific/Kiritimati", "Pacific/Pago_Pago"]) {
    it.effect(`has the days of ${timeZone} exactly, rows in the sums and rows that are not`, () =>
      Effect.gen(function* () {
        const all = yield* times
        yield* put(all.slice(0, 500).map((ms, n) => rowAt(ms, n)))
        yield* sumAll
        yield* put(all.slice(500).map((ms, n) => rowAt(ms, 500 + n)))
        const fromMs = nowMs - 31 * dayMs - (nowMs % hourMs)
        const toMs = fromMs + 29 * dayMs + 5 * hourMs
        const { counts, span, summary } = yield* daysOf({ fromMs, toMs, timeZone })
        const inSpan = all.filter((ms) => ms >= fromMs && ms < toMs)
        assert.deepStrictEqual(span.inexact, [])
        assert.deepStrictEqual([span.fromMs, span.toMs], [fromMs, toMs])
        assert.deepStrictEqual(counts, countBy(inSpan, dateIn(timeZone)))
        assert.strictEqual(summary.requests, inSpan.length)
        for (const ms of inSpan) {
          assert.strictEqual(
            new Date(localDayMs(span.source.offsets, ms)).toISOString().slice(0, 10),
            dateIn(timeZone)(ms)
          )
        }
      }).pipe(Effect.provide(store))
    )
  }

  it.effect("says where an hour is shared by two days, and how far 'from' and 'to' were moved", () =>
    Effect.gen(function* () {
      const all = yield* times
      yield* put(all.map((ms, n) => rowAt(ms, n)))
      yield* sumAll
      const fromMs = nowMs - 9 * dayMs
      const toMs = nowMs - 2 * dayMs + 1
      const { counts, span } = yield* daysOf({ fromMs, toMs, timeZone: "Asia/Kolkata" })
      assert.match(span.inexact.join("\n"), /'from' is no whole hour[^]*'to' is no whole hour[^]*Asia\/Kolkata/)
      const hour = (ms: number): number => Math.floor(ms / hourMs) * hourMs
      assert.deepStrictEqual([span.fromMs, span.toMs], [hour(fromMs), hour(toMs) + hourMs])
      const inSpan = all.filter((ms) => ms >= span.fromMs && ms < span.toMs)
      assert.deepStrictEqual(
        counts,
        countBy(inSpan, (ms) => dateIn("Asia/Kolkata")(hour(ms)))
      )
    }).pipe(Effect.provide(store))
  )

  it.effect("takes days of UTC where the sums by hour are gone, and says so", () =>
    Effect.gen(function* () {
      const old = Array.from({ length: 90 }, (_, n) => nowMs - n * dayMs - 11 * hourMs)
      yield* put(old.map((ms, n) => rowAt(ms, n)))
      yield* sumAll
      const sums = yield* UsageSumsRepo.UsageSumsRepo
      while ((yield* sums.deleteOldSums(nowMs)) > 0);
      const zoned = yield* daysOf({ range: "90d", timeZone: "America/New_York" })
      assert.match(
        zoned.span.inexact.join("\n"),
        /^Sums by hour are kept for 40 days: days before 2026-10-02 are those of UTC\.$/
      )
      const splitMs = Date.UTC(2026, 9, 2)
      assert.deepStrictEqual(
        zoned.counts,
        countBy(old, (ms) => dateIn(ms < splitMs ? "UTC" : "America/New_York")(ms))
      )
      const plain = yield* daysOf({ range: "90d", timeZone: "UTC" })
      assert.deepStrictEqual(plain.span.inexact, [])
      assert.deepStrictEqual(plain.counts, countBy(old, dateIn("UTC")))
      const ancient = yield* daysOf({ fromMs: 0, timeZone: "UTC" })
      assert.match(ancient.span.inexact.join("\n"), /kept for 800 days/)
      assert.strictEqual(ancient.summary.requests, old.length)
    }).pipe(Effect.provide(store))
  )
})
