/** Failures that the provider puts into a status line. */
import * as Fake from "../../../support/FakeUpstream.ts"
import {
  account,
  answered,
  type Ask,
  cooling,
  resting,
  coolingFor,
  doubted,
  ended,
  type Expected,
  type Fault,
  provider,
  request
} from "../Fault.ts"
import { streamed, whole, all } from "../Wires.ts"

const hour = 3_600_000
const day = 24 * hour

interface Said {
  readonly type?: string
  readonly code?: string
  readonly headers?: Readonly<Record<string, string>>
}

const says =
  (status: number, message: string, { headers, ...detail }: Said = {}) =>
  ({ wire }: Ask): Fake.Answer =>
    Fake.json(Fake.errorBody(wire, message, detail), { status, ...(headers === undefined ? {} : { headers }) })

/** The same whether it was to be streamed or not. */
const both = (expected: Expected) => ({ whole: expected, stream: expected })

const httpDate = (epochMs: number): string => new Date(epochMs).toUTCString()

const story = ({ streamed: isStream, wire }: Ask): Fake.Answer =>
  isStream ? Fake.sse(all(streamed(wire))) : Fake.json(whole(wire))

const slowDown = "Slow down, please."
const rateLimit = (says: (ask: Ask) => Readonly<Record<string, string>>) => (ask: Ask) =>
  Fake.json(Fake.errorBody(ask.wire, slowDown, { type: "rate_limit_error" }), { status: 429, headers: says(ask) })

const oops = "The bakery is on fire."
/** A provider's own trouble in words of its own. */
const trouble = (status: number): Fault => ({
  name: String(status),
  does: says(status, oops, { type: "server_error" }),
  ...both(provider(status, { says: oops })),
  ...(status === 503 ? { translated: true } : {})
})

export const rateLimits: ReadonlyArray<Fault> = [
  {
    name: "429",
    does: rateLimit(() => ({})),
    ...both(account(429, cooling, { says: slowDown }))
  },
  {
    name: "429-retry-after-seconds",
    does: rateLimit(() => ({ "retry-after": "7" })),
    ...both(account(429, coolingFor(7_000), { says: slowDown, retryAfterS: [6, 8] })),
    translated: true
  },
  {
    name: "429-retry-after-date",
    does: rateLimit(({ nowMs }) => ({ "retry-after": httpDate(nowMs + 40_000) })),
    ...both(account(429, coolingFor(40_000), { says: slowDown, retryAfterS: [37, 41] }))
  },
  {
    // Ten days for a rate limit: no window of that kind is so long, so at most a day is believed.
    name: "429-retry-after-far",
    does: rateLimit(() => ({ "retry-after": "864000" })),
    ...both(account(429, { ...cooling, coolsMs: [1, day + 2_000] }, { says: slowDown }))
  },
  {
    // Three hundred years: a mistake. The connection must come back in reasonable time.
    name: "429-retry-after-absurd",
    does: rateLimit(() => ({ "retry-after": "9999999999" })),
    ...both(account(429, { ...cooling, coolsMs: [1, day + 2_000] }, { says: slowDown }))
  },
  {
    name: "429-reset-in-the-past",
    does: rateLimit(({ nowMs }) => ({
      "x-ratelimit-remaining": "0",
      "x-ratelimit-reset": String(Math.floor(nowMs / 1000) - 3_600)
    })),
    ...both(account(429, cooling, { says: slowDown }))
  },
  {
    // The provider's clock is two hours ahead: what it says is relative to its own time.
    name: "429-clock-skew",
    does: rateLimit(({ nowMs }) => ({
      date: httpDate(nowMs + 7_200_000),
      "retry-after": httpDate(nowMs + 7_200_000 + 40_000)
    })),
    ...both(account(429, coolingFor(40_000), { says: slowDown }))
  },
  {
    name: "429-quota",
    does: says(429, "You exceeded your current quota, please check your plan and billing details.", {
      type: "insufficient_quota",
      code: "insufficient_quota"
    }),
    // Without a reset time: an hour, not the seconds of a rate limit.
    ...both(
      account(
        429,
        { ...cooling, outOfMoney: true, coolsMs: [10 * 60_000, day + 2_000] },
        { says: "exceeded your current quota" }
      )
    )
  },
  {
    name: "429-daily-quota",
    does: says(429, "Daily limit reached for free requests. Try again tomorrow."),
    ...both(account(429, { ...cooling, coolsMs: [1, day + 2_000] }, { says: "Daily limit reached" }))
  }
]

