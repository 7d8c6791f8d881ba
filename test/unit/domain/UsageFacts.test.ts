import { assert, describe, it } from "@effect/vitest"
import type { UsageRow } from "../../../src/contract/domain/Usage.ts"
import { PerFacts, type UsageFacts } from "../../../src/contract/domain/UsageFacts.ts"
import { usageRow } from "../../support/usageRow.ts"

const counting = () => {
  const made: Array<UsageFacts> = []
  return { made, perFacts: new PerFacts((facts) => made.push(facts)) }
}

describe("what is made once for rows that share their facts", () => {
  it("tells rows apart by every fact and by nothing else", () => {
    const { made, perFacts } = counting()
    const first = perFacts.of(usageRow())
    const measured = { id: "other", latencyMs: 1, ttftMs: null, costNanoUsd: 7, timestampMs: 1 }
    assert.strictEqual(perFacts.of(usageRow(measured)), first)
    const facts: ReadonlyArray<Partial<UsageRow>> = [
      { apiKeyId: null },
      { requestedModel: "else" },
      { combo: "else" },
      { provider: "else" },
      { connectionId: "else" },
      { model: "else" },
      { sourceWire: "gemini" },
      { targetWire: null },
      { streamed: true },
      { outcome: "failed" },
      { status: 503 },
      { attempts: 2 },
      { priced: false },
      { price: { input: 1, output: 2 } },
      { usageSource: "estimated" },
      { error: "else" }
    ]
    const values = facts.map((fact) => perFacts.of(usageRow(fact)))
    assert.lengthOf(new Set([first, ...values]), facts.length + 1)
    assert.deepStrictEqual(
      facts.map((fact) => perFacts.of(usageRow(fact))),
      values
    )
    assert.strictEqual(perFacts.of(usageRow()), first)
    for (const [index, fact] of facts.entries()) assert.include(made[index + 1], fact)
    assert.notProperty(made[0], "tokens")
  })

  it("is bounded in all, and for one caller and model", () => {
    const { made, perFacts } = counting()
    for (let n = 0; n < 100; n += 1) perFacts.of(usageRow({ error: `reason ${n}` }))
    perFacts.of(usageRow({ error: "reason 99" }))
    assert.lengthOf(made, 100)
    perFacts.of(usageRow({ error: "reason 0" }))
    assert.lengthOf(made, 101)
    for (let n = 0; n < 1_100; n += 1) perFacts.of(usageRow({ requestedModel: `model ${n}` }))
    perFacts.of(usageRow({ requestedModel: "model 1099" }))
    assert.lengthOf(made, 1_201)
    perFacts.of(usageRow({ requestedModel: "model 1" }))
    assert.lengthOf(made, 1_202)
  })

  it("does not keep long texts", () => {
    const { made, perFacts } = counting()
    const long = usageRow({ error: "x".repeat(2_000) })
    perFacts.of(long)
    perFacts.of(long)
    assert.lengthOf(made, 2)
  })
})
