import { assert, describe, it } from "@effect/vitest"
import * as DecisionLog from "../../../src/routing/DecisionLog.ts"
import type { Target } from "../../../src/routing/ModelResolver.ts"
import { namedTarget } from "../../support/Candidates.ts"

const entry = (requestId: string, targets: ReadonlyArray<Target>, scored: boolean): DecisionLog.DecisionEntry =>
  ({
    requestId,
    requestedModel: "auto",
    resolution: { combo: null, targets },
    decision: {
      strategy: "auto",
      seed: 1,
      reason: "r",
      weights: null,
      order: targets,
      scores: new Map(scored ? targets.map((target) => [target, { score: 1, factors: { health: 1 } }]) : []),
      exclusions: new Map(),
      relaxedFilters: []
    },
    attempts: [],
    exclusions: new Map(),
    chosen: targets[0] ?? null
  }) as unknown as DecisionLog.DecisionEntry

describe("the decision log", () => {
  it("keeps the last decisions, and no more", () => {
    const log = DecisionLog.make()
    for (let index = 0; index <= DecisionLog.capacity; index += 1)
      log.record(entry(`r${index}`, [namedTarget("a")], true))
    assert.isNull(log.get("r0"))
    assert.strictEqual(log.get("r1")?.chosen, "a/m")
    assert.strictEqual(log.get(`r${DecisionLog.capacity}`)?.candidates[0]?.score, 1)
    assert.isNull(log.get("nobody"))
  })

  it("keeps fewer where each is large, and the latest always", () => {
    const log = DecisionLog.make()
    const many = Array.from({ length: 1_000 }, (_, index) => namedTarget("a", `c${index}`))
    const most = DecisionLog.mostLines / many.length
    for (let index = 0; index <= most; index += 1) log.record(entry(`r${index}`, many, true))
    assert.isNull(log.get("r0"))
    assert.isNotNull(log.get("r1"))
    const huge = Array.from({ length: DecisionLog.mostLines + 1 }, () => namedTarget("b"))
    log.record(entry("huge", huge, true))
    assert.isNotNull(log.get("huge"))
    assert.isNull(log.get(`r${most}`))
    log.record(entry("small", [namedTarget("a")], false))
    assert.isNull(log.get("huge"))
    assert.isNotNull(log.get("small"))
  })
})
