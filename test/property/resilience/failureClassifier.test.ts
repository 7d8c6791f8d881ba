import { assert, describe, it } from "@effect/vitest"
import * as FC from "effect/FastCheck"
import type { ProviderClass } from "../../../src/contract/domain/Provider.ts"
import { causes } from "../../../src/plane/resilience/failure/Causes.ts"
import { classify } from "../../../src/plane/resilience/failure/Classifier.ts"
import { penaltyOf, policies } from "../../../src/plane/resilience/failure/Policy.ts"
import { rules } from "../../../src/plane/resilience/failure/Rules.ts"
import type { FailureCause, FailureSignal } from "../../../src/plane/resilience/failure/Signal.ts"
import { waitOf } from "../../../src/plane/resilience/failure/When.ts"
import { readUpstreamError } from "../../../src/wire/UpstreamError.ts"

const run = { seed: 20_261_121, numRuns: 1_500 }
const maxWaitMs = 31 * 86_400_000

const phrases = rules.flatMap(({ when }) => (when.code ?? []).concat((when.text ?? []).map(String)))
const timeWords = [
  "retry after ",
  "resets in ",
  "try again at ",
  "3 days",
  "1m2.5s",
  "2026-11-22T00:00:00Z",
  "tomorrow",
  "-1",
  "99999999999"
]

const words = FC.array(FC.oneof(FC.constantFrom(...phrases, ...timeWords), FC.string({ maxLength: 20 })), {
  maxLength: 6
}).map((parts) => parts.join(" "))

const value = FC.oneof(words, FC.double(), FC.integer(), FC.constant(null), FC.jsonValue())
const names = [
  "retry_after",
  "resets_at",
  "resets_in_seconds",
  "details",
  "metadata",
  "message",
  "code",
  "type",
  "headers",
  "__proto__"
]
const fields = FC.dictionary(FC.constantFrom(...names), value)
const detail = FC.record(
  {
    "@type": words,
    reason: words,
    retryDelay: value,
    violations: FC.oneof(value, FC.array(FC.record({ quotaId: words }), { maxLength: 3 })),
    metadata: FC.record({ quotaResetDelay: value }, { requiredKeys: [] })
  },
  { requiredKeys: [] }
)
const error = FC.tuple(fields, FC.array(detail, { maxLength: 3 })).map(([some, details]): object =>
  Object.assign({}, some, { details })
)

const bytes = FC.uint8Array({ maxLength: 400 }).map((data) => Buffer.from(data).toString("utf8"))
const body = FC.oneof(
  bytes,
  words,
  error.map((inner) => JSON.stringify({ error: inner })),
  error.map((inner) => JSON.stringify([{ error: inner }])),
  FC.jsonValue().map((json) => JSON.stringify(json)),
  words.map((text) => `<html><title>${text}</title>`)
)

const headerNames = [
  "date",
  "retry-after",
  "retry-after-ms",
  "x-ratelimit-reset",
  "x-ratelimit-remaining",
  "x-ratelimit-reset-requests",
  "x-ratelimit-remaining-requests",
  "anthropic-ratelimit-unified-status",
  "anthropic-ratelimit-unified-reset",
  "anthropic-ratelimit-tokens-remaining",
  "anthropic-ratelimit-tokens-reset",
  "x-codex-primary-used-percent",
  "x-codex-primary-reset-after-seconds",
  "www-authenticate"
]
const headerValue = FC.oneof(
  FC.constantFrom(
    "0",
    "100",
    "rejected",
    "30",
    "1m30s",
    "-4",
    "NaN",
    "Sat, 21 Nov 2026 12:00:30 GMT",
    "2026-11-22T00:00:00Z"
  ),
  FC.double().map(String),
  FC.integer({ min: 0, max: 2 ** 40 }).map(String),
  FC.string({ maxLength: 30 })
)
const headers = FC.dictionary(FC.constantFrom(...headerNames), headerValue, { maxKeys: 6 })

interface Case {
  readonly signal: Omit<FailureSignal, "header">
  readonly headers: Readonly<Record<string, string>>
}

const signal: FC.Arbitrary<Case> = FC.record({
  status: FC.oneof(
    FC.integer({ min: 100, max: 599 }),
    FC.constant(null),
    FC.constantFrom(400, 401, 402, 403, 404, 429, 503)
  ),
  bodyText: body,
  words: FC.boolean(),
  place: FC.constantFrom("status" as const, "answer" as const, "stream" as const),
  cause: FC.option(FC.constantFrom(...(Object.keys(causes) as Array<FailureCause>)), { freq: 6 }),
  contentBegan: FC.boolean(),
  bannedTexts: FC.array(FC.string({ maxLength: 20 }), { maxLength: 3 }),
  sent: FC.constant(null),
  nowMs: FC.integer({ min: 0, max: 4e12 }),
  providerId: FC.constantFrom("acme", "opencode-zen", "minimax"),
  providerClass: FC.constantFrom<Array<ProviderClass>>("oauth", "apikey", "local"),
  authType: FC.constantFrom("oauth" as const, "apikey" as const, "none" as const),
  canRefresh: FC.boolean(),
  headers
}).map(({ headers: given, words: said, ...rest }) => ({
  headers: given,
  signal: {
    ...rest,
    message: "ours",
    problem: said && rest.status !== null ? readUpstreamError(rest.status, rest.bodyText) : null
  }
}))

