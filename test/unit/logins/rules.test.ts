/** The life of a login at the command line: which event makes which step. */
import { assert, describe, it } from "@effect/vitest"
import * as fc from "effect/FastCheck"
import { hashKey } from "../../../src/subjects/auth/KeyFormat.ts"
import { intervalMs, lifetimeMs, type LoginRequest, maxIntervalMs } from "../../../src/subjects/logins/entity.ts"
import {
  challengeOf,
  type LoginEvent,
  type LoginStep,
  makeUserCode,
  readCode,
  redirectOf,
  stepOf
} from "../../../src/subjects/logins/rules.ts"

const device: LoginRequest = {
  idHash: "id",
  codeHash: "code",
  way: "device",
  state: "asked",
  machine: "laptop",
  address: "192.0.2.7",
  port: null,
  challenge: null,
  clientState: null,
  grantHash: null,
  shownTo: null,
  userId: null,
  issuerId: null,
  intervalMs,
  polledAtMs: null,
  createdAtMs: 0,
  expiresAtMs: lifetimeMs
}
const verifier = "v".repeat(43)
const browser: LoginRequest = {
  ...device,
  way: "browser",
  port: 49_152,
  challenge: challengeOf(verifier),
  clientState: "the-state"
}

const ada = { sessionId: "s-ada", userId: "ada", issuerId: "company" }
const eve = { sessionId: "s-eve", userId: "eve", issuerId: "company" }
const shown = (sessionId: string): LoginEvent => ({ _tag: "Shown", sessionId })
const allowed = (by = ada, grantHash: string | null = null): LoginEvent => ({ _tag: "Allowed", by, grantHash })
const denied: LoginEvent = { _tag: "Denied", by: ada }
const polled = (grant?: string, given = verifier): LoginEvent => ({
  _tag: "Polled",
  proof: grant === undefined ? null : { grant, verifier: given }
})

/** Takes the events one after the other, a second apart; the last step. */
const after = (from: LoginRequest, ...events: ReadonlyArray<LoginEvent>): LoginStep => {
  let step: LoginStep = { _tag: "Wait", next: from }
  let nowMs = 0
  for (const event of events) {
    nowMs += 1_000
    if (step._tag !== "Wait" && step._tag !== "SlowDown") return step
    step = stepOf(step.next, event, nowMs)
  }
  return step
}

describe("a login by a device code", () => {
  it("is given once the person has allowed it who was shown what asks", () => {
    const step = after(device, polled(), shown("s-ada"), allowed(), polled())
    assert.strictEqual(step._tag, "SlowDown")
    const given = after(device, shown("s-ada"), allowed(), polled())
    assert.deepStrictEqual(given, { _tag: "Give", userId: "ada", issuerId: "company" })
  })

  it("is refused to who was not shown what asks, or to another session than that", () => {
    assert.strictEqual(after(device, allowed())._tag, "Refused")
    assert.strictEqual(after(device, shown("s-ada"), allowed(eve))._tag, "Refused")
    assert.strictEqual(after(device, shown("s-ada"), shown("s-eve"), allowed(ada))._tag, "Refused")
  })

  it("is answered once", () => {
    assert.strictEqual(after(device, shown("s-ada"), denied, allowed())._tag, "Refused")
    assert.strictEqual(after(device, shown("s-ada"), allowed(), denied)._tag, "Refused")
    assert.strictEqual(after(device, shown("s-ada"), allowed(), shown("s-eve"))._tag, "Refused")
  })

  it("ends when it is denied, and when ten minutes are over", () => {
    assert.deepStrictEqual(after(device, shown("s-ada"), denied, polled()), { _tag: "Over", reason: "denied" })
    for (const event of [shown("s-ada"), allowed(), denied, polled()]) {
      const step = stepOf({ ...device, state: "allowed", userId: "ada", shownTo: "s-ada" }, event, lifetimeMs)
      assert.deepStrictEqual(step, { _tag: "Over", reason: "expired" })
    }
  })

  it("lets the command line ask every five seconds, and less often when it asks earlier", () => {
    const asked = { ...device, polledAtMs: 10_000 }
    assert.strictEqual(stepOf(asked, polled(), 15_000)._tag, "Wait")
    const early = stepOf(asked, polled(), 14_999)
    assert.deepInclude(early, { _tag: "SlowDown" })
    assert.deepInclude("next" in early ? early.next : {}, { intervalMs: 10_000, polledAtMs: 14_999 })
    let request = asked
    for (let times = 0; times < 100; times += 1) {
      const step = stepOf(request, polled(), 10_000)
      if (step._tag === "SlowDown") request = { ...step.next, polledAtMs: 10_000 }
    }
    assert.strictEqual(request.intervalMs, maxIntervalMs)
  })

  it("takes nothing that a browser brings back", () => {
    const step = after(device, shown("s-ada"), allowed(ada, hashKey("grant")), polled("grant"))
    assert.deepStrictEqual(step, { _tag: "Over", reason: "mismatch" })
  })
})

