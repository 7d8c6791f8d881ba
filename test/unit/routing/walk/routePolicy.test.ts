/** How a combo's config and the resilience settings become one policy. */
import { assert, describe, it } from "@effect/vitest"
import { type ComboPolicy, decodeStored, noPolicy } from "../../../../src/subjects/combos/entity/ComboPolicy.ts"
import { defaultResilience } from "../../../../src/subjects/resilience/entity.ts"
import { attemptTimeouts, makePolicies, routePolicy } from "../../../../src/plane/routing/walk/RoutePolicy.ts"
import type { Resolution } from "../../../../src/plane/routing/resolve/ModelResolver.ts"

const settings = {
  ...defaultResilience,
  retry: { maxRetries: 2, delayMs: 7 },
  hedging: { enabled: true, delayMs: 900 }
}

describe("RoutePolicy", () => {
  it("is that of the settings where the combo says nothing", () => {
    assert.deepStrictEqual(routePolicy(settings, noPolicy), {
      maxRetries: 2,
      retryDelayMs: 7,
      failoverBeforeRetry: true,
      fallbackDelayMs: 0,
      maxSetRetries: 0,
      setRetryDelayMs: 2_000,
      targetTimeoutMs: null,
      lines: null,
      hedgeDelayMs: 900,
      measured: true
    })
  })

  it("is the combo's wherever it says something", () => {
    const config = {
      maxRetries: 0,
      retryDelayMs: 0,
      failoverBeforeRetry: false,
      fallbackDelayMs: 1,
      maxSetRetries: 3,
      setRetryDelayMs: 4,
      targetTimeoutMs: 50,
      concurrencyPerModel: 5,
      queueTimeoutMs: 6,
      queueDepth: 0,
      hedging: false,
      hedgeDelayMs: 10,
      trackMetrics: false
    }
    assert.deepStrictEqual(routePolicy(settings, decodeStored(config)), {
      maxRetries: 0,
      retryDelayMs: 0,
      failoverBeforeRetry: false,
      fallbackDelayMs: 1,
      maxSetRetries: 3,
      setRetryDelayMs: 4,
      targetTimeoutMs: 50,
      lines: { concurrencyPerModel: 5, queueTimeoutMs: 6, queueDepth: 0 },
      hedgeDelayMs: null,
      measured: false
    })
    assert.strictEqual(routePolicy(defaultResilience, decodeStored({ hedging: true, hedgeDelayMs: 0 })).hedgeDelayMs, 0)
  })

  it("takes what is not of its kind as not given", () => {
    const strange = { maxRetries: "3", hedging: "no", targetTimeoutMs: null, queueDepth: -1, trackMetrics: 0 }
    assert.deepStrictEqual(routePolicy(settings, decodeStored(strange)), routePolicy(settings, noPolicy))
  })

  it("is made once for a config and the settings in force", () => {
    const policyFor = makePolicies()
    const resolution = (policy: ComboPolicy) => ({ policy }) as unknown as Resolution
    const combo = decodeStored({ maxRetries: 1 })
    const first = policyFor(settings, resolution(combo))
    assert.strictEqual(policyFor(settings, resolution(combo)), first)
    assert.strictEqual(policyFor({ ...settings }, resolution(combo)).maxRetries, 1)
    assert.notStrictEqual(policyFor({ ...settings }, resolution(combo)), first)
    assert.strictEqual(policyFor(settings, resolution(noPolicy)), policyFor(settings, resolution(noPolicy)))
  })

  it("gives a target less time than all have, never more", () => {
    const { timeouts } = defaultResilience
    assert.strictEqual(attemptTimeouts(timeouts, noPolicy), timeouts)
    assert.strictEqual(attemptTimeouts(timeouts, decodeStored({ targetTimeoutMs: timeouts.firstByteMs + 1 })), timeouts)
    assert.deepStrictEqual(attemptTimeouts(timeouts, decodeStored({ targetTimeoutMs: 100 })), {
      ...timeouts,
      firstByteMs: 100
    })
  })
})
