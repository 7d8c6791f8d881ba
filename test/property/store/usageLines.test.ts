/** The journal's lines are written by hand; they are what `JSON.stringify` would write. */
import { assert, describe, it } from "@effect/vitest"
import * as FastCheck from "effect/FastCheck"
import { makeUsageLine } from "../../../src/store/UsageLines.ts"
import { usageRow } from "../../support/usageRow.ts"

const name = FastCheck.fullUnicodeString({ maxLength: 200 })
const maybeName = FastCheck.option(name)
const number = FastCheck.oneof(FastCheck.nat(), FastCheck.double())

const rows = FastCheck.record({
  apiKeyId: maybeName,
  requestedModel: name,
  combo: maybeName,
  provider: maybeName,
  connectionId: maybeName,
  model: maybeName,
  targetWire: FastCheck.constantFrom("chat" as const, "gemini" as const, null),
  streamed: FastCheck.boolean(),
  outcome: FastCheck.constantFrom("completed" as const, "failed" as const, "aborted" as const),
  latencyMs: number,
  ttftMs: FastCheck.option(number),
  tokens: FastCheck.record({ in: number, out: number, cacheRead: number, cacheWrite: number, reasoning: number }),
  costNanoUsd: number,
  priced: FastCheck.boolean(),
  error: maybeName
})

describe("a line of the usage journal", () => {
  it("is the JSON of its row", () => {
    const lineOf = makeUsageLine()
    FastCheck.assert(
      FastCheck.property(rows, (more) => {
        const row = usageRow(more)
        assert.strictEqual(lineOf(row), JSON.stringify(row))
      })
    )
  })
})
