import { assert, describe, it } from "@effect/vitest"
import { bodyFields, textHint } from "../../../../src/plane/resilience/failure/BodyHints.ts"
import { readErrorBody } from "../../../../src/plane/resilience/failure/ErrorBody.ts"
import { resetHeaders, retryAfter, upstreamNow } from "../../../../src/plane/resilience/failure/HeaderHints.ts"
import { type HintPurpose, readHint } from "../../../../src/plane/resilience/failure/Hints.ts"
import { lookup, nowMs } from "./signals.ts"

const s = 1_000
const m = 60 * s
const h = 60 * m
const d = 24 * h
const nowS = nowMs / 1000
const iso = (waitMs: number) => new Date(nowMs + waitMs).toISOString()
const http = (waitMs: number) => new Date(nowMs + waitMs).toUTCString()

type Headers = Readonly<Record<string, string>>

describe("Retry-After", () => {
  const cases: ReadonlyArray<readonly [Headers, number | null]> = [
    [{ "Retry-After": "30" }, 30 * s],
    [{ "retry-after": "1.5" }, 1500],
    [{ "retry-after": "12s" }, 12 * s],
    [{ "retry-after": "3m" }, 3 * m],
    [{ "retry-after": "1h" }, h],
    [{ "retry-after": http(90 * s) }, 90 * s],
    [{ "retry-after": "Saturday, 21-Nov-26 12:02:00 GMT" }, 2 * m],
    [{ "retry-after": "Sat Nov 21 12:02:00 2026" }, 2 * m],
    [{ "retry-after": iso(5 * m) }, 5 * m],
    [{ "retry-after": String(nowS + 60) }, m],
    [{ "retry-after-ms": "250", "retry-after": "1" }, 250],
    [{ "retry-after-ms": "soon", "retry-after": "1" }, s],
    [{ "retry-after": "0" }, null],
    [{ "retry-after": "-5" }, null],
    [{ "retry-after": "1e3" }, null],
    [{ "retry-after": "0x10" }, null],
    [{ "retry-after": "Infinity" }, null],
    [{ "retry-after": "soon" }, null],
    [{ "retry-after": "" }, null],
    [{ "retry-after": http(-60 * s) }, null],
    [{ "retry-after": "Fri, 31 Dec 2099 23:59:59 GMT" }, null],
    [{ "retry-after": "999999999" }, null],
    [{}, null]
  ]
  for (const [headers, expected] of cases) {
    it(`${JSON.stringify(headers)}`, () => assert.strictEqual(retryAfter(lookup(headers), nowMs), expected))
  }
})

describe("rate-limit headers", () => {
  const cases: ReadonlyArray<readonly [string, Headers, number | null]> = [
    ["seconds", { "x-ratelimit-reset": "20" }, 20 * s],
    ["epoch seconds", { "X-RateLimit-Reset": String(nowS + 300) }, 5 * m],
    ["epoch milliseconds", { "x-ratelimit-reset": String(nowMs + 300_000) }, 5 * m],
    ["ISO", { "x-ratelimit-reset": iso(h) }, h],
    ["duration", { "x-ratelimit-reset": "1m30s" }, 90 * s],
    ["over", { "x-ratelimit-reset": String(nowS - 300) }, null],
    ["something left", { "x-ratelimit-reset": "20", "x-ratelimit-remaining": "3" }, null],
    ["nothing left", { "x-ratelimit-reset": "20", "x-ratelimit-remaining": "0" }, 20 * s],
    ["the draft's name", { "ratelimit-reset": "7", "ratelimit-remaining": "0" }, 7 * s],
    ["reset-after", { "x-ratelimit-reset-after": "0.5" }, 500],
    [
      "the window that is used up, not the other",
      {
        "x-ratelimit-remaining-requests": "0",
        "x-ratelimit-reset-requests": "8.64s",
        "x-ratelimit-remaining-tokens": "149984",
        "x-ratelimit-reset-tokens": "6m0s"
      },
      8640
    ],
    ["a window without a count", { "x-ratelimit-reset-tokens": "6m0s" }, null],
    [
      "the later of two used-up windows",
      {
        "x-ratelimit-remaining-requests-day": "0",
        "x-ratelimit-reset-requests-day": "3600.5",
        "x-ratelimit-remaining-tokens-minute": "0",
        "x-ratelimit-reset-tokens-minute": "10"
      },
      3600.5 * s
    ],
    [
      "anthropic, the exhausted one",
      {
        "anthropic-ratelimit-requests-remaining": "49",
        "anthropic-ratelimit-requests-reset": iso(10 * m),
        "anthropic-ratelimit-output-tokens-remaining": "0",
        "anthropic-ratelimit-output-tokens-reset": iso(20 * s)
      },
      20 * s
    ],
    [
      "anthropic plan",
      {
        "anthropic-ratelimit-unified-status": "rejected",
        "anthropic-ratelimit-unified-reset": String(nowS + 7200)
      },
      2 * h
    ],
    [
      "anthropic plan, allowed",
      { "anthropic-ratelimit-unified-status": "allowed", "anthropic-ratelimit-unified-reset": String(nowS + 7200) },
      null
    ],
    [
      "anthropic plan, one window",
      { "anthropic-ratelimit-unified-7d-status": "rejected", "anthropic-ratelimit-unified-7d-reset": String(nowS + 9) },
      9 * s
    ],
    [
      "codex, used-up window only",
      {
        "x-codex-primary-used-percent": "100",
        "x-codex-primary-reset-after-seconds": "13873",
        "x-codex-secondary-used-percent": "80",
        "x-codex-secondary-reset-after-seconds": "316705"
      },
      13_873 * s
    ],
    [
      "codex, reset-at",
      { "x-codex-secondary-used-percent": "100.0", "x-codex-secondary-reset-at": String(nowS + 60) },
      m
    ],
    [
      "codex, nothing used up",
      { "x-codex-primary-used-percent": "99", "x-codex-primary-reset-after-seconds": "1" },
      null
    ]
  ]
  for (const [name, headers, expected] of cases) {
    it(`${name}`, () => assert.strictEqual(resetHeaders(lookup(headers), nowMs), expected))
  }
})

