/** What the breaker's probes before the last target cost, for servers on this machine, whose breakers open at the second failure. */
import { assert, describe, it } from "@effect/vitest"
import { defaultResilience } from "../../../src/subjects/resilience/entity.ts"
import { closed, lastResortMs, profileOf, report } from "../../../src/plane/resilience/breaker/Breaker.ts"
import { simulated } from "./support.ts"

const { providerBreaker } = defaultResilience
const local = profileOf(providerBreaker, "local")

/** The rules of the class `local` for every account. */
const settings = { ...defaultResilience, providerBreaker: { ...providerBreaker, apikey: providerBreaker.local } }

const failedShare = (targets: number, errors: number): number => {
  const weights = Array.from({ length: targets }, () => 1)
  const { failed, requests } = simulated({
    weights,
    requests: 5_000,
    settings,
    behaviours: { errors: { "*": errors } }
  })
  return failed / requests
}

describe("probes before the last target", () => {
  it("come soon after the opening, and later with each that fails, but never later than three seconds", () => {
    const trip = (state: typeof closed, probe = false) => report(state, local, 0, "trip", probe)
    let state = trip(trip(closed))
    const waits = Array.from({ length: 5 }, () => {
      const waitMs = lastResortMs(state, local, 0)
      state = report({ ...state, phase: "HALF_OPEN", probeSinceMs: 0 }, local, 0, "trip", true)
      return waitMs
    })
    assert.deepStrictEqual(waits, [500, 1000, 2000, 3000, 3000])
  })

  it("three servers that fail one call of five lose few requests", () => {
    assert.isBelow(failedShare(3, 0.2), 0.06)
  })

  it("an only server that fails one call of four serves more than it did with three seconds between probes", () => {
    assert.isBelow(failedShare(1, 0.25), 0.55)
  })
})
