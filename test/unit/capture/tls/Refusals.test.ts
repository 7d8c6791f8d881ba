import { assert, describe, it } from "@effect/vitest"
import { Refusals, refusalRules } from "../../../../src/observe/capture/tls/Refusals.ts"

const host = "api.example.com"
const curl = { host, client: "curl" }
const node = { host, client: "node" }

describe("Refusals", () => {
  it("tunnels a host after an alert, and says so once", () => {
    const refusals = new Refusals()
    assert.isFalse(refusals.isTunnelled(curl, 0))
    assert.isTrue(refusals.alerted(curl, 0))
    assert.isTrue(refusals.isTunnelled(curl, refusalRules.tunnelMs - 1))
    assert.isFalse(refusals.isTunnelled(curl, refusalRules.tunnelMs))
    assert.isFalse(refusals.alerted(curl, 10))
    assert.isFalse(refusals.alerted(curl, refusalRules.tunnelMs))
  })

  it("tunnels twice as long each time, up to a bound", () => {
    const refusals = new Refusals()
    const lengths: Array<number> = []
    let nowMs = 0
    for (let time = 0; time < 6; time += 1) {
      refusals.alerted(curl, nowMs)
      const untilMs = refusals.tunnelled(nowMs)[0]?.untilMs ?? 0
      lengths.push(untilMs - nowMs)
      nowMs = untilMs
    }
    assert.deepStrictEqual(lengths, [60_000, 120_000, 240_000, 480_000, 600_000, 600_000])
  })

  it("needs two silent ends in a row and close to each other", () => {
    const refusals = new Refusals()
    assert.isFalse(refusals.endedSilently(curl, 0))
    assert.isFalse(refusals.endedSilently(curl, refusalRules.togetherMs + 1))
    assert.isTrue(refusals.endedSilently(curl, refusalRules.togetherMs + 2))
    assert.deepStrictEqual(refusals.tunnelled(refusalRules.togetherMs + 2), [
      { host, untilMs: refusalRules.togetherMs + 2 + refusalRules.tunnelMs, why: "no_bytes" }
    ])
  })

  it("forgets silent ends of a host whose client has asked something", () => {
    const refusals = new Refusals()
    refusals.endedSilently(curl, 0)
    refusals.accepted(curl)
    assert.isFalse(refusals.endedSilently(curl, 1))
  })

  it("keeps a bounded number of hosts and clients", () => {
    const refusals = new Refusals()
    for (let count = 0; count < 2 * refusalRules.pairs; count += 1)
      refusals.alerted({ host: `${count}.example`, client: "curl" }, 0)
    assert.lengthOf(refusals.tunnelled(0), refusalRules.pairs)
  })

  it("counts each client of a host for itself", () => {
    const refusals = new Refusals()
    assert.isTrue(refusals.alerted(curl, 0))
    assert.isTrue(refusals.isTunnelled(curl, 1))
    assert.isFalse(refusals.isTunnelled(node, 1))
    assert.isFalse(refusals.endedSilently(node, 1))
    // That another one takes the certificate changes nothing for this one.
    refusals.accepted({ host, client: "python" })
    assert.isTrue(refusals.endedSilently(node, 2))
    assert.isTrue(refusals.isTunnelled(node, 3))
    assert.lengthOf(refusals.tunnelled(3), 1)
  })
})