describe("body fields", () => {
  const retryInfo = (retryDelay: unknown) => ({
    error: { details: [{ "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay }] }
  })
  const cases: ReadonlyArray<readonly [unknown, number | null]> = [
    [retryInfo("33s"), 33 * s],
    [retryInfo("34.074824224s"), 34_075],
    [retryInfo("2m"), 2 * m],
    [retryInfo("1h"), h],
    [retryInfo("1500ms"), 1500],
    [retryInfo({ seconds: 12, nanos: 0 }), 12 * s],
    [retryInfo("-3s"), null],
    [[retryInfo("33s")], 33 * s],
    [
      { error: { details: [{ metadata: { quotaResetDelay: "4h12m3.5s" } }, { retryDelay: "1s" }] } },
      4 * h + 12 * m + 3500
    ],
    [{ error: { details: [{ metadata: { quotaResetTimeStamp: iso(3 * h) } }] } }, 3 * h],
    [{ error: { details: [{ violations: [{ quotaId: "GenerateRequestsPerDay" }] }, { retryDelay: "30s" }] } }, null],
    [{ error: { type: "usage_limit_reached", resets_at: nowS + 99, resets_in_seconds: 13_872 } }, 13_872 * s],
    [{ error: { resets_at: nowS + 99 } }, 99 * s],
    [{ error: { resets_at: iso(d) } }, d],
    [{ error: { message: "x" }, retry_after: 3 }, 3 * s],
    [{ retry_after_ms: 1200 }, 1200],
    [{ response: { error: { resets_in_seconds: 5 } } }, 5 * s],
    [{ error: { metadata: { headers: { "X-RateLimit-Remaining": "0", "X-RateLimit-Reset": String(nowMs + d) } } } }, d],
    [{ error: { metadata: { retry_after_seconds: 17 } } }, 17 * s],
    [{ error: { retry_after: -1 } }, null],
    [{ error: { retry_after: { deep: true } } }, null],
    [{ messages: [{ retry_after: 3 }] }, null],
    ["text", null],
    [null, null]
  ]
  for (const [body, expected] of cases) {
    it(`${JSON.stringify(body)}`, () =>
      assert.strictEqual(bodyFields(readErrorBody(JSON.stringify(body)), nowMs), expected))
  }
})

describe("texts", () => {
  const cases: ReadonlyArray<readonly [string, number | null]> = [
    ["Please retry after 30 seconds.", 30 * s],
    ["Rate limit reached. Please try again in 1m2.5s.", 62.5 * s],
    ["Please try again in 20s. Visit the site to learn more.", 20 * s],
    ["Please try again in 6ms.", 6],
    ["Please retry in 34.074824224s.", 34_075],
    ["Monthly limit reached, resets in 3 days", 3 * d],
    ["Your quota resets in 12 days and 4 hours.", 12 * d + 4 * h],
    ["Your quota will reset after 4h12m3s.", 4 * h + 12 * m + 3 * s],
    ["Limit resets in 1 hour, 5 minutes", h + 5 * m],
    ["resets in 45 days", 30 * d],
    ["Retry your request after 5 seconds", 5 * s],
    ["retry_after: 30", 30 * s],
    ["Retry-After: 12", 12 * s],
    ["try again in 30", 30 * s],
    ["Please wait 20 seconds before you send the next request", 20 * s],
    ["Please wait for about 2 minutes", 2 * m],
    [`Try again at ${iso(2 * h)}`, 2 * h],
    ["Limit resets at: 2026-11-21T13:00:00+0000", h],
    ["resets at 2026-11-21 14:00:00 UTC", 2 * h],
    ["available at 2026-11-21T15:00:00+02:00", h],
    ["You will regain access on 2026-12-01 at 00:00 UTC.", 9.5 * d],
    [`reset at ${nowS + 600}`, 10 * m],
    [`reset at: ${nowMs + 600_000}.`, 10 * m],
    [`Claude AI usage limit reached|${nowS + 3600}`, h],
    ["Daily quota used up, try again tomorrow", 12 * h],
    ["resets at midnight UTC", 12 * h],
    ["Resets at midnight Pacific time", 20 * h],
    ["resets at 15:30 UTC", 3.5 * h],
    ["resets at 3:00 PM (UTC)", 3 * h],
    ["resets at 9:00 UTC", 21 * h],
    ["Please wait 5s. Your weekly limit resets in 2 days.", 2 * d],
    ["请在 30 秒后重试", null],
    ["请等待 30 秒", 30 * s],
    ["try again later", null],
    ["Retry 3 times before you give up", null],
    ["The preset 5 minutes are over", null],
    ["resets at 2020-01-01T00:00:00Z", null],
    ["resets at 2099-01-01T00:00:00Z", null],
    ["try again in 0 seconds", null],
    ["try again in 999999999999 days", 30 * d],
    ["no hint at all, only 20 seconds", null],
    ["", null]
  ]
  for (const [text, expected] of cases) {
    it(`'${text}'`, () => assert.strictEqual(textHint(text, nowMs), expected))
  }
})

describe("readHint", () => {
  const read = (purpose: HintPurpose, headers: Headers, text = "", body: unknown = null) =>
    readHint(purpose, {
      header: lookup(headers),
      body: readErrorBody(JSON.stringify(body)),
      text,
      wireRetryMs: null,
      nowMs
    })

  it("takes the most direct word for a short window", () => {
    const headers = { "retry-after": "2", "x-ratelimit-reset": "60" }
    assert.strictEqual(read("rate", headers, "try again in 5 minutes"), 2 * s)
    assert.strictEqual(read("rate", { "x-ratelimit-reset": "60" }, "try again in 5 minutes"), m)
    assert.strictEqual(read("rate", {}, "try again in 5 minutes"), 5 * m)
    assert.isNull(read("rate", {}))
  })

  it("takes the longest wait for a quota", () => {
    assert.strictEqual(read("quota", { "retry-after": "2" }, "resets in 12 days"), 12 * d)
    assert.strictEqual(read("quota", { "retry-after": "7200" }, "try again in 5 minutes"), 2 * h)
    assert.isNull(read("quota", {}))
  })

  it("does not take a limit's window for the end of a hiccup", () => {
    assert.isNull(read("retry", { "x-ratelimit-reset": "60" }, "try again in 5 minutes"))
    assert.strictEqual(read("retry", { "retry-after": "3" }), 3 * s)
  })

  it("cuts a short window at a day, and a quota's at a month", () => {
    assert.strictEqual(read("rate", { "retry-after": String(3 * 86_400) }), d)
    assert.strictEqual(read("quota", { "retry-after": String(3 * 86_400) }), 3 * d)
    assert.isNull(read("rate", { "retry-after": String(40 * 86_400) }))
  })

  it("reads absolute times against the clock that the upstream shows", () => {
    const ahead = 3 * h
    const headers = { date: http(ahead), "retry-after": http(ahead + 30 * s) }
    assert.strictEqual(read("rate", headers), 30 * s)
    assert.strictEqual(read("quota", { date: http(ahead) }, `resets at ${iso(ahead + m)}`), m)
    assert.strictEqual(read("rate", { date: http(-ahead), "x-ratelimit-reset": String(nowS - 3 * 3600 + 60) }), m)
    // A wait needs no clock.
    assert.strictEqual(read("rate", { date: http(ahead), "retry-after": "30" }), 30 * s)
  })

  it("takes the wait that the wire read where the body is not at hand", () => {
    const header = lookup({})
    const told = { header, text: "", wireRetryMs: 4_000, nowMs }
    assert.strictEqual(readHint("rate", { ...told, body: readErrorBody("") }), 4_000)
    assert.strictEqual(readHint("rate", { ...told, body: readErrorBody('{"retry_after":9}') }), 9_000)
    assert.isNull(readHint("rate", { ...told, wireRetryMs: -1, body: readErrorBody("") }))
  })

  it("does not mind whole seconds and travel time in Date, nor nonsense", () => {
    assert.strictEqual(upstreamNow(lookup({ date: http(-2 * s) }), nowMs), nowMs)
    assert.strictEqual(upstreamNow(lookup({ date: "yesterday" }), nowMs), nowMs)
    assert.strictEqual(upstreamNow(lookup({}), nowMs), nowMs)
    assert.strictEqual(upstreamNow(lookup({ date: http(h) }), nowMs), nowMs + h)
  })
})
