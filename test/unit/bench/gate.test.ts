/** What the gate of the bench makes of measured rounds. */
import { assert, describe, it } from "@effect/vitest"
import { gateText, judge } from "../../../bench/gate.mjs"
import { geometricInterval } from "../../../bench/lib/statistics.mjs"

const figure = { name: "CPU of a small request", unit: "µs", profile: "small" }
const rounds = (...ratios: ReadonlyArray<number>) =>
  ratios.map((ratio) => new Map([[figure.name, { release: 100, present: 100 * ratio, ratio }]]))

describe("the gate of the bench", () => {
  it("calls worse what is beyond the bound in every round", () => {
    const judged = judge(figure, rounds(1.06, 1.05, 1.07, 1.06), 1.03)
    assert.isTrue(judged.isWorse)
    assert.closeTo(judged.ratio, 1.06, 0.001)
    assert.match(
      gateText({
        against: { version: "1.0.0", commit: "0123456789ab" },
        bound: 1.03,
        grown: {},
        judged: [judged],
        rounds: 4
      }),
      /CPU of a small request +100 µs +106 µs +1\.060 \(1\.0\d to 1\.0\d\) {2}WORSE\nSomething is worse by more than 1\.03\./
    )
  })

  it("does not call worse what only the noise puts beyond the bound, and goes on measuring it", () => {
    const judged = judge(figure, rounds(0.9, 1.4, 0.95, 1.1), 1.03)
    assert.isAbove(judged.ratio, 1.03)
    assert.isFalse(judged.isWorse)
    assert.isFalse(judged.isDecided)
  })

  it("is done with a figure that is clear of the bound, however wide its interval", () => {
    assert.isTrue(judge(figure, rounds(0.5, 0.6, 0.55), 1.1).isDecided)
    assert.isFalse(judge(figure, rounds(1.0, 1.02, 0.99), 1.03).isWorse)
  })

  it("takes the mean and the interval of ratios by their logarithms", () => {
    const { high, low, mean } = geometricInterval([0.5, 2])
    assert.closeTo(mean, 1, 1e-9)
    assert.closeTo(low * high, 1, 1e-9)
    assert.isBelow(geometricInterval([1, 1.01, 0.99, 1]).high, 1.02)
  })
})
