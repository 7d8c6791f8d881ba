/** The sliding log against the definition: in no stretch of the window are there more requests than the limit. */
import { assert, it } from "@effect/vitest"
import * as FastCheck from "effect/FastCheck"
import { SlidingLog } from "../../../src/plane/ledger/Rates.ts"

it("admits a request exactly when fewer than the limit were admitted in the window before it", () => {
  FastCheck.assert(
    FastCheck.property(
      FastCheck.integer({ min: 1, max: 6 }),
      FastCheck.integer({ min: 1, max: 5 }),
      FastCheck.array(FastCheck.nat(3_000), { maxLength: 80 }),
      (limit, window, gaps) => {
        const log = new SlidingLog({ limit, window })
        const admitted: Array<number> = []
        let nowMs = 0
        for (const gap of gaps) {
          nowMs += gap
          const recent = admitted.filter((atMs) => atMs > nowMs - window * 1_000)
          const waitMs = log.waitMs(nowMs)
          assert.strictEqual(waitMs === 0, recent.length < limit)
          if (waitMs === 0) {
            log.add(nowMs)
            admitted.push(nowMs)
          } else {
            // After the wait one may come, and not a moment before.
            assert.strictEqual(log.waitMs(nowMs + waitMs), 0)
            assert.isAbove(log.waitMs(nowMs + waitMs - 1), 0)
          }
        }
      }
    )
  )
})
