import { assert, describe, it } from "@effect/vitest"
import { unknownFacts } from "../../../../src/plane/providers/ModelFacts.ts"
import { makeCandidates, type CandidateSources } from "../../../../src/plane/routing/decide/Candidates.ts"
import * as PerformanceStats from "../../../../src/plane/routing/stats/PerformanceStats.ts"
import { accountOf, targetOf } from "../../../support/Candidates.ts"

describe("candidates", () => {
  it("are made of what is known of their targets once, and of what changes each time", () => {
    const target = targetOf(accountOf("one"))
    const asked: Array<string> = []
    const stats = PerformanceStats.make()
    const rooms: CandidateSources = {
      catalog: {
        factsOf: (_, model) => {
          asked.push(model)
          return { ...unknownFacts, contextLength: 8_000 }
        }
      },
      health: { unready: () => null },
      breakers: { phaseOf: () => "CLOSED" },
      stats,
      quotas: { of: () => [] },
      price: (_provider, _model, nowMs) => ({ input: nowMs, output: 1 })
    }
    const { of } = makeCandidates(rooms)
    const resolution = { targets: [target], weights: [3], combo: null, strategy: "priority" as const }
    const [before] = of(resolution, 1_000)
    stats.begin(target.account.connection.id, target.model)
    // Another resolution of the same targets, as it is made where a key may use only some of them.
    const [after] = of({ ...resolution, targets: [...resolution.targets], weights: [1] }, 2_000)
    assert.deepStrictEqual(asked, [target.model])
    assert.strictEqual(after?.key, before?.key)
    assert.deepInclude(before, { weight: 3, inFlight: 0, price: { inputUsd: 1_000, outputUsd: 1 } })
    assert.deepInclude(after, { weight: 1, inFlight: 1, price: { inputUsd: 2_000, outputUsd: 1 } })
  })
})
