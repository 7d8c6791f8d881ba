import { assert, describe, it } from "@effect/vitest"
import * as Throttle from "../../../src/subjects/auth/LoginThrottle.ts"

const tryTimes = (state: Throttle.ThrottleState, address: string, times: number, nowMs: number) => {
  let current = state
  for (let i = 0; i < times; i++) current = Throttle.take(current, address, nowMs).state
  return current
}

describe("LoginThrottle", () => {
  const { burst, refillMs } = Throttle.perAddress

  it("lets a burst pass and then says when to come back", () => {
    const spent = tryTimes(Throttle.initial(0), "a", burst - 1, 0)
    assert.strictEqual(Throttle.take(spent, "a", 0).retryAfterMs, 0)
    const empty = tryTimes(spent, "a", 1, 0)
    assert.strictEqual(Throttle.take(empty, "a", 0).retryAfterMs, refillMs)
    assert.strictEqual(Throttle.take(empty, "a", refillMs - 1).retryAfterMs, 1)
    assert.strictEqual(Throttle.take(empty, "a", refillMs).retryAfterMs, 0)
  })

  it("counts every address by itself", () => {
    const empty = tryTimes(Throttle.initial(0), "a", burst, 0)
    assert.strictEqual(Throttle.take(empty, "b", 0).retryAfterMs, 0)
  })

  it("does not let a refused try make the wait longer", () => {
    const empty = tryTimes(Throttle.initial(0), "a", burst + 50, 0)
    assert.strictEqual(Throttle.take(empty, "a", refillMs).retryAfterMs, 0)
  })

  it("limits all addresses together", () => {
    let state = Throttle.initial(0)
    for (let i = 0; i < Throttle.overall.burst; i++) state = Throttle.take(state, `address-${i}`, 0).state
    assert.strictEqual(Throttle.take(state, "another", 0).retryAfterMs, Throttle.overall.refillMs)
  })

  it("gives back one try that was no guess, and no more", () => {
    const empty = tryTimes(Throttle.initial(0), "a", burst, 0)
    const given = Throttle.giveBack(empty, "a")
    assert.strictEqual(Throttle.take(given, "a", 0).retryAfterMs, 0)
    assert.strictEqual(Throttle.take(tryTimes(given, "a", 1, 0), "a", 0).retryAfterMs, refillMs)
    const full = Throttle.giveBack(Throttle.initial(0), "a")
    assert.strictEqual(full.global.tokens, Throttle.overall.burst)
  })

  it("forgets failures after the right password", () => {
    const state = Throttle.succeed(tryTimes(Throttle.initial(0), "a", burst, 0), "a")
    assert.strictEqual(Throttle.take(state, "a", 0).retryAfterMs, 0)
  })

  it("survives a clock that goes back", () => {
    const state = tryTimes(Throttle.initial(1_000_000), "a", 1, 1_000_000)
    assert.strictEqual(Throttle.take(state, "a", 0).retryAfterMs, 0)
  })

  it("keeps a bounded number of addresses", () => {
    let state = Throttle.initial(0)
    for (let i = 0; i < 5_000; i++) state = Throttle.take(state, `address-${i}`, i * 1_000).state
    assert.isAtMost(state.byAddress.size, 4_096)
  })
})
