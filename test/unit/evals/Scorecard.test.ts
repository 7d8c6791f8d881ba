/** What runs say about targets. */
import { assert, it } from "@effect/vitest"
import type { EvalRun } from "../../../src/subjects/evals/entity.ts"
import { scorecardOf } from "../../../src/subjects/evals/Scorecard.ts"

const run = (id: string, model: string, more: Partial<EvalRun> = {}): EvalRun => ({
  id,
  suiteId: "s1",
  suiteName: "One",
  target: { type: "model", id: model },
  apiKeyId: null,
  caller: null,
  comparedWith: null,
  status: "completed",
  reason: null,
  total: 4,
  passed: 2,
  failed: 2,
  costNanoUsd: 10,
  latencyMs: 400,
  startedAtMs: 0,
  finishedAtMs: 1,
  ...more
})

it("counts the newest complete run of each suite and target, best target first", () => {
  const card = scorecardOf([
    run("r6", "a", { status: "running", passed: 0, failed: 0 }),
    run("r5", "a", { status: "failed", passed: 0, failed: 4 }),
    run("r4", "b", { passed: 4, failed: 0 }),
    run("r3", "a", { passed: 3, failed: 1 }),
    run("r2", "a", { suiteId: "s2", suiteName: "Two", total: 6, passed: 1, failed: 5, latencyMs: 600 }),
    run("r1", "a", { passed: 0, failed: 4 })
  ])
  assert.deepInclude(card, { total: 14, passed: 8, passRate: 8 / 14 })
  assert.deepEqual(
    card.targets.map(({ passRate, target }) => [target.id, passRate]),
    [
      ["b", 1],
      ["a", 0.4]
    ]
  )
  assert.deepInclude(card.targets[1], { total: 10, passed: 4, avgLatencyMs: 100, costNanoUsd: 20 })
  assert.deepEqual(
    card.targets[1]?.suites.map(({ id, runId }) => [id, runId]),
    [
      ["s1", "r3"],
      ["s2", "r2"]
    ]
  )
})

it("is empty without complete runs", () => {
  assert.deepEqual(scorecardOf([run("r", "a", { status: "cancelled" })]), {
    total: 0,
    passed: 0,
    passRate: 0,
    targets: []
  })
})
