import { assert, describe, it } from "@effect/vitest"
import type { AttemptRecord } from "../../../src/subjects/routing/entity.ts"
import { capacity, LatencyWindow } from "../../../src/observe/usage/telemetry/LatencyWindow.ts"
import * as SessionBook from "../../../src/observe/usage/telemetry/SessionBook.ts"
import { usageRow } from "../../support/usageRow.ts"

const beginMs = 1_760_000_000_000

const attempt = (startedMs: number): AttemptRecord => ({
  provider: "openai",
  connectionId: "c",
  model: "m",
  status: 200,
  outcome: "completed",
  reason: "ok",
  startedMs,
  latencyMs: 1
})

describe("LatencyWindow", () => {
  it("tells the phases of a request apart, and leaves out what is older than the window", () => {
    const window = new LatencyWindow()
    const old = usageRow({ timestampMs: beginMs - 100_000, latencyMs: 5_000 })
    window.add({ row: old, attempts: [attempt(old.timestampMs)] })
    for (let n = 1; n <= 100; n += 1) {
      const row = usageRow({
        timestampMs: beginMs,
        latencyMs: n * 10,
        ttftMs: 8,
        outcome: n <= 25 ? "failed" : "completed"
      })
      window.add({ row, attempts: [attempt(beginMs + 2), attempt(beginMs + 5)] })
    }
    const found = window.read(60_000, beginMs + 1_000)
    assert.deepStrictEqual([found.requests, found.errorRate, found.coveredMs], [100, 0.25, 60_000])
    assert.deepStrictEqual(found.providers, [{ provider: "openai", count: 100, p50: 500, p95: 950, p99: 990 }])
    assert.deepStrictEqual(
      found.phases.map(({ p50, phase }) => [phase, p50]),
      [
        ["resolve", 2],
        ["failover", 3],
        ["connect", 3],
        ["stream", 492]
      ]
    )
  })

  it("remembers a bounded number of requests, and says what time that covers", () => {
    const window = new LatencyWindow()
    for (let n = 0; n < capacity + 1_000; n += 1)
      window.add({ row: usageRow({ timestampMs: beginMs + n, latencyMs: 0 }) })
    const found = window.read(3_600_000, beginMs + capacity + 1_000)
    assert.strictEqual(found.requests, capacity)
    assert.strictEqual(found.coveredMs, capacity)
  })
})

describe("SessionBook", () => {
  it("counts the requests of a session, forgets idle ones, and is bounded", () => {
    const book = new SessionBook.SessionBook()
    const row = usageRow({ timestampMs: beginMs, latencyMs: 0 })
    for (let n = 0; n < 3; n += 1) book.seen({ row, sessionKey: "s" })
    book.seen({ row })
    book.seen({ row: usageRow({ ...row, connectionId: null }) })
    const [first, second] = book.list(beginMs + 1).toSorted((one, other) => other.requests - one.requests)
    assert.deepInclude(first, { requests: 3, named: true, model: "gpt-4.1" })
    assert.deepInclude(second, { requests: 1, named: false })
    assert.lengthOf(book.list(beginMs + SessionBook.ttlMs), 0)
    for (let n = 0; n < 500; n += 1) book.seen({ row, sessionKey: `s${n}` })
    assert.lengthOf(book.list(beginMs + 1), SessionBook.capacity)
  })
})
