import { assert, describe, it } from "@effect/vitest"
import { maskHeaders, maskSecret, unmaskHeaders } from "../../../src/kernel/text/Masking.ts"
import { usageLog } from "../../../src/entry/handling/Views.ts"
import { usageRow } from "../../support/usageRow.ts"
import { inClear, secretHeaders } from "../../support/headers.ts"

describe("masking", () => {
  for (const [secret, shown] of [
    ["sk-1234567890abcdef", "sk-…cdef"],
    ["gsk_1234567890abcdef", "gsk_…cdef"],
    ["AIzaSyA1234567890", "…7890"],
    ["123456789012", "…9012"],
    ["12345678901", "…"],
    ["", "…"]
  ] as const) {
    it(`shows ${JSON.stringify(secret)} as ${shown}`, () => assert.strictEqual(maskSecret(secret), shown))
  }

  it("masks headers by their names and brings stored values back", () => {
    const plain = { Authorization: "Bearer 1234567890", "x-team": "blue", "x-lab": "abcdefghij0123456789" }
    const stored = secretHeaders(plain)
    const shown = { Authorization: "…7890", "x-team": "blue", "x-lab": "…6789" }
    assert.deepStrictEqual(maskHeaders(stored), shown)
    assert.deepStrictEqual(inClear(unmaskHeaders(secretHeaders(shown), stored)), plain)
    const renewed = unmaskHeaders(secretHeaders({ Authorization: "new" }), stored)
    assert.deepStrictEqual(inClear(renewed), { Authorization: "new" })
    assert.isNull(unmaskHeaders(null, stored))
  })
})

describe("usageLog", () => {
  it("shows ISO time and USD, and nothing of the inner units", () => {
    const log = usageLog(usageRow({ timestampMs: 1_760_000_000_000, costNanoUsd: 1_500_000 }), {
      apiKeyName: "laptop",
      connectionName: null,
      hasDecision: true,
      captureId: null
    })
    assert.deepInclude(log, { apiKeyName: "laptop", connectionName: null, hasDecision: true, captureId: null })
    assert.strictEqual(log.timestamp, "2025-10-09T08:53:20.000Z")
    assert.strictEqual(log.costUsd, 0.0015)
    assert.notProperty(log, "costNanoUsd")
    assert.notProperty(log, "timestampMs")
  })
})
