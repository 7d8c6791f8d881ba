import { assert, describe, it } from "@effect/vitest"
import type { Failure, FailureKind } from "../../../../src/plane/resilience/failure/FailureKind.ts"
import { maxSamples, windowMs } from "../../../../src/plane/routing/stats/Series.ts"
import { capacity, countsAsError, make, type Sample } from "../../../../src/plane/routing/stats/PerformanceStats.ts"

const sample = (more: Partial<Sample> = {}): Sample => ({
  connectionId: "c",
  model: "m",
  ok: true,
  latencyMs: 100,
  ttftMs: null,
  outputTokens: null,
  atMs: 0,
  ...more
})

describe("measurements of one target", () => {
  it("are found once, and follow what comes, goes and comes back", () => {
    const stats = make()
    const seen = stats.measurements("c", "m")
    const check = () => {
      assert.strictEqual(seen.performance(1), stats.of("c", "m", 1))
      assert.strictEqual(seen.used(1), stats.used("c", "m", 1))
      assert.strictEqual(seen.inFlight(), stats.inFlight("c", "m"))
    }
    check()
    const over = stats.begin("c", "m")
    check()
    stats.record(sample())
    check()
    assert.deepStrictEqual([seen.used(1), seen.inFlight()], [1, 1])
    for (let index = 0; index < capacity; index += 1) stats.record(sample({ connectionId: `other-${index}` }))
    check()
    // Its samples made room for others; the call that is under way is not forgotten.
    assert.deepStrictEqual([seen.performance(1), seen.used(1), seen.inFlight()], [null, 0, 1])
    over()
    over()
    check()
    stats.record(sample())
    check()
    assert.deepStrictEqual([seen.performance(1)?.samples, seen.inFlight()], [1, 0])
  })

  it("are the same object until something changes", () => {
    const stats = make()
    const seen = stats.measurements("c", "m")
    stats.record(sample())
    const before = seen.performance(1)
    assert.strictEqual(seen.performance(2), before)
    stats.record(sample({ latencyMs: 300 }))
    assert.notStrictEqual(seen.performance(2), before)
  })
})

