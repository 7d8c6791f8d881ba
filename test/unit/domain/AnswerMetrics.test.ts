import { assert, describe, it } from "@effect/vitest"
import { metricsOf, metricsSoFar, metricsText } from "../../../src/contract/domain/AnswerMetrics.ts"

const measured = { startedMs: 100, firstTokenMs: 350, endedMs: 2_350, tokensIn: 9, tokensOut: 100, costUsd: 0.0012 }

describe("metrics", () => {
  it("take the speed from the first token to the end", () =>
    assert.deepEqual(metricsOf(measured), {
      ttftMs: 250,
      tokensPerSecond: 50,
      tokensIn: 9,
      tokensOut: 100,
      costUsd: 0.0012,
      isEstimate: true
    }))

  it("take the speed of an answer that came at once over the whole time", () =>
    assert.strictEqual(metricsOf({ ...measured, endedMs: 351, startedMs: 151 }).tokensPerSecond, 500))

  it("have no first token and no speed where none came", () =>
    assert.deepInclude(metricsOf({ ...measured, firstTokenMs: null, tokensOut: 0 }), {
      ttftMs: null,
      tokensPerSecond: 0
    }))

  it("are numbers, whatever the clock did", () => {
    for (const endedMs of [100, 0, 350]) {
      const { tokensPerSecond, ttftMs } = metricsOf({ ...measured, startedMs: 350, endedMs, firstTokenMs: 100 })
      assert.isTrue(Number.isFinite(tokensPerSecond) && tokensPerSecond >= 0, String(endedMs))
      assert.strictEqual(ttftMs, 0)
    }
  })

  it("guess tokens from the length while an answer comes", () =>
    assert.strictEqual(metricsSoFar({ startedMs: 0, firstTokenMs: 1_000, endedMs: 2_000 }, 400).tokensPerSecond, 100))

  it("are one line for people, whose cost is marked as an estimate", () =>
    assert.strictEqual(
      metricsText(metricsOf(measured)),
      "first token 250 ms · 50 tokens/s · 9 in · 100 out · ~$0.001200"
    ))
})
