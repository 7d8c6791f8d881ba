/** The ring against a plain list: the same samples give the same facts, whatever is asked in between. */
import { assert, it } from "@effect/vitest"
import * as FastCheck from "effect/FastCheck"
import { maxSamples, type Measured, Series, windowMs } from "../../../src/plane/routing/stats/Series.ts"
import { WindowCounter } from "../../../src/plane/routing/stats/WindowCounter.ts"

const step = FastCheck.record({
  gapMs: FastCheck.oneof(
    FastCheck.integer({ min: 0, max: 50_000 }),
    FastCheck.integer({ min: 0, max: windowMs + 60_000 })
  ),
  ok: FastCheck.boolean(),
  latencyMs: FastCheck.integer({ min: 0, max: 100_000 }),
  ttftMs: FastCheck.option(FastCheck.integer({ min: 0, max: 100_000 })),
  outputTokens: FastCheck.option(FastCheck.integer({ min: 0, max: 10_000 })),
  reads: FastCheck.boolean()
})

const ascending = (values: ReadonlyArray<number>): ReadonlyArray<number> => values.toSorted((a, b) => a - b)
const nearestRank = (values: ReadonlyArray<number>, fraction: number): number =>
  ascending(values).find((_, index) => (index + 1) / values.length >= fraction - 1e-12) ?? Number.NaN

/** Worked out from the definition, in another way. */
const expected = (all: ReadonlyArray<Measured>, nowMs: number) => {
  const kept = all.slice(-maxSamples).filter(({ atMs }) => atMs > nowMs - windowMs)
  if (kept.length === 0) return null
  const served = kept.filter(({ ok }) => ok)
  const latencies = (served.length > 0 ? served : kept).map(({ latencyMs }) => latencyMs)
  const mean = latencies.reduce((sum, value) => sum + value, 0) / latencies.length
  const squares = latencies.reduce((sum, value) => sum + value * value, 0) / latencies.length
  const firsts = served.flatMap(({ ttftMs }) => (ttftMs === null ? [] : [ttftMs]))
  return {
    samples: kept.length,
    p50Ms: nearestRank(latencies, 0.5),
    p95Ms: nearestRank(latencies, 0.95),
    variance: squares - mean * mean,
    errorRate: kept.filter(({ ok }) => !ok).length / kept.length,
    ttftMs: firsts.length === 0 ? null : nearestRank(firsts, 0.5)
  }
}

it("facts are those of the last 200 samples of the last hour", () => {
  FastCheck.assert(
    FastCheck.property(FastCheck.array(step, { minLength: 1, maxLength: 500 }), (steps) => {
      const series = new Series()
      const all: Array<Measured> = []
      let nowMs = 1_000_000
      const check = () => {
        const found = series.read(nowMs)
        const wanted = expected(all, nowMs)
        if (wanted === null || found === null) {
          assert.isTrue(wanted === null && found === null)
          return
        }
        const { variance, ...rest } = wanted
        assert.deepInclude(found, rest)
        assert.closeTo(found.deviationMs ** 2, variance, 1e-3 * Math.max(1, variance))
      }
      for (const { gapMs, reads, ...measured } of steps) {
        nowMs += gapMs
        series.add({ ...measured, atMs: nowMs })
        all.push({ ...measured, atMs: nowMs })
        if (reads) check()
      }
      check()
      nowMs += windowMs / 2
      check()
    }),
    { numRuns: 150, seed: 5 }
  )
})

it("a counter is off by no more than what happened in one slot", () => {
  FastCheck.assert(
    FastCheck.property(
      FastCheck.array(FastCheck.integer({ min: 0, max: 200_000 }), { minLength: 1, maxLength: 300 }),
      (gaps) => {
        const counter = new WindowCounter()
        const times: Array<number> = []
        let nowMs = 0
        for (const gapMs of gaps) {
          nowMs += gapMs
          counter.add(nowMs)
          times.push(nowMs)
          const within = (ms: number) => times.filter((atMs) => atMs > nowMs - ms).length
          assert.isAtMost(counter.read(nowMs), within(windowMs))
          assert.isAtLeast(counter.read(nowMs), within(windowMs - windowMs / 60))
        }
      }
    ),
    { numRuns: 100, seed: 5 }
  )
})
