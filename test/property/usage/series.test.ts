/** Series of usage say what the rows of the log say, in any zone and step, split and filtered, in the sums or not yet. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FastCheck from "effect/FastCheck"
import * as TestClock from "effect/TestClock"
import type { Outcome, UsageRow } from "../../../src/contract/domain/Usage.ts"
import type { TimeStep } from "../../../src/kernel/time/TimeSteps.ts"
import type { UsageFilter } from "../../../src/subjects/usage/repo.ts"
import type { StepSums } from "../../../src/subjects/usage/SeriesSums.ts"
import { UsageSeries } from "../../../src/subjects/usage/UsageSeries.ts"
import type { SeriesBy } from "../../../src/store/usage/UsageSeriesSql.ts"
import { layerOf } from "../../unit/management/support.ts"
import { put, rowAt, sumAll } from "../../support/UsageLog.ts"

const hourMs = 3_600_000
const dayMs = 24 * hourMs
/** Within the days before are changes of the clocks in Europe, America and on Lord Howe. */
const nowMs = Date.UTC(2026, 10, 10, 12, 34, 56)

const zones = ["UTC", "Europe/Zurich", "America/New_York", "Asia/Kathmandu", "Australia/Lord_Howe", "America/St_Johns"]
const splits = [null, "provider", "model", "connection", "apiKey", "combo", "outcome"] as const

const pick = <A>(...all: ReadonlyArray<A>) => FastCheck.constantFrom(...all)

const facts = FastCheck.record({
  agoMs: FastCheck.integer({ min: 0, max: 38 * dayMs }),
  recentMs: FastCheck.integer({ min: 0, max: 5 * hourMs }),
  isRecent: FastCheck.boolean(),
  apiKeyId: pick("key-1", "key-2", null),
  provider: pick("one", "two", null),
  connectionId: pick("c1", "c2", "c3"),
  model: pick("m", "n", "o/p"),
  combo: pick("fast", null),
  outcome: pick<Outcome>("completed", "failed", "aborted"),
  status: pick(200, 429, 503),
  requestedModel: pick("auto", "m"),
  latencyMs: FastCheck.integer({ min: 0, max: 149_000 }),
  costNanoUsd: FastCheck.integer({ min: 0, max: 6_400 }),
  tokens: FastCheck.integer({ min: 0, max: 10_000 })
})
type Facts = typeof facts extends FastCheck.Arbitrary<infer A> ? A : never

const rowOf = ({ agoMs, costNanoUsd, isRecent, provider, recentMs, tokens, ...more }: Facts, n: number): UsageRow =>
  rowAt(nowMs - (isRecent ? recentMs : agoMs), n, {
    ...more,
    provider,
    connectionId: provider === null ? null : more.connectionId,
    model: provider === null ? null : more.model,
    costNanoUsd: costNanoUsd / 64,
    tokens: { in: tokens, out: tokens % 7, cacheRead: tokens % 5, cacheWrite: 0, reasoning: 0 }
  })

const filters: ReadonlyArray<readonly [UsageFilter, (row: UsageRow) => boolean]> = [
  [{}, () => true],
  [{ provider: "one" }, (row) => row.provider === "one"],
  [{ apiKeyId: "key-2" }, (row) => row.apiKeyId === "key-2"],
  [{ connectionId: "c1", outcome: "failed" }, (row) => row.connectionId === "c1" && row.outcome === "failed"],
  [{ model: "one/o/p" }, (row) => row.provider === "one" && row.model === "o/p"],
  [{ combo: "fast" }, (row) => row.combo === "fast"],
  [{ status: [400, 499] }, (row) => row.status === 429],
  [{ endedAs: "completed" }, (row) => row.outcome === "completed"],
  [{ requestedModel: "auto" }, (row) => row.requestedModel === "auto"],
  [{ search: "TWO" }, (row) => row.provider === "two"]
]

const keyOf = (by: SeriesBy | null, row: UsageRow): string | null => {
  switch (by) {
    case null:
      return null
    case "model":
      return row.model === null ? null : `${row.provider}/${row.model}`
    case "connection":
      return row.connectionId
    case "apiKey":
      return row.apiKeyId
    default:
      return row[by]
  }
}

