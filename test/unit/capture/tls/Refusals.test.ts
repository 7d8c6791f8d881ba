import { assert, describe, it } from "@effect/vitest"
import { Refusals, refusalRules } from "../../../../src/capture/tls/Refusals.ts"

const host = "api.example.com"

describe("Refusals", () => {
  it("tunnels a host after an alert, and says so once", () => {
    const refusals = new Refusals()
    assert.isFalse(refusals.isTunnelled(host, 0))
    assert.isTrue(refusals.alerted(host, 0))
    assert.isTrue(refusals.isTunnelled(host, refusalRules.tunnelMs - 1))
    assert.isFalse(refusals.isTunnelled(host, refusalRules.tunnelMs))
    assert.isFalse(refusals.alerted(host, 10))
    assert.isFalse(refusals.alerted(host, refusalRules.tunnelMs))
  })

  it("tunnels twice as long each time, up to a bound", () => {
    const refusals = new Refusals()
    const lengths: Array<number> = []
    let nowMs = 0
    for (let time = 0; time < 6; time += 1) {
      refusals.alerted(host, nowMs)
      const untilMs = refusals.tunnelled(nowMs)[0]?.untilMs ?? 0
      lengths.push(untilMs - nowMs)
      nowMs = untilMs
    }
    assert.deepStrictEqual(lengths, [60_000, 120_000, 240_000, 480_000, 600_000, 600_000])
  })

  it("needs two silent ends in a row and close to each other", () => {
    const refusals = new Refusals()
    assert.isFalse(refusals.endedSilently(host, 0))
    assert.isFalse(refusals.endedSilently(host, refusalRules.togetherMs + 1))
    assert.isTrue(refusals.endedSilently(host, refusalRules.togetherMs + 2))
    assert.deepStrictEqual(refusals.tunnelled(refusalRules.togetherMs + 2), [
      { host, untilMs: refusalRules.togetherMs + 2 + refusalRules.tunnelMs, why: "no_bytes" }
    ])
  })

  it("forgets silent ends of a host whose client has asked something", () => {
    const refusals = new Refusals()
    refusals.endedSilently(host, 0)
    refusals.accepted(host)
    assert.isFalse(refusals.endedSilently(host, 1))
  })

  it("keeps a bounded number of hosts", () => {
    const refusals = new Refusals()
    for (let count = 0; count < 2 * refusalRules.hosts; count += 1) refusals.alerted(`${count}.example`, 0)
    assert.lengthOf(refusals.tunnelled(0), refusalRules.hosts)
  })
})
