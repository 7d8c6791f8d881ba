/** Percentiles of many durations, exact and in short steps. */
import { assert, it } from "@effect/vitest"
import * as FastCheck from "effect/FastCheck"
import { makeSeededRandom } from "../../../src/kernel/SeededRandom.ts"
import { percentile } from "../../../src/observe/simulation/Distributions.ts"
import { Latencies } from "../../../src/observe/simulation/Latencies.ts"

const both = (values: ReadonlyArray<number>, part: number) => {
  const latencies = new Latencies()
  for (const value of values) latencies.add(value)
  return [
    latencies.percentile(part),
    percentile(
      values.toSorted((a, b) => a - b),
      part
    )
  ]
}

it("are those of the sorted values, whatever their number", () => {
  const random = makeSeededRandom(7)
  for (const count of [0, 1, 2, 4_095, 4_096, 4_097, 8_192, 20_001]) {
    for (const draw of [() => random.next() * 1e6, () => random.below(5), () => 0, () => 1e-300 * random.next()]) {
      const values = Array.from({ length: count }, draw)
      for (const part of [0, 0.001, 0.5, 0.95, 0.999, 1]) {
        const [own, sorted] = both(values, part)
        assert.strictEqual(own, sorted, `${count} values, ${part}`)
      }
    }
  }
})

it("are those of the sorted values, whatever they are", () => {
  FastCheck.assert(
    FastCheck.property(
      FastCheck.array(FastCheck.double({ min: 0, max: 1e12, noNaN: true }), { minLength: 1, maxLength: 12 }),
      FastCheck.double({ min: 0, max: 1, noNaN: true }),
      (few, part) => {
        const values = Array.from({ length: 4_100 }, (_, index) => few[index % few.length] ?? 0)
        const [own, sorted] = both(values, part)
        return own === sorted
      }
    ),
    { numRuns: 50 }
  )
})
