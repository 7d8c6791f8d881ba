import { assert, describe, it } from "@effect/vitest"
import type { CallsByDay } from "../../../../src/subjects/usageHistory/routes.ts"
import type { Billed } from "../../../../src/subjects/usageHistory/entity/Bill.ts"
import { modelKey, reconcile } from "../../../../src/subjects/usageHistory/entity/Reconciliation.ts"

const date = "2026-09-19"

const billed = (item: string | null, usd: number, lines = 1): Billed => ({ date, item, usd, lines })

const booked = (
  model: string,
  costUsd: number,
  more: Partial<CallsByDay["days"][number]> = {}
): CallsByDay["days"][number] => ({ date, model, calls: 3, costUsd, source: "calls", reasons: [], ...more })

const shown = (bill: ReadonlyArray<Billed>, ledger: CallsByDay["days"], inCents = false) =>
  reconcile(bill, ledger, inCents).rows.map(({ differenceUsd, model, why }) => [
    model,
    Number(differenceUsd.toFixed(9)),
    why
  ])

describe("names of models", () => {
  const same: ReadonlyArray<ReadonlyArray<string>> = [
    ["gpt-4o-mini", "gpt-4o-mini-2024-07-18, input", "gpt-4o-mini-2024-07-18, cached input", "openai/gpt-4o-mini"],
    ["gpt-4o-mini", "evals | gpt-4o-mini-2024-07-18, input"],
    ["gpt-audio-mini", "gpt-audio-mini-2025-12-15 audio, input"],
    ["claude-sonnet-4-5", "claude-sonnet-4-5-20250929", "Claude Sonnet 4.5", "claude-sonnet-4-5@20250929"],
    ["claude-3-haiku-20240307", "Claude Haiku 3"],
    ["claude-3-5-haiku-latest", "Claude Haiku 3.5", "Claude 3.5 Haiku 2024-10-22"]
  ]
  for (const [first = "", ...others] of same) {
    it(`of ${first} are one`, () => {
      for (const other of others) assert.strictEqual(modelKey(other), modelKey(first), other)
    })
  }

  it("of different models stay apart", () => {
    const names = [
      "gpt-4o",
      "gpt-4o-mini",
      "gpt-4.1",
      "gpt-4",
      "Claude Haiku 4.5",
      "Claude Sonnet 4.5",
      "Claude Sonnet 4"
    ]
    assert.strictEqual(new Set(names.map(modelKey)).size, names.length)
  })
})

describe("a bill beside the ledger", () => {
  it("says nothing where both are the same, all items of a model together", () => {
    const bill = [billed("gpt-4o-mini-2024-07-18, input", 0.1), billed("gpt-4o-mini-2024-07-18, output", 0.2)]
    assert.deepStrictEqual(shown(bill, [booked("gpt-4o-mini", 0.3)]), [["gpt-4o-mini", 0, ""]])
  })

  it("explains differences by the calls that have them", () => {
    const reasons = [
      { reason: "unpriced" as const, calls: 2, costUsd: 0, requestIds: ["a", "b"] },
      { reason: "voided" as const, calls: 1, costUsd: 0, requestIds: ["c"] }
    ]
    assert.deepStrictEqual(shown([billed("gpt-4o", 1)], [booked("gpt-4o", 0.5, { reasons })]), [
      ["gpt-4o", 0.5, "2 calls without a known price, booked as 0; 1 call whose answer was not used, booked as 0"]
    ])
  })

  it("adds up a model that is called by several names, and its reasons", () => {
    const reason = (id: string) => [{ reason: "failed" as const, calls: 1, costUsd: 0.25, requestIds: [id] }]
    const { rows } = reconcile(
      [billed("gpt-4o, input", 1)],
      [booked("gpt-4o", 0.25, { reasons: reason("a") }), booked("gpt-4o-2024-08-06", 0.25, { reasons: reason("b") })],
      false
    )
    assert.lengthOf(rows, 1)
    assert.deepInclude(rows[0], { ledgerUsd: 0.5, calls: 6 })
    assert.deepStrictEqual(rows[0]?.reasons, [{ reason: "failed", calls: 2, costUsd: 0.5, requestIds: ["a", "b"] }])
  })

  it("tells what only one of them has", () => {
    assert.deepStrictEqual(shown([billed("web search tool calls", 0.01)], [booked("gpt-4o", 0.5)]), [
      ["web search tool calls", 0.01, "not through this gateway, or with another key of the account"],
      ["gpt-4o", -0.5, "not on the bill"]
    ])
  })

  it("takes up to half a cent an amount for rounding where the bill is in cents", () => {
    const ledger = [booked("claude-haiku-4-5", 0.0812)]
    assert.include(String(shown([billed("Claude Haiku 4.5", 0.07, 3)], ledger, true)[0]?.[2]), "rounded")
    assert.notInclude(String(shown([billed("Claude Haiku 4.5", 0.07, 2)], ledger, true)[0]?.[2]), "rounded")
    assert.notInclude(String(shown([billed("Claude Haiku 4.5", 0.07, 3)], ledger)[0]?.[2]), "rounded")
  })

  it("compares days where the bill names no model", () => {
    const { byDay, rows } = reconcile([billed(null, 1)], [booked("gpt-4o", 0.25), booked("gpt-4.1", 0.75)], false)
    assert.isTrue(byDay)
    assert.deepStrictEqual(
      rows.map(({ model, why }) => [model, why]),
      [[null, ""]]
    )
  })

  it("says of days whose rows were deleted that only sums are left", () => {
    assert.include(
      String(shown([billed("gpt-4o", 1)], [booked("gpt-4o", 0.5, { source: "sums" })])[0]?.[2]),
      "only sums"
    )
  })
})
