import { assert, describe, it } from "@effect/vitest"
import { classify } from "../../../../src/plane/resilience/failure/Classifier.ts"
import type { FailureKind } from "../../../../src/plane/resilience/failure/FailureKind.ts"
import {
  countsForBreaker,
  doubtedEndMs,
  modelHoldOf,
  penaltyOf,
  policies,
  weightOf
} from "../../../../src/plane/resilience/failure/Policy.ts"
import type { FailureSignal } from "../../../../src/plane/resilience/failure/Signal.ts"
import { answered, caused, inAnswer, inStream, nowMs, oauth } from "./signals.ts"

const kindsWhere = (test: (kind: FailureKind) => boolean): ReadonlyArray<string> =>
  (Object.keys(policies) as Array<FailureKind>).filter(test).sort()

const penalty = (signal: FailureSignal, useHints: boolean) => penaltyOf(classify(signal), useHints, nowMs)

describe("the policy", () => {
  it("ends an account for three kinds only, and then never another account", () => {
    assert.deepStrictEqual(
      kindsWhere((kind) => policies[kind].terminal !== null),
      ["auth_expired", "banned", "credits_exhausted"]
    )
    assert.deepStrictEqual(
      kindsWhere((kind) => policies[kind].exhausts === "provider"),
      []
    )
  })

  it("goes on to the next target unless the time is over or the client is gone", () => {
    assert.deepStrictEqual(
      kindsWhere((kind) => !policies[kind].tryNextTarget),
      ["cancelled", "total_timeout"]
    )
  })

  it("penalises no target for the request's own faults", () => {
    for (const kind of [
      "bad_request",
      "context_overflow",
      "too_large",
      "content_refused",
      "cancelled",
      "unusable_output",
      "gateway_refusal"
    ] as const) {
      const { breaker, lockout, scope, terminal } = policies[kind]
      assert.deepStrictEqual(
        { breaker, lockout, scope, terminal },
        { breaker: "never", lockout: false, scope: "none", terminal: null }
      )
    }
  })

  it("refreshes the token for one kind only", () => {
    assert.deepStrictEqual(
      kindsWhere((kind) => policies[kind].refreshToken),
      ["auth_refreshable"]
    )
  })
})

describe("countsForBreaker", () => {
  it("counts 408, 500, 502, 503 and 504 and no other status", () => {
    const counted = []
    for (let status = 400; status < 600; status++) {
      if (countsForBreaker(classify(answered(status, "")))) counted.push(status)
    }
    assert.deepStrictEqual(counted, [408, 500, 502, 503, 504])
  })

  it("does not count an overload that is told as 429 or 529", () => {
    for (const status of [429, 529]) {
      const failure = classify(answered(status, "overloaded"))
      assert.strictEqual(failure.kind, "capacity")
      assert.isFalse(countsForBreaker(failure))
    }
  })

  it("counts what never became an answer as 502 or 504", () => {
    for (const cause of [
      "refused",
      "dns",
      "tls",
      "reset",
      "connect_timeout",
      "first_byte_timeout",
      "idle_timeout",
      "truncated",
      "not_json"
    ] as const) {
      assert.isTrue(countsForBreaker(classify(caused(cause))), cause)
    }
    for (const cause of [
      "blocked",
      "client_left",
      "no_slot",
      "media_not_fetched",
      "answer_too_large",
      "empty_answer"
    ] as const) {
      assert.isFalse(countsForBreaker(classify(caused(cause))), cause)
    }
  })

  it("counts the total timeout against a silent upstream, not against a slow one", () => {
    assert.isTrue(countsForBreaker(classify(caused("total_timeout"))))
    assert.isFalse(countsForBreaker(classify(caused("total_timeout", { contentBegan: true }))))
  })

  it("does not count a conversation that is too long, although the upstream said 500", () => {
    assert.isFalse(countsForBreaker(classify(answered(500, "maximum context length is 4096 tokens"))))
  })

  it("counts an error event by what it stands for", () => {
    assert.isTrue(countsForBreaker(classify(inStream({ error: { type: "api_error", message: "x" } }))))
    assert.isFalse(countsForBreaker(classify(inStream({ error: { type: "rate_limit_error", message: "x" } }))))
  })
})

describe("penaltyOf", () => {
  const hinted = { headers: { "retry-after": "40" } }

  it("believes the upstream's hint where the setting says so, else backs off", () => {
    assert.deepStrictEqual(penalty(answered(429, "", hinted), true), { _tag: "For", ms: 40_000 })
    assert.deepStrictEqual(penalty(answered(429, "", hinted), false), { _tag: "Backoff" })
    assert.deepStrictEqual(penalty(answered(429, ""), true), { _tag: "Backoff" })
    assert.deepStrictEqual(penalty(answered(500, ""), true), { _tag: "Backoff" })
  })

  it("waits for a used-up window whatever the setting says", () => {
    const coded = (code: string, message: string) => ({ error: { code, message } })
    const spent = answered(429, coded("usage_limit_reached", "It resets in 2 days"), oauth)
    assert.deepStrictEqual(penalty(spent, false), { _tag: "For", ms: 2 * 86_400_000 })
    const empty = answered(429, coded("insufficient_quota", "Exceeded"))
    assert.deepStrictEqual(penalty(empty, true), { _tag: "For", ms: 3_600_000 })
  })

  it("names the terminal state", () => {
    assert.deepStrictEqual(penalty(answered(402, ""), true), { _tag: "Terminal", status: "credits_exhausted" })
    assert.deepStrictEqual(penalty(answered(401, ""), true), { _tag: "Terminal", status: "expired" })
    const closed = { error: { code: "account_deactivated", message: "no" } }
    for (const status of [401, 403]) {
      assert.deepStrictEqual(penalty(answered(status, closed, oauth), true), { _tag: "Terminal", status: "banned" })
    }
  })

  it("cools an account that was forbidden something, and ends nothing", () => {
    assert.deepStrictEqual(penalty(answered(403, "Forbidden"), true), { _tag: "Backoff" })
    assert.deepStrictEqual(penalty(answered(403, "", oauth), true), { _tag: "Backoff" })
  })

  it("leaves the connection alone for a model or a request", () => {
    for (const signal of [
      answered(404, ""),
      answered(400, "no"),
      answered(400, "prompt is too long"),
      caused("client_left")
    ]) {
      assert.isNull(penalty(signal, true))
    }
  })
})