describe("a login by the browser", () => {
  const grantHash = hashKey("grant")
  const answered = [shown("s-ada"), allowed(ada, grantHash)]

  it("is given for the code and the verifier only", () => {
    assert.deepInclude(after(browser, ...answered, polled("grant")), { _tag: "Give", userId: "ada" })
    assert.strictEqual(after(browser, ...answered, polled())._tag, "Wait")
  })

  it("ends with another code, another verifier, and a code before the answer", () => {
    const over = { _tag: "Over", reason: "mismatch" } as const
    assert.deepStrictEqual(after(browser, ...answered, polled("other")), over)
    assert.deepStrictEqual(after(browser, ...answered, polled("grant", "w".repeat(43))), over)
    assert.deepStrictEqual(after(browser, polled("grant")), over)
  })

  it("goes back to this machine only, with the state as it was", () => {
    assert.strictEqual(redirectOf(browser, { code: "a&b" }), "http://127.0.0.1:49152/?code=a%26b&state=the-state")
    assert.strictEqual(
      redirectOf(browser, { error: "access_denied" }),
      "http://127.0.0.1:49152/?error=access_denied&state=the-state"
    )
    assert.isNull(redirectOf(device, { code: "a" }))
  })
})

describe("any order of events", () => {
  const event = fc.oneof(
    fc.constantFrom(ada, eve).map(({ sessionId }) => shown(sessionId)),
    fc.constantFrom(ada, eve).map((by) => allowed(by, hashKey("grant"))),
    fc.constantFrom(ada, eve).map((by): LoginEvent => ({ _tag: "Denied", by })),
    fc.constantFrom(undefined, "grant", "other").map((grant) => polled(grant))
  )

  it("gives a login to the person alone who was shown it last and then allowed it", () => {
    fc.assert(
      fc.property(fc.constantFrom(device, browser), fc.array(event, { maxLength: 12 }), (from, events) => {
        let request = from
        let shownTo: string | null = null
        let allowedBy: string | null = null
        for (const [index, one] of events.entries()) {
          const step = stepOf(request, one, (index + 1) * maxIntervalMs * 0.7)
          if (step._tag === "Give") return step.userId === allowedBy
          if (step._tag === "Over") return true
          if (step._tag === "Refused") continue
          request = step.next
          if (one._tag === "Shown") shownTo = one.sessionId
          if (one._tag === "Allowed") {
            assert.strictEqual(one.by.sessionId, shownTo)
            assert.isNull(allowedBy)
            allowedBy = one.by.userId
          }
        }
        return true
      })
    )
  })
})

describe("a code that people type", () => {
  it("is read in any case, with blanks and dashes anywhere", () => {
    const code = makeUserCode()
    assert.match(code, /^[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4}$/)
    const bare = code.replace("-", "")
    for (const typed of [code, bare, bare.toLowerCase(), ` ${bare.slice(0, 2)} ${bare.slice(2)}–`]) {
      assert.strictEqual(readCode(typed), code)
    }
    for (const other of ["AAAA-AAAA", "BCDF-GHJ", "Zr8c0fJ7t2n5v1k4x9q3m6w0y8b2d5g7h1j4l7p0s3u", ""]) {
      assert.strictEqual(readCode(other), other)
    }
  })
})
