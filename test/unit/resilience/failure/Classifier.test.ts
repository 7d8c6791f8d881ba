import { assert, describe, it } from "@effect/vitest"
import { causes } from "../../../../src/plane/resilience/failure/Causes.ts"
import { classify } from "../../../../src/plane/resilience/failure/Classifier.ts"
import type { FailureCause } from "../../../../src/plane/resilience/failure/Signal.ts"
import { answered, caused, inAnswer, inStream, lookup, nowMs, oauth, refreshable } from "./signals.ts"

const hour = 3_600_000

describe("classify", () => {
  it("keeps the upstream's own words and status", () => {
    const failure = classify(answered(503, "Down for maintenance"))
    assert.deepStrictEqual(failure, {
      kind: "capacity",
      place: "status",
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

/** Failures that users of AI gateways report, each with how this one handles it. */
describe("what users report", () => {
  const minute = 60_000

  it("hours of blackout after one 429: only a believable wait is believed, and never for more than a day", () => {
    const wait = (value: string) => classify(answered(429, "slow", { headers: { "retry-after": value } })).hintMs
    assert.strictEqual(wait("2"), 2_000)
    assert.strictEqual(wait("Sat, 21 Nov 2026 12:01:30 GMT"), 90_000)
    assert.strictEqual(wait("259200"), 24 * hour)
    for (const absurd of [
      "0",
      "-5",
      "999999999",
      "Fri, 31 Dec 2099 23:59:59 GMT",
      "Sat, 21 Nov 2026 11:00:00 GMT",
      "soon"
    ]) {
      assert.isNull(wait(absurd), absurd)
    }
  })

  it("resets in every unit, read against the upstream's clock, and a reset that is over says nothing", () => {
    const wait = (reset: string, date = "Sat, 21 Nov 2026 12:00:00 GMT") =>
      classify(answered(429, "slow", { headers: { "x-ratelimit-reset": reset, date } })).hintMs
    const at = nowMs + 90_000
    for (const same of ["90", "1m30s", "90000ms", `${at / 1000}`, `${at}`, new Date(at).toISOString()]) {
      assert.strictEqual(wait(same), 90_000, same)
    }
    // An hour ahead of us.
    assert.strictEqual(wait(`${(nowMs + hour) / 1000 + 90}`, "Sat, 21 Nov 2026 13:00:00 GMT"), 90_000)
    assert.isNull(wait(`${nowMs / 1000 - 60}`))
  })

  it("the monthly reset in words, 429 and 403 alike", () => {
    const text = "Monthly usage limit reached. Your quota resets in 12 days"
    for (const status of [403, 429]) {
      assert.strictEqual(classify(answered(status, text)).untilMs, nowMs + 288 * hour)
    }
  })

  it("a long conversation that no account of the provider accepts goes to another model, and penalises none", () => {
    const failure = classify(answered(400, "prompt is too long: 213462 tokens > 200000 maximum"))
    assert.deepInclude(failure, { kind: "context_overflow", scope: "none", exhausts: "model" })
  })

  it("a good key that may not use one model is not a dead key, whatever the status", () => {
    for (const [status, words] of [
      [401, "API Key not allowed to access model. This token can only access models=['a']."],
      [403, "You do not have access to the model gpt-9."],
      [404, "The model `gpt-9` does not exist or you do not have access to it."]
    ] as const) {
      assert.deepInclude(classify(answered(status, words)), { scope: "model", exhausts: "nothing" }, words)
    }
  })

  it("one model's used-up day leaves the account's other models to be asked", () => {
    const failure = classify(answered(429, "Rate limit reached for `m` on requests per day (RPD): Limit 1000."))
    assert.deepInclude(failure, { kind: "quota_exhausted", scope: "model", exhausts: "nothing" })
  })

  it("a relay that tells a used-up quota as a server error opens no breaker", () => {
    const failure = classify(answered(503, coded))
    assert.deepInclude(failure, { kind: "quota_exhausted", status: 429, untilMs: nowMs + 10 * minute })
  })

  it("web pages say nothing about an account", () => {
    const page = "<html><head><title>Your account has been suspended, insufficient_quota</title></head></html>"
    for (const [status, kind] of [
      [403, "forbidden"],
      [404, "model_not_found"],
      [429, "rate_limit"],
      [502, "transient"],
      [503, "capacity"]
    ] as const) {
      assert.strictEqual(classify(answered(status, page)).kind, kind, `${status}`)
    }
  })
})

const coded = { error: { message: "no quota left", code: "insufficient_quota" } }
