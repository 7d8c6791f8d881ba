import { assert, describe, it } from "@effect/vitest"
import * as PerformanceStats from "../../../../src/plane/routing/stats/PerformanceStats.ts"

const sample = {
  provider: "p",
  connectionId: "c",
  model: "m",
  ok: true,
  latencyMs: 1,
  ttftMs: null,
  outputTokens: null
}

describe("what a combo has sent to its targets", () => {
  it("is counted apart from what others have sent there", () => {
    const stats = PerformanceStats.make()
    const overs = [stats.begin("c", "m"), stats.begin("c", "m", "mine")]
    assert.deepStrictEqual([stats.inFlight("c", "m"), stats.inFlight("c", "m", "mine")], [2, 1])
    for (const over of overs) over()
    assert.deepStrictEqual([stats.inFlight("c", "m"), stats.inFlight("c", "m", "mine")], [0, 0])
    for (const combo of [undefined, "other", "mine"]) stats.record({ ...sample, atMs: 1_000, combo })
    const used = [undefined, "other", "mine", "none"].map((combo) => stats.used("c", "m", 1_000, combo))
    assert.deepStrictEqual(used, [3, 1, 1, 0])
  })
})