export const accounts: ReadonlyArray<Fault> = [
  {
    name: "401-refreshable",
    oauth: true,
    does: (ask) => (ask.credential.includes("fresh") ? story(ask) : says(401, "The access token has expired.")(ask)),
    whole: { ...answered, calls: 2 },
    stream: { ...answered, calls: 2 }
  },
  {
    name: "401-refresh-in-vain",
    oauth: true,
    does: says(401, "This login was ended."),
    ...both(account(401, ended("expired"), { says: "This login was ended", calls: 2 }))
  },
  {
    name: "401-dead",
    does: says(401, "Incorrect API key provided.", { type: "authentication_error", code: "invalid_api_key" }),
    ...both(account(401, ended("expired"), { says: "Incorrect API key" }))
  },
  {
    name: "402",
    does: says(402, "Your credit balance is used up.", { type: "billing_error" }),
    ...both(account(402, ended("credits_exhausted"), { says: "credit balance is used up" })),
    translated: true
  },
  {
    name: "400-out-of-credits",
    does: says(400, "Your credit balance is too low to access this model. Please go to Plans & Billing."),
    // No code says so: a doubt, until another request meets the same.
    ...both(account(400, doubted(hour), { says: "credit balance is too low" }))
  },
  {
    name: "403-banned",
    does: says(403, "Your account has been suspended for a violation of our terms.", {
      type: "account_deactivated",
      code: "account_deactivated"
    }),
    ...both(account(403, ended("banned"), { says: "has been suspended" }))
  },
  {
    // The status alone cools the account; that it is closed, only words say.
    name: "403-banned-in-words",
    does: says(403, "Your account has been suspended for a violation of our terms.", { type: "permission_error" }),
    ...both(account(403, coolingFor(hour), { says: "has been suspended" }))
  },
  {
    name: "403",
    does: says(403, "You may not do this.", { type: "permission_error" }),
    ...both(account(403, cooling, { says: "You may not do this" }))
  }
]

export const requests: ReadonlyArray<Fault> = [
  {
    name: "404-model",
    does: says(404, "The model `wall` does not exist.", { code: "model_not_found" }),
    ...both(request(404, "does not exist")),
    translated: true
  },
  {
    name: "400-context-overflow",
    does: says(400, "This model's maximum context length is 8192 tokens, you asked for 9000.", {
      code: "context_length_exceeded"
    }),
    ...both(request(400, "maximum context length"))
  },
  {
    name: "400",
    does: says(400, "Invalid value for 'temperature': must be at most 2."),
    ...both(request(400, "Invalid value for 'temperature'")),
    translated: true
  },
  {
    // A 400 that repeats what the client wrote must not end an account.
    name: "400-quoting-the-prompt",
    does: says(
      400,
      `Invalid message at index 0: ${"the roof is red and the door is blue, ".repeat(12)} my account has been suspended`
    ),
    ...both(request(400, "Invalid message at index 0"))
  }
]

export const troubles: ReadonlyArray<Fault> = [
  ...[500, 502, 503, 504].map(trouble),
  { ...trouble(529), ...both(account(529, resting, { says: oops })) },
  {
    name: "503-retry-after",
    does: says(503, oops, { headers: { "retry-after": "30" } }),
    ...both(provider(503, { says: oops, health: coolingFor(30_000), retryAfterS: [29, 31] }))
  },
  {
    name: "502-html",
    does: () =>
      Fake.text("<!DOCTYPE html><html><head><title>502 Bad Gateway</title></head><body>nginx</body></html>", {
        status: 502,
        headers: { "content-type": "text/html" }
      }),
    ...both(provider(502)),
    translated: true
  },
  { name: "500-empty", does: () => Fake.text("", { status: 500 }), ...both(provider(500)) }
]
