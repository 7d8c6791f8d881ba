/** Rates over workers beside those of one process, and costs beyond their reservations. On clocks and messages of the test. */
import { assert, describe, it } from "@effect/vitest"
import { Cluster, type ClusterLimits } from "../../support/ledger/Cluster.ts"

const much = 1e12
const wide: ClusterLimits = {
  nanoUsd: much,
  tokensOfA: much,
  requests: much,
  rate: { limit: 1_000_000, window: 60 },
  sessions: 0
}

const stepMs = 5
const seconds = 60

/** Requests that came in within a minute of which one is sent each 5 ms, to one worker after the other. A message takes a step. */
const enteredIn = (rate: ClusterLimits["rate"], workers: number): number => {
  const cluster = new Cluster({ ...wide, rate }, workers)
  cluster.deliverAll()
  for (let sent = 0; sent < (seconds * 1_000) / stepMs; sent += 1) {
    cluster.ask(1 + (sent % Math.max(1, workers)), "b", 1, "s")
    cluster.advance(stepMs)
    cluster.deliverAll()
  }
  return cluster.entered
}

describe("rates over workers", () => {
  for (const rate of [
    { limit: 600, window: 60 },
    { limit: 3_000, window: 60 },
    { limit: 50, window: 1 },
    { limit: 700, window: 10 }
  ]) {
    it(`let as many in as one process within 1 %: ${rate.limit} in ${rate.window} s`, () => {
      const alone = enteredIn(rate, 0)
      const shared = enteredIn(rate, 4)
      assert.isAtMost(shared, alone)
      assert.isAtLeast(shared, alone * 0.99)
    })
  }
})

describe("a cost beyond its reservation", () => {
  it("is booked, and takes nothing of what others have reserved", () => {
    const cluster = new Cluster({ ...wide, nanoUsd: 1_000 }, 2)
    cluster.deliverAll()
    const ask = (place: number, amount: number) => {
      const request = cluster.ask(place, "b", amount, "s")
      cluster.deliverAll()
      return request
    }
    ask(1, 100)
    ask(1, 300)
    // The first of the two costs 250.
    cluster.settle(0, 2.5)
    cluster.deliverAll()
    const window = cluster.account.meters[0]?.at(cluster.wallMs)
    assert.strictEqual(window?.used, 250)
    assert.isAtLeast(window?.reserved ?? 0, 300)
    // 450 are left beside what is used and reserved.
    assert.strictEqual(ask(2, 451)?.refused, "reserved")
    assert.strictEqual(ask(2, 450)?.state, "open")
    cluster.quiet()
    assert.strictEqual(cluster.account.meters[0]?.at(cluster.wallMs).used, 1_000)
    assert.strictEqual(cluster.account.meters[0]?.at(cluster.wallMs).reserved, 0)
  })
})