describe("PerformanceStats", () => {
  it("knows nothing before the first sample", () => {
    const stats = make()
    assert.isNull(stats.of("c", "m", 0))
    assert.strictEqual(stats.used("c", "m", 0), 0)
    assert.strictEqual(stats.inFlight("c", "m"), 0)
  })

  it("works out percentiles, deviation, error rate, first token and speed", () => {
    const stats = make()
    for (const latencyMs of [200, 400, 400, 400, 500, 500, 700, 900]) stats.record(sample({ latencyMs }))
    stats.record(sample({ ok: false, latencyMs: 5, ttftMs: 1, outputTokens: 1_000 }))
    stats.record(sample({ ok: false, latencyMs: 60_000 }))
    assert.deepStrictEqual(stats.of("c", "m", 1), {
      samples: 10,
      p50Ms: 400,
      p95Ms: 900,
      deviationMs: 200,
      errorRate: 0.2,
      ttftMs: null,
      tokensPerSecond: null
    })
  })

  it("counts tokens from the first one on, and over the whole call where they came in one piece or the first was not seen", () => {
    const stats = make()
    stats.record(sample({ model: "streamed", latencyMs: 1_500, ttftMs: 500, outputTokens: 50 }))
    assert.strictEqual(stats.of("c", "streamed", 0)?.tokensPerSecond, 50)
    assert.strictEqual(stats.of("c", "streamed", 0)?.ttftMs, 500)
    stats.record(sample({ model: "whole", latencyMs: 2_000, outputTokens: 50 }))
    assert.strictEqual(stats.of("c", "whole", 0)?.tokensPerSecond, 25)
    stats.record(sample({ model: "one piece", latencyMs: 1_000, ttftMs: 999, outputTokens: 40 }))
    assert.strictEqual(stats.of("c", "one piece", 0)?.tokensPerSecond, 40)
    for (const ttftMs of [10, 30, 20]) stats.record(sample({ model: "three", ttftMs }))
    assert.strictEqual(stats.of("c", "three", 0)?.ttftMs, 20)
  })

  it("says how long failures took where nothing else happened", () => {
    const stats = make()
    stats.record(sample({ ok: false, latencyMs: 30 }))
    stats.record(sample({ ok: false, latencyMs: 10 }))
    const performance = stats.of("c", "m", 0)
    assert.strictEqual(performance?.errorRate, 1)
    assert.strictEqual(performance?.p50Ms, 10)
    assert.strictEqual(performance?.p95Ms, 30)
    assert.strictEqual(stats.used("c", "m", 0), 0)
  })

  it("forgets samples after an hour and beyond 200", () => {
    const stats = make()
    stats.record(sample({ latencyMs: 9_000, atMs: 0 }))
    stats.record(sample({ latencyMs: 100, atMs: 60_000 }))
    assert.strictEqual(stats.of("c", "m", windowMs - 1)?.p95Ms, 9_000)
    assert.strictEqual(stats.of("c", "m", windowMs)?.p95Ms, 100)
    assert.isNull(stats.of("c", "m", windowMs + 60_000))
    for (let n = 0; n < maxSamples; n += 1) stats.record(sample({ latencyMs: 7, atMs: 2 * windowMs }))
    stats.record(sample({ latencyMs: 8, atMs: 2 * windowMs }))
    assert.strictEqual(stats.of("c", "m", 2 * windowMs)?.samples, maxSamples)
    assert.strictEqual(stats.of("c", "m", 2 * windowMs)?.deviationMs.toFixed(3), "0.071")
  })

  it("gives the same object until something changes", () => {
    const stats = make()
    stats.record(sample())
    const first = stats.of("c", "m", 1)
    assert.strictEqual(stats.of("c", "m", 2), first)
    stats.record(sample())
    assert.notStrictEqual(stats.of("c", "m", 2), first)
  })

  it("takes no measurement that is none", () => {
    const stats = make()
    stats.record(sample({ latencyMs: Number.NaN }))
    stats.record(sample({ latencyMs: -1 }))
    stats.record(sample({ atMs: Number.NaN }))
    assert.isNull(stats.of("c", "m", 0))
  })

  it("counts what was served in the last hour, also beyond the samples it keeps", () => {
    const stats = make()
    for (let n = 0; n < 1_000; n += 1) stats.record(sample({ atMs: n * 1_000 }))
    stats.record(sample({ ok: false, atMs: 999_000 }))
    assert.strictEqual(stats.used("c", "m", 1_000_000), 1_000)
    assert.strictEqual(stats.used("c", "m", windowMs), 940)
    assert.strictEqual(stats.used("c", "m", windowMs + 1_020_000), 0)
    assert.strictEqual(stats.used("c", "m", 100 * windowMs), 0)
    stats.record(sample({ atMs: 0 }))
    assert.strictEqual(stats.used("c", "m", 0), 1, "a clock set far back starts anew")
  })

  it("counts calls under way; an end counts once", () => {
    const stats = make()
    const end = stats.begin("c", "m")
    const endOther = stats.begin("c", "m")
    stats.begin("c", "n")
    assert.strictEqual(stats.inFlight("c", "m"), 2)
    end()
    end()
    assert.strictEqual(stats.inFlight("c", "m"), 1)
    endOther()
    assert.strictEqual(stats.inFlight("c", "m"), 0)
    assert.strictEqual(stats.inFlight("c", "n"), 1)
  })

  it("keeps a bounded number of keys; the longest silent go first", () => {
    const stats = make()
    stats.record(sample({ model: "silent" }))
    stats.record(sample({ model: "busy" }))
    for (let n = 0; n < capacity - 1; n += 1) {
      stats.record(sample({ connectionId: `c${n}` }))
      if (n % 100 === 0) stats.record(sample({ model: "busy" }))
    }
    assert.isNull(stats.of("c", "silent", 0))
    assert.isNotNull(stats.of("c", "busy", 0))
    assert.isNotNull(stats.of("c0", "m", 0))
  })
})

describe("countsAsError", () => {
  const failure = (kind: FailureKind, scope: Failure["scope"]): Failure => ({
    kind,
    place: "status",
    status: 400,
    answered: true,
    reason: "r",
    rule: "r",
    message: "m",
    hintMs: null,
    untilMs: null,
    scope,
    exhausts: "nothing",
    contentBegan: false
  })

  for (const [kind, scope, expected] of [
    ["bad_request", "none", false],
    ["context_overflow", "none", false],
    ["content_refused", "none", false],
    ["cancelled", "none", false],
    ["transient", "connection", true],
    ["rate_limit", "connection", true],
    ["model_not_found", "model", true],
    ["credits_exhausted", "none", true],
    ["banned", "connection", true]
  ] as const) {
    it(`${kind}: ${expected}`, () => assert.strictEqual(countsAsError(failure(kind, scope)), expected))
  }
})
