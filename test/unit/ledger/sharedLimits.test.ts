/** A budget that keys of a team share, over workers. */
import { assert, describe, it } from "@effect/vitest"
import { Cluster, type KeyId } from "../../support/ledger/Cluster.ts"

const rate = { limit: 1_000, window: 1 }
const wide = { nanoUsd: 1_000_000, tokensOfA: 1_000_000, requests: 1_000, rate, sessions: 0 }

const start = (teamNanoUsd: number): Cluster => {
  const cluster = new Cluster({ ...wide, teamNanoUsd }, 2)
  cluster.deliverAll()
  return cluster
}

const ask = (cluster: Cluster, place: number, amount: number, key: KeyId) => {
  const request = cluster.ask(place, "b", amount, "s", key)
  cluster.deliverAll()
  return request
}

const windowOf = (cluster: Cluster) => cluster.team?.at(cluster.wallMs)

describe("a budget that keys share", () => {
  it("is called back from a worker that holds more than it needs for another key", () => {
    const cluster = start(100_000)
    ask(cluster, 1, 100, "key")
    assert.isAbove(windowOf(cluster)?.reserved ?? 0, 100, "the worker holds more than its call needs")
    assert.strictEqual(ask(cluster, 2, 99_901, "second key")?.refused, "reserved")
    assert.strictEqual(ask(cluster, 2, 99_900, "second key")?.state, "open")
    cluster.quiet()
    assert.strictEqual(windowOf(cluster)?.used, 100_000)
  })

  it("is one lease of a worker for all of its keys", () => {
    const cluster = start(100_000)
    ask(cluster, 1, 100, "key")
    const held = windowOf(cluster)?.reserved
    ask(cluster, 1, 100, "second key")
    assert.strictEqual(windowOf(cluster)?.reserved, held)
    cluster.quiet()
    assert.deepInclude(windowOf(cluster), { used: 200, reserved: 0 })
  })

  it("holds in its new size for every key from the change on", () => {
    const cluster = start(1_000)
    ask(cluster, 1, 900, "key")
    assert.strictEqual(ask(cluster, 2, 200, "second key")?.refused, "reserved")
    cluster.resizeTeam(1_200)
    cluster.deliverAll()
    assert.strictEqual(ask(cluster, 2, 301, "third key")?.refused, "reserved")
    assert.strictEqual(ask(cluster, 2, 300, "second key")?.state, "open")
    cluster.resizeTeam(1_000)
    cluster.deliverAll()
    assert.strictEqual(ask(cluster, 1, 1, "key")?.refused, "reserved")
    cluster.quiet()
    assert.deepInclude(windowOf(cluster), { used: 1_200, reserved: 0 })
  })
})