const withHeaders = ({ headers: given, signal: rest }: Case, rename: (name: string) => string): FailureSignal => {
  // As node hands them over: whatever case they came in, they are looked up in lower case.
  const lower = new Map(Object.entries(given).map(([name, text]) => [rename(name).toLowerCase(), text]))
  return { ...rest, header: (name) => lower.get(name) ?? null }
}

const same = (name: string): string => name
const shout = (name: string): string => name.toUpperCase()

describe("classify", () => {
  it("is total and stays within its limits", () => {
    FC.assert(
      FC.property(signal, (given) => {
        const failure = classify(withHeaders(given, same))
        assert.property(policies, failure.kind)
        assert.isTrue(Number.isInteger(failure.status) && failure.status >= 400 && failure.status <= 599)
        const { nowMs } = given.signal
        for (const wait of [failure.hintMs, failure.untilMs === null ? null : failure.untilMs - nowMs]) {
          if (wait !== null) assert.isTrue(Number.isInteger(wait) && wait > 0 && wait <= maxWaitMs, String(wait))
        }
        for (const useHints of [true, false]) {
          const penalty = penaltyOf(failure, useHints, nowMs)
          if (penalty?._tag === "For") assert.isTrue(penalty.ms > 0 && penalty.ms <= maxWaitMs)
        }
      }),
      run
    )
  })

  it("is deterministic and keeps no state between calls", () => {
    FC.assert(
      FC.property(signal, signal, (one, other) => {
        const first = classify(withHeaders(one, same))
        classify(withHeaders(other, same))
        assert.deepStrictEqual(classify(withHeaders(one, same)), first)
      }),
      run
    )
  })

  it("does not depend on the case of header names", () => {
    FC.assert(
      FC.property(signal, (given) => {
        assert.deepStrictEqual(classify(withHeaders(given, shout)), classify(withHeaders(given, same)))
      }),
      run
    )
  })

  it("never ends an account over what stands far behind in a complaint", () => {
    FC.assert(
      FC.property(FC.constantFrom(...phrases), FC.constantFrom(400, 422), (phrase, status) => {
        const bodyText = JSON.stringify({ error: { message: `${"Invalid value. ".repeat(40)} You sent: ${phrase}` } })
        const failure = classify({
          ...withHeaders({ headers: {}, signal: { ...quiet, status, bodyText } }, same),
          problem: readUpstreamError(status, bodyText)
        })
        assert.isNull(policies[failure.kind].terminal)
        assert.notStrictEqual(failure.scope, "connection")
      }),
      run
    )
  })
})

const quiet: Omit<FailureSignal, "header"> = {
  status: 400,
  bodyText: "",
  problem: null,
  place: "status",
  cause: null,
  message: "ours",
  contentBegan: false,
  bannedTexts: [],
  sent: null,
  nowMs: 1_795_262_400_000,
  providerId: "acme",
  providerClass: "apikey",
  authType: "apikey",
  canRefresh: false
}

describe("long and hostile texts", () => {
  // A pattern that is not linear would run into the test's time limit here.
  const length = 1_000_000
  const seeds = [
    "model ",
    "model model does not ",
    "token count ",
    "try again ",
    "try x y ",
    "retry after 1 ",
    "1m1m1m",
    "resets in 1 day and ",
    "exceeds the model's ",
    "has not been used in project ",
    "account has been been ",
    "do not have access to ",
    "prompt contains at least ",
    "2026-11-21t00:00:00 ",
    "<html",
    "{",
    "[",
    " ",
    "\u0000",
    "9"
  ]
  for (const seed of seeds) {
    it(`${JSON.stringify(seed)} over and over`, () => {
      const long = seed.repeat(Math.ceil(length / seed.length))
      for (const status of [400, 403, 404, 429, 500]) {
        for (const problem of [null, { status, message: long, type: long, code: long }]) {
          const failure = classify({ ...quiet, status, bodyText: long, problem, header: () => long })
          assert.property(policies, failure.kind)
        }
      }
    })
  }
})

describe("waitOf", () => {
  it("reads every number of seconds it may believe, and no other", () => {
    FC.assert(
      FC.property(FC.double({ noNaN: true }), (seconds) => {
        const wait = waitOf(String(seconds), 0)
        const plain = /^\d+(\.\d{1,9})?$/.test(String(seconds))
        const expected = Math.ceil(seconds * 1000)
        assert.strictEqual(wait, plain && expected > 0 && expected <= maxWaitMs ? expected : null)
      }),
      run
    )
  })

  it("agrees on one instant in every form", () => {
    FC.assert(
      FC.property(
        FC.integer({ min: 1_500_000_000, max: 2_500_000_000 }),
        FC.integer({ min: 1, max: 2_600_000 }),
        (at, wait) => {
          const now = (at - wait) * 1000
          const date = new Date(at * 1000)
          for (const form of [String(at), String(at * 1000), date.toISOString(), date.toUTCString()]) {
            assert.strictEqual(waitOf(form, now), wait * 1000, form)
          }
          assert.strictEqual(waitOf(`${wait}s`, now), wait * 1000)
        }
      ),
      run
    )
  })
})
