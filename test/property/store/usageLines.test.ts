/** The journal's lines are written by hand; what is read of a file are the rows that were written. */
import { assert, describe, it } from "@effect/vitest"
import * as FastCheck from "effect/FastCheck"
import type { UsageRow } from "../../../src/contract/domain/Usage.ts"
import { PerFacts } from "../../../src/contract/domain/UsageFacts.ts"
import { factsLine, readLines, UsageLines } from "../../../src/store/usage/UsageLines.ts"
import { usageRow } from "../../support/usageRow.ts"

const name = FastCheck.fullUnicodeString({ maxLength: 200 })
const maybeName = FastCheck.option(name)
const number = FastCheck.oneof(FastCheck.nat(), FastCheck.double())

const call = FastCheck.record({
  attempt: FastCheck.nat(),
  provider: name,
  connectionId: name,
  model: name,
  state: FastCheck.constantFrom("settled" as const, "voided" as const, "estimated" as const),
  reservedNanoUsd: FastCheck.nat(),
  settledNanoUsd: FastCheck.nat(),
  price: FastCheck.constantFrom(null, { input: 1, output: 2.5 }),
  createdAtMs: FastCheck.nat(),
  settledAtMs: FastCheck.nat()
})

const changes = FastCheck.record({
  id: name,
  requestId: FastCheck.option(name, { nil: undefined }),
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
  price: FastCheck.constantFrom(null, { input: 1, output: 2.5 }, { input: 0.1, output: 3, cached: 0.01 }),
  reservedNanoUsd: number,
  calls: FastCheck.option(FastCheck.array(call, { maxLength: 3 })),
  error: maybeName,
  batchId: maybeName,
  answeredFrom: FastCheck.constantFrom(null, "cache" as const, "coalesced" as const)
})

const kept = (value: number): number => (Number.isFinite(value) && value !== 0 ? value : 0)

/** As JSON keeps it: it knows neither NaN nor infinity. */
const asKept = ({ tokens, ...row }: UsageRow): UsageRow => ({
  ...row,
  latencyMs: kept(row.latencyMs),
  ttftMs: row.ttftMs === null || !Number.isFinite(row.ttftMs) ? null : kept(row.ttftMs),
  tokens: {
    in: kept(tokens.in),
    out: kept(tokens.out),
    cacheRead: kept(tokens.cacheRead),
    cacheWrite: kept(tokens.cacheWrite),
    reasoning: kept(tokens.reasoning)
  },
  costNanoUsd: kept(row.costNanoUsd),
  reservedNanoUsd: kept(row.reservedNanoUsd)
})

/** Few different facts, so that rows share them. */
const rows = FastCheck.tuple(FastCheck.array(changes, { minLength: 1, maxLength: 4 }), FastCheck.array(changes)).map(
  ([few, measured]) =>
    measured.map(({ calls, costNanoUsd, id, latencyMs, requestId, reservedNanoUsd, tokens, ttftMs }, index) => {
      const own = { id, requestId: requestId ?? id, latencyMs, ttftMs, tokens, costNanoUsd, reservedNanoUsd, calls }
      return usageRow({ ...few[index % few.length], ...own })
    })
)

const writer = () => {
  const lines = new UsageLines()
  const facts = new PerFacts(factsLine)
  return {
    begin: () => lines.begin(),
    file: (all: ReadonlyArray<UsageRow>) => all.flatMap((row) => lines.of(row, facts.of(row)).split("\n"))
  }
}

describe("the lines of the usage journal", () => {
  it("give back their rows, each file by itself", () => {
    FastCheck.assert(
      FastCheck.property(rows, rows, (first, second) => {
        const { begin, file } = writer()
        assert.deepStrictEqual(readLines(file(first)), { rows: first.map(asKept), tornLines: 0 })
        begin()
        assert.deepStrictEqual(readLines(file(second)), { rows: second.map(asKept), tornLines: 0 })
      })
    )
  })

  it("give back whole rows as earlier versions wrote them", () => {
    FastCheck.assert(
      FastCheck.property(rows, (all) => {
        const lines = all.map((row) => JSON.stringify(row))
        assert.deepStrictEqual(readLines(lines), { rows: all.map(asKept), tornLines: 0 })
      })
    )
  })

  it("lose no more than the line that was cut, wherever it was cut", () => {
    const written = writer().file([usageRow({ id: "a" }), usageRow({ id: "b" }), usageRow({ id: "c", model: "else" })])
    const text = written.join("\n")
    for (let end = 0; end < text.length; end += 1) {
      const lines = text
        .slice(0, end)
        .split("\n")
        .filter((line) => line !== "")
      const whole = lines.filter((line, index) => line === written[index])
      const { rows: read, tornLines } = readLines(lines)
      assert.strictEqual(tornLines, lines.length - whole.length)
      assert.deepStrictEqual(
        read.map(({ id }) => id),
        ["a", "b", "c"].slice(0, whole.filter((line) => line.startsWith("[")).length)
      )
    }
  })

  it("do not take a row for one whose facts are missing", () => {
    const [, row = ""] = writer().file([usageRow()])
    assert.deepStrictEqual(readLines([row]), { rows: [], tornLines: 1 })
  })
})
