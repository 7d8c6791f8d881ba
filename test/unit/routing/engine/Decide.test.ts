/** What the settings change in a decision. */
import { assert, describe, it } from "@effect/vitest"
import { builtInStrategy } from "../../../../src/routing/auto/RouterStrategies.ts"
import { makeFitness } from "../../../../src/routing/auto/Fitness.ts"
import { healed } from "../../../../src/routing/auto/SelfHealing.ts"
import { decide, type DecideInput } from "../../../../src/routing/engine/Decide.ts"
import { blankMemory } from "../../../../src/routing/engine/Strategy.ts"
import { candidate, features, nowMs, spec } from "../auto/support.ts"

const pool = [candidate("a", { model: "one" }), candidate("b", { model: "two" }), candidate("c", { model: "three" })]

const first = (strategy: string, more: Partial<DecideInput> = {}): string => {
  const decided = decide({
    resolution: {
      combo: null,
      strategy,
      targets: pool.map(({ target }) => target),
      weights: pool.map(() => 1),
      steps: pool.map(() => 0),
      auto: strategy === "auto" ? spec("auto/coding") : null,
      quotaGroup: null,
      config: { explorationRate: 0, ...(strategy === "auto" ? { routerStrategy: "rules" } : {}) }
    },
    candidates: pool,
    features: features({ taskType: "coding" }),
    memory: { ...blankMemory, lastKnownGood: { connectionId: "b", model: "two" } },
    healing: healed,
    affinity: null,
    modeHeader: null,
    budgetHeader: null,
    routerStrategies: builtInStrategy,
    freeTierStrict: false,
    seed: 1,
    nowMs,
    ...more
  })
  return decided.order[0]?.account.connection.id ?? "nobody"
}

describe("decide", () => {
  it("orders lkgp as priority when going back to who answered last is off", () => {
    assert.strictEqual(first("lkgp"), "b")
    assert.strictEqual(first("lkgp", { lkgpEnabled: true }), "b")
    assert.strictEqual(first("lkgp", { lkgpEnabled: false }), "a")
  })

  it("measures task fitness by the table it is given", () => {
    const only = (model: string) =>
      makeFitness(
        pool.map(({ target }) => ({ pattern: target.model, task: null, fitness: target.model === model ? 1 : 0 }))
      )
    assert.strictEqual(first("auto", { fitness: only("three") }), "c")
    assert.strictEqual(first("auto", { fitness: only("two") }), "b")
  })
})
