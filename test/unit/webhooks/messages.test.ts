/** Events as messages for people: names, limits, and texts of others that take no effect. */
import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import { mailText, messageBody } from "../../../src/subjects/webhooks/messages/Bodies.ts"
import { makeCoalescing, mostSubjects, windowMs } from "../../../src/subjects/webhooks/messages/Coalescing.ts"
import { isForPeople, noticeOf, subjectOf } from "../../../src/subjects/webhooks/messages/Notice.ts"

const names = { key: "Laptop", connection: "work" }
const failed = {
  requested_model: "fast",
  model: "gpt-4o-mini",
  provider: "openai",
  api_key_id: "019aa6ee-5c00-7000-8f3e-1f0c9d2b7a64",
  status: 502,
  reason: "upstream"
}
const noticeFor = (data: Readonly<Record<string, unknown>>, event = "request.failed", repeats = 0) =>
  noticeOf({ event, atMs: 0, data }, names, repeats)

const kinds = ["slack", "discord", "teams"] as const

describe("a message", () => {
  for (const kind of kinds) {
    it(`for ${kind} has names and the model asked for, and no id`, () => {
      const body = messageBody(kind, noticeFor(failed))
      for (const word of ["Laptop", "work", "fast", "openai"]) assert.include(body, word)
      assert.notInclude(body, failed.api_key_id)
    })

    it(`for ${kind} calls nobody, whatever a caller writes`, () => {
      const hostile = "@everyone @here <!channel> <@U123> <at>all</at> [x](https://evil.example) **b** `c`"
      const body = messageBody(kind, noticeFor({ ...failed, requested_model: hostile, reason: hostile }))
      for (const mark of ["@everyone", "@here", "<!channel>", "<@U123>", "<at>", "[x](", "**b**"]) {
        if (kind === "slack" && (mark === "[x](" || mark === "**b**")) continue
        assert.notInclude(body, mark)
      }
    })

    it(`for ${kind} keeps to the limits of the service`, () => {
      fc.assert(
        fc.property(fc.dictionary(fc.string(), fc.string({ maxLength: 5_000, unit: "binary" })), (data) => {
          const text = messageBody(kind, noticeFor({ ...failed, ...data, reason: "x".repeat(20_000) }, "some.event"))
          assert.isBelow(Buffer.byteLength(text), 28 * 1_024)
          const body = JSON.parse(text)
          if (kind === "discord") {
            assert.isAtMost(body.content.length, 2_000)
            const [{ fields }] = body.embeds
            assert.isAtMost(fields.length, 25)
            const all: ReadonlyArray<{ readonly name: string; readonly value: string }> = fields
            assert.isAtMost(
              all.map(({ name, value }) => name.length + value.length).reduce((a, b) => a + b, 0),
              6_000
            )
          }
          if (kind === "slack") {
            assert.isAtMost(body.text.length, 3_000)
            assert.isAtMost(body.attachments[0].blocks.length, 50)
          }
        }),
        { numRuns: 50, seed: 3 }
      )
    })
  }

  it("says what needs a person, how bad it is, and that it is over", () => {
    const data = {
      id: "connectionEnded:1",
      kind: "connectionEnded",
      severity: "error",
      subject: { type: "connection", id: "1", name: "work\n@everyone" },
      text: "The key was refused.",
      since: "2035-01-10T12:00:00.000Z"
    }
    const raised = noticeFor(data, "attention.raised")
    assert.deepInclude(raised, { severity: "bad", headline: "connection work @everyone: The key was refused." })
    assert.strictEqual(noticeFor({ ...data, severity: "info" }, "attention.raised").severity, "info")
    assert.deepInclude(noticeFor(data, "attention.cleared"), {
      severity: "good",
      headline: "Over: connection work @everyone. The key was refused."
    })
    assert.strictEqual(subjectOf("attention.raised", data), subjectOf("attention.raised", { ...data, text: "x" }))
    assert.notStrictEqual(subjectOf("attention.raised", data), subjectOf("attention.cleared", data))
  })

  it("says what a week has cost, and who cost the most", () => {
    const spender = { requests: 3, cost_usd: 2.5 }
    const data = {
      period: "weekly",
      from: "2026-11-16T00:00:00.000Z",
      to: "2026-11-23T00:00:00.000Z",
      requests: 7,
      unpriced: 0,
      cost_usd: 28,
      billed_usd: 30,
      previous_cost_usd: 0,
      top_people: [
        { id: null, name: null, ...spender },
        { id: "1", name: "Ada\n@everyone", ...spender }
      ],
      top_teams: [],
      top_models: [{ id: "gpt-4o", name: "gpt-4o", ...spender }]
    }
    const { facts, headline, severity } = noticeFor(data, "report.weekly")
    assert.deepStrictEqual([severity, headline], ["info", "The week from 2026-11-16 has cost $28.00 for 7 requests."])
    assert.deepStrictEqual(Object.fromEntries(facts), {
      "Week before": "$0",
      Billed: "$30.00",
      People: "Ada @everyone $2.50",
      Models: "gpt-4o $2.50"
    })
    const month = noticeFor({ ...data, period: "monthly", from: "2026-10-01T00:00:00.000Z" }, "report.monthly")
    assert.match(month.headline, /^The month 2026-10 has cost/)
  })

  it("by mail has a subject of one line", () => {
    const { subject, text } = mailText(noticeFor({ ...failed, requested_model: "a\r\nBcc: x@example.com" }))
    assert.notMatch(subject, /[\r\n]/)
    assert.notMatch(text, /^Bcc:/m)
  })

  it("says how often the same happened meanwhile", () => {
    assert.include(messageBody("teams", noticeFor(failed, "request.failed", 3)), "3 more times")
  })
})

describe("one thing", () => {
  it("is one message within the window, and the next one counts the others", () => {
    const { next } = makeCoalescing()
    const subject = subjectOf("request.failed", failed)
    assert.strictEqual(next(subject, 0), 0)
    for (let at = 1; at <= 5; at += 1) assert.isNull(next(subject, at))
    assert.strictEqual(next(subjectOf("request.failed", { ...failed, provider: "groq" }), 6), 0)
    assert.strictEqual(next(subject, windowMs), 5)
    assert.isNull(next(subject, windowMs + 1))
  })

  it("is forgotten when too many others came after it", () => {
    const { next } = makeCoalescing()
    for (let at = 0; at <= mostSubjects; at += 1) next(`s${at}`, at)
    assert.strictEqual(next("s0", mostSubjects + 1), 0)
  })

  it("is a breaker that opens, not each failure", () => {
    assert.isFalse(isForPeople("provider.error", { circuit_state: "DEGRADED" }))
    assert.isTrue(isForPeople("provider.error", { circuit_state: "OPEN" }))
    const subject = (model: string) => subjectOf("provider.error", { provider: "one", model, circuit_state: "OPEN" })
    assert.strictEqual(subject("a"), subject("b"))
  })

  it("is each answered request for itself", () => assert.isNull(subjectOf("request.completed", failed)))
})