/** One answer of each kind that cools or ends a connection, as its body. */
const told = {
  transient: { error: { type: "server_error", message: "boom" } },
  capacity: { error: { type: "overloaded_error", message: "Overloaded" } },
  rate_limit: { error: { code: "rate_limit_exceeded", message: "Slow down" } },
  quota_exhausted: { error: { type: "insufficient_quota", code: "insufficient_quota", message: "Exceeded" } },
  credits_exhausted: { error: { type: "billing_error", message: "Your credit balance is too low" } },
  auth_expired: { error: { type: "authentication_error", message: "Incorrect key" } },
  banned: { error: { code: "account_deactivated", message: "Your account has been suspended" } },
  forbidden: { error: { type: "permission_error", message: "Forbidden" } }
} as const

/** The status that says the same. */
const statusOf = {
  transient: 500,
  capacity: 503,
  rate_limit: 429,
  quota_exhausted: 429,
  credits_exhausted: 402,
  auth_expired: 401,
  banned: 403,
  forbidden: 403
} as const

describe("by where it stood", () => {
  it("doubts what a stream's event says of the account, an end without a reason wherever it shows, and nothing else", () => {
    assert.deepStrictEqual(
      kindsWhere((kind) => policies[kind].weight === "doubt"),
      ["unfinished"]
    )
    assert.deepStrictEqual(
      kindsWhere((kind) => policies[kind].inStream === "doubt"),
      ["auth_expired", "banned", "credits_exhausted", "forbidden", "quota_exhausted", "rate_limit", "unfinished"]
    )
    const failure = classify(answered(429, ""))
    for (const place of ["call", "status", "answer"] as const) {
      assert.strictEqual(weightOf({ ...failure, place }), "firm")
    }
    for (const place of ["opening", "midway"] as const) assert.strictEqual(weightOf({ ...failure, place }), "doubt")
  })

  for (const kind of Object.keys(told) as ReadonlyArray<keyof typeof told>) {
    const body = told[kind]
    const places = [
      ["answer", inAnswer(body)],
      ["opening", inStream(body)],
      ["midway", inStream(body, { contentBegan: true })]
    ] as const
    const firm = penalty(answered(statusOf[kind], body), true)
    const lengthMs = firm?._tag === "For" ? firm.ms : firm?._tag === "Terminal" ? doubtedEndMs : null

    it(`${kind}: by status it is ${firm?._tag}`, () => {
      const failure = classify(answered(statusOf[kind], body))
      assert.deepStrictEqual([failure.kind, failure.place], [kind, "status"])
      assert.include(["Backoff", "For", "Terminal"], firm?._tag)
    })

    for (const [place, signal] of places) {
      const isDoubt = place !== "answer" && kind !== "transient" && kind !== "capacity"
      it(`${kind}, ${place}: ${isDoubt ? "others go first for as long, and nothing ends" : "the same"}`, () => {
        const failure = classify(signal)
        assert.deepStrictEqual([failure.kind, failure.place], [kind, place])
        assert.deepStrictEqual(penaltyOf(failure, true, nowMs), isDoubt ? { _tag: "Doubt", ms: lengthMs } : firm)
      })
    }
  }
})

describe("modelHoldOf", () => {
  const perDay = {
    error: {
      code: 429,
      status: "RESOURCE_EXHAUSTED",
      message: "You exceeded your current quota",
      details: [{ violations: [{ quotaId: "GenerateRequestsPerDayPerProjectPerModel-FreeTier" }] }]
    }
  }
  const hold = (signal: FailureSignal) => modelHoldOf(classify(signal), nowMs)

  it("holds a model whose own quota is used up until it opens again, and leaves the connection alone", () => {
    assert.strictEqual(hold(answered(429, perDay)), 20 * 3_600_000)
    assert.isNull(penalty(answered(429, perDay), true))
    const coded = { error: { code: "model_quota_exceeded", message: "The quota of this model resets in 2h" } }
    assert.strictEqual(hold(answered(429, coded)), 2 * 3_600_000)
  })

  it("holds no model for what is the account's, the project's, the model's own fault or hearsay", () => {
    for (const signal of [
      answered(429, "exhausted your capacity on this model, resets in 2h"),
      answered(429, "Rate limit exceeded: free-models-per-day"),
      answered(429, "insufficient_quota"),
      answered(429, { error: { details: [{ violations: [{ quotaId: "RequestsPerDayPerProject" }] }] } }),
      answered(404, "model_not_found"),
      caused("empty_answer"),
      inStream(perDay)
    ]) {
      assert.isNull(hold(signal))
    }
  })
})
