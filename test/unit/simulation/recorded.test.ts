/** Recorded rows in columns: what goes in comes out, the oldest first, however many there are. */
import { assert, it } from "@effect/vitest"
import { RecordedRows } from "../../../src/observe/simulation/Recorded.ts"
import { row } from "./support.ts"

it("gives each row as it was, and counts those that are not whole", () => {
  const rows = Array.from({ length: 5_000 }, (_, n) =>
    row(n, {
      provider: n % 11 === 0 ? null : `p${n % 3}`,
      connectionId: `c${n % 7}`,
      model: `m${n % 5}`,
      streamed: n % 2 === 0,
      priced: n % 4 !== 0,
      outcome: n % 13 === 0 ? "failed" : "completed",
      latencyMs: n,
      costNanoUsd: 3 * n,
      tokens: { in: n, out: n + 1, cacheRead: n + 2, cacheWrite: n + 3, reasoning: n + 4 }
    })
  )
  const recorded = new RecordedRows()
  const newestFirst = rows.toReversed()
  for (let from = 0; from < newestFirst.length; from += 700) recorded.add(newestFirst.slice(from, from + 700))
  const whole = rows.filter(({ outcome, provider }) => outcome === "completed" && provider !== null)
  assert.strictEqual(recorded.length, whole.length)
  assert.strictEqual(recorded.leftOut, rows.length - whole.length)
  for (const [place, each] of whole.entries()) {
    const { connectionId, costNanoUsd, latencyMs, model, priced, provider, sourceWire, streamed, timestampMs, tokens } =
      each
    const { cacheRead, cacheWrite, out, reasoning } = tokens
    assert.deepStrictEqual(recorded.at(place), {
      connectionId,
      costNanoUsd,
      latencyMs,
      model,
      priced,
      provider,
      sourceWire,
      streamed,
      timestampMs,
      tokens: { in: tokens.in, out, cacheRead, cacheWrite, reasoning }
    })
  }
  assert.isUndefined(recorded.at(whole.length))
  assert.isUndefined(recorded.at(-1))
})