type Numbers = Exclude<keyof StepSums, "p50Ms" | "p95Ms">
const measures: Readonly<Record<Numbers, (row: UsageRow) => number>> = {
  requests: () => 1,
  failed: (row) => (row.outcome === "failed" ? 1 : 0),
  tokensIn: (row) => row.tokens.in,
  tokensOut: (row) => row.tokens.out,
  cacheRead: (row) => row.tokens.cacheRead,
  costUsd: (row) => row.costNanoUsd / 1e9
}

const exactPercentile = (rows: ReadonlyArray<UsageRow>, part: number): number => {
  const all = rows.map(({ latencyMs }) => latencyMs).toSorted((one, other) => one - other)
  return all[Math.max(0, Math.ceil(part * all.length) - 1)] ?? Number.NaN
}

/** Compares sums with the rows of each step. */
const agree = (sums: StepSums, rows: ReadonlyArray<UsageRow>, starts: ReadonlyArray<number>, endMs: number): void => {
  for (const [place, startMs] of starts.entries()) {
    const untilMs = starts[place + 1] ?? endMs
    const own = rows.filter(({ timestampMs }) => timestampMs >= startMs && timestampMs < untilMs)
    for (const [name, of] of Object.entries(measures)) {
      const expected = own.reduce((sum, row) => sum + of(row), 0)
      assert.closeTo(sums[name as Numbers][place] ?? Number.NaN, expected, 1e-12, `${name} of step ${place}`)
    }
    for (const [name, part] of [
      ["p50Ms", 0.5],
      ["p95Ms", 0.95]
    ] as const) {
      const found = sums[name][place] ?? null
      if (own.length === 0) assert.isNull(found)
      else {
        // Within the bounds of the same count, which are a factor of 1.5 apart.
        const exact = exactPercentile(own, part)
        assert.isAtLeast((found ?? Number.NaN) + 20, exact / 1.5)
        assert.isAtMost(found ?? Number.NaN, Math.max(20, exact * 1.5) + 1)
      }
    }
  }
}

const check = (rows: ReadonlyArray<UsageRow>, by: SeriesBy | null, step: TimeStep, timeZone: string, top: number) =>
  Effect.gen(function* () {
    const { series } = yield* UsageSeries
    const fromMs = step === "day" ? nowMs - 37 * dayMs : step === "hour" ? nowMs - 8 * dayMs : nowMs - 5 * hourMs
    for (const [filter, fits] of filters) {
      const report = yield* series({ fromMs, toMs: nowMs, step, timeZone, by, top, filter })
      const { rest, starts, total } = { ...report, ...report.steps }
      const { endMs } = report.steps
      const all = rows.filter((row) => fits(row) && row.timestampMs >= (starts[0] ?? 0) && row.timestampMs < endMs)
      assert.strictEqual(report.basis, "requestedModel" in filter || "search" in filter ? "log" : "sums")
      assert.deepStrictEqual(report.inexact, [])
      assert.isNull(report.scannedToMs)
      agree(total, all, starts, endMs)
      const keys = report.series.map(({ key }) => key)
      assert.strictEqual(new Set(keys).size, keys.length)
      for (const { key, sums } of report.series) {
        agree(
          sums,
          all.filter((row) => keyOf(by, row) === key),
          starts,
          endMs
        )
      }
      const known = new Set(all.map((row) => keyOf(by, row)))
      assert.strictEqual(report.series.length, by === null ? 0 : Math.min(top, known.size))
      agree(rest, by === null ? all : all.filter((row) => !keys.includes(keyOf(by, row))), starts, endMs)
    }
  })

describe("series of usage", () => {
  const runs = FastCheck.sample(
    FastCheck.record({
      facts: FastCheck.array(facts, { minLength: 120, maxLength: 160 }),
      summed: FastCheck.integer({ min: 0, max: 160 }),
      by: pick(...splits),
      step: pick<TimeStep>("minute", "hour", "day"),
      timeZone: pick(...zones),
      top: FastCheck.integer({ min: 1, max: 6 })
    }),
    { numRuns: 12, seed: 20_261_110 }
  )
  for (const [run, { by, facts: all, step, summed, timeZone, top }] of runs.entries()) {
    it.effect(`${run}: by ${by}, ${step}s of ${timeZone}, the first ${top}`, () =>
      Effect.gen(function* () {
        const rows = all.map(rowOf)
        yield* put(rows.slice(0, summed))
        yield* sumAll
        yield* put(rows.slice(summed))
        yield* check(rows, by, step, timeZone, top)
      }).pipe(Effect.provide(layerOf()), (use) => Effect.zipRight(TestClock.setTime(nowMs), use))
    )
  }
})
