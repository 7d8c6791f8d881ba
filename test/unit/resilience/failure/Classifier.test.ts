import { assert, describe, it } from "@effect/vitest"
import { causes } from "../../../../src/resilience/failure/Causes.ts"
import { classify } from "../../../../src/resilience/failure/Classifier.ts"
import type { FailureCause } from "../../../../src/resilience/failure/Signal.ts"
import { answered, caused, inAnswer, inStream, lookup, nowMs, oauth, refreshable } from "./signals.ts"

const hour = 3_600_000

describe("classify", () => {
  it("keeps the upstream's own words and status", () => {
    const failure = classify(answered(503, "Down for maintenance"))
    assert.deepStrictEqual(failure, {
      kind: "capacity",
      status: 503,
      answered: true,
      reason: "http_503",
      rule: "status_503",
      message: "Down for maintenance",
      hintMs: null,
      untilMs: null,
      scope: "connection",
      exhausts: "nothing",
      contentBegan: false
    })
  })

  it("carries the hint, relative and absolute", () => {
    const failure = classify(answered(429, "Slow down", { headers: { "Retry-After": "7" } }))
    assert.strictEqual(failure.kind, "rate_limit")
    assert.strictEqual(failure.hintMs, 7000)
    assert.strictEqual(failure.untilMs, nowMs + 7000)
  })

  it("does not believe a Retry-After of decades", () => {
    const failure = classify(answered(429, "no", { headers: { "retry-after": "Fri, 31 Dec 2099 23:59:59 GMT" } }))
    assert.strictEqual(failure.kind, "rate_limit")
    assert.isNull(failure.hintMs)
  })

  it("waits for a plan's window as long as the plan says", () => {
    const body = {
      error: { type: "usage_limit_reached", message: "The usage limit has been reached", resets_in_seconds: 602_705 }
    }
    const failure = classify(answered(429, body, oauth))
    assert.strictEqual(failure.kind, "quota_exhausted")
    assert.strictEqual(failure.untilMs, nowMs + 602_705_000)
    assert.strictEqual(classify(answered(429, "Monthly limit reached, resets in 12 days")).untilMs, nowMs + 288 * hour)
  })

  it("waits for an hour where a plan does not say, and for midnight where a day is used up", () => {
    const unknown = classify(answered(429, "You have reached your weekly limit."))
    assert.isNull(unknown.hintMs)
    assert.strictEqual(unknown.untilMs, nowMs + hour)
    assert.strictEqual(classify(answered(429, "Daily quota exceeded")).untilMs, nowMs + 12 * hour)
  })

  it("holds only the model for a daily quota of Google, until midnight Pacific", () => {
    const details = [{ violations: [{ quotaId: "RequestsPerDayPerModel" }] }, { retryDelay: "30s" }]
    const failure = classify(
      answered(429, { error: { code: 429, status: "RESOURCE_EXHAUSTED", message: "x", details } })
    )
    assert.strictEqual(failure.untilMs, nowMs + 20 * hour)
    assert.strictEqual(failure.scope, "model")
    assert.strictEqual(failure.exhausts, "nothing")
  })

  it("cools for seconds when Google's minute is used up, whatever the words say", () => {
    const details = [{ violations: [{ quotaId: "RequestsPerMinutePerModel" }] }, { retryDelay: "34s" }]
    const message = "You exceeded your current quota, please check your plan and billing details."
    const failure = classify(answered(429, { error: { code: 429, status: "RESOURCE_EXHAUSTED", message, details } }))
    assert.strictEqual(failure.kind, "rate_limit")
    assert.strictEqual(failure.hintMs, 34_000)
  })

  it("never drains the siblings of an account without money", () => {
    assert.strictEqual(classify(answered(402, "Insufficient Balance")).exhausts, "connection")
  })

  it("counts a wrong key that was told as 400 as 401, and an overflow told as 413 as 400", () => {
    assert.strictEqual(classify(answered(400, "API key not valid. Please pass a valid API key.")).status, 401)
    assert.strictEqual(classify(answered(413, "prompt is too long")).status, 400)
  })

  it("refreshes a token once: the second 401 is final", () => {
    assert.strictEqual(classify(answered(401, "expired", refreshable)).kind, "auth_refreshable")
    assert.strictEqual(classify(answered(401, "expired", { ...refreshable, canRefresh: false })).kind, "auth_expired")
  })

  it("reads the status of an error inside a stream from its code or type", () => {
    const failure = classify(
      inStream({ error: { message: "slow", code: "rate_limit_exceeded" } }, { contentBegan: true })
    )
    assert.strictEqual(failure.kind, "rate_limit")
    assert.strictEqual(failure.status, 429)
    assert.strictEqual(failure.reason, "error_in_stream")
    assert.isTrue(failure.contentBegan)
    assert.strictEqual(classify(inStream({ error: { message: "x", code: 429 } })).kind, "rate_limit")
  })

  it("reads the words of an error inside a 200 that tells no status", () => {
    const said = classify(inAnswer({ error: { message: "Your account has been suspended." } }))
    assert.strictEqual(said.kind, "banned")
    assert.strictEqual(said.reason, "error_in_200")
    const unknown = classify(inAnswer({ error: { message: "boom" } }))
    assert.strictEqual(unknown.kind, "transient")
    assert.strictEqual(unknown.status, 502)
  })

  it("takes a redirect for a bad gateway", () => {
    const failure = classify(answered(302, ""))
    assert.strictEqual(failure.status, 502)
    assert.strictEqual(failure.reason, "http_302")
  })

  it("has its own words where the upstream has none", () => {
    const signal = { ...answered(500, ""), problem: null }
    assert.strictEqual(classify(signal).message, "our own words")
  })

  for (const cause of Object.keys(causes) as ReadonlyArray<FailureCause>) {
    it(`knows the cause ${cause}`, () => {
      // Headers and bodies of an answer that was never whole say nothing.
      const failure = classify(caused(cause, { header: lookup({ "retry-after": "9" }) }))
      assert.strictEqual(failure.kind, causes[cause].kind)
      assert.strictEqual(failure.status, causes[cause].status)
      assert.strictEqual(failure.reason, cause)
      assert.isFalse(failure.answered)
      assert.isNull(failure.hintMs)
    })
  }

  it("takes a reset after content for a truncated answer", () => {
    assert.strictEqual(classify(caused("reset")).kind, "network")
    assert.strictEqual(classify(caused("reset", { contentBegan: true })).kind, "truncated")
  })
})
