import { assert, describe, it } from "@effect/vitest"
import type { UsageFacts } from "../../../src/contract/domain/UsageFacts.ts"
import { addParameters, toUsageRow } from "../../../src/store/usage/UsageColumns.ts"
import type { Column } from "../../../src/store/engine/Columns.ts"
import { factsLine, readLines, UsageLines } from "../../../src/store/usage/UsageLines.ts"
import { usageRow } from "../../support/usageRow.ts"

const told = { in: 1_000_000_000, out: 7, cacheRead: 3, cacheWrite: 2, reasoning: 1 }

const linesOf = (rows: ReadonlyArray<ReturnType<typeof usageRow>>): ReadonlyArray<string> => {
  const lines = new UsageLines()
  lines.begin()
  return rows.flatMap((row) => {
    const { calls: _calls, costNanoUsd: _cost, id: _id, latencyMs: _latency, requestId: _request, ...more } = row
    const {
      reservedNanoUsd: _reserved,
      timestampMs: _time,
      tokens: _tokens,
      told: _told,
      ttftMs: _ttft,
      ...shared
    } = more
    const facts: UsageFacts = shared
    return lines.of(row, factsLine(facts)).split("\n")
  })
}

describe("a count that was told and is not believed", () => {
  it("is in the journal's line of its row, and in no other", () => {
    const rows = [usageRow({ told }), usageRow({ told: null }), usageRow({ told, reservedNanoUsd: 5, requestId: "r" })]
    assert.deepStrictEqual(readLines(linesOf(rows)), { rows, tornLines: 0 })
  })

  it("is a column of its row", () => {
    const columns: Array<Column> = []
    addParameters(columns, usageRow({ told }))
    assert.include(columns, JSON.stringify(told))
    const { tokens, calls: _calls, told: _told, ...rest } = usageRow()
    const read = toUsageRow({
      ...rest,
      node: null,
      tokensIn: tokens.in,
      tokensOut: tokens.out,
      tokensCacheRead: tokens.cacheRead,
      tokensCacheWrite: tokens.cacheWrite,
      tokensReasoning: tokens.reasoning,
      toldTokens: told
    })
    assert.deepStrictEqual(read, usageRow({ told }))
  })
})
