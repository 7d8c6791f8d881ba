/** Retries of one prompt are counted together. */
import { assert, describe, it } from "@effect/vitest"
import type { Head } from "../../../src/contract/domain/TrafficRecord.ts"
import { pageOf, type RecordFilter } from "../../../src/observe/inspector/Filters.ts"
import { formatOf } from "../../../src/observe/inspector/reading/Format.ts"
import { promptKeyOf } from "../../../src/observe/inspector/reading/PromptKey.ts"
import { retriedWithinMs } from "../../../src/observe/inspector/Retries.ts"
import { Ring } from "../../../src/observe/inspector/Ring.ts"
import type { JsonObject } from "../../../src/wire/json/Json.ts"
import { aHead } from "../../support/TrafficRecords.ts"

const at = (ms: number): string => new Date(Date.UTC(2026, 10, 24) + ms).toISOString()

const ringOf = (heads: ReadonlyArray<Partial<Head>>, maxEntries = 100_000): Ring => {
  const ring = new Ring({ maxEntries, maxBytes: 1_000_000_000 })
  for (const [place, head] of heads.entries()) {
    ring.set(aHead({ id: `r${place}`, promptKey: "p", status: 529, timestamp: at(place * 1_000), ...head }))
  }
  return ring
}

const linesOf = (ring: Ring, filter: RecordFilter = {}, areFolded = true) =>
  pageOf(ring, filter, { areFolded, limit: 1_000 }).entries.map(({ head: { id } }) => [id, ring.retries.of(id).attempt])

describe("retries", () => {
  it("are one line with their number, for which the newest stands; the line opens", () => {
    const ring = ringOf([{}, { promptKey: "q" }, {}, { status: "error" }, { status: 200 }])
    assert.deepStrictEqual(linesOf(ring), [
      ["r4", 4],
      ["r1", 1]
    ])
    assert.strictEqual(pageOf(ring, {}, { areFolded: true, limit: 1 }).total, 2)
    for (const id of ["r0", "r2", "r4"]) {
      assert.deepStrictEqual(
        linesOf(ring, { retryOf: id }, false).map(([each]) => each),
        ["r4", "r3", "r2", "r0"]
      )
    }
    assert.deepStrictEqual(ring.retries.of("r3"), { retryOf: "r0", attempt: 3 })
    assert.strictEqual(linesOf(ring, {}, false).length, 5)
  })

  it("come after a failure, soon, of the same prompt at the same host, and after a success there is none", () => {
    const late = retriedWithinMs + 1
    const alone: ReadonlyArray<ReadonlyArray<Partial<Head>>> = [
      [{ status: 200 }, { status: 200 }],
      [{ status: "in-flight" }, {}],
      [{}, { host: "api.anthropic.com" }],
      [{}, { promptKey: "q" }],
      [{ promptKey: null }, { promptKey: null }],
      [{}, { timestamp: at(late) }]
    ]
    for (const heads of alone) assert.strictEqual(linesOf(ringOf(heads)).length, 2, JSON.stringify(heads))
    // From the end of the attempt before: one that timed out took long.
    const slow = ringOf([{ totalLatencyMs: retriedWithinMs }, { timestamp: at(late) }])
    assert.deepStrictEqual(linesOf(slow), [["r1", 2]])
    const host = ringOf([{ host: "API.openai.com" }, { host: "api.openai.com" }])
    assert.deepStrictEqual(linesOf(host), [["r1", 2]])
  })

  it("are counted by their beginnings, anew where an attempt ends late, and without those that were rotated out", () => {
    const ring = ringOf([{ status: "in-flight" }, {}])
    assert.strictEqual(linesOf(ring).length, 2)
    ring.set(aHead({ id: "r0", promptKey: "p", status: "error", timestamp: at(0) }))
    assert.deepStrictEqual(linesOf(ring), [["r1", 2]])
    assert.deepStrictEqual(linesOf(ringOf([{}, {}, {}, {}], 2)), [["r3", 2]])
    ring.clear()
    ring.set(aHead({ id: "r1", promptKey: "p", status: 500, timestamp: at(9) }))
    assert.deepStrictEqual(linesOf(ring), [["r1", 1]])
  })

  it("tell the newest of them, which changes when an earlier one turns out to have failed", () => {
    const ring = ringOf([{}, { status: "in-flight" }, {}])
    assert.deepStrictEqual(
      ["r0", "r1", "r2"].map((id) => ring.retries.last(id)),
      ["r1", "r1", "r2"]
    )
    ring.set(aHead({ id: "r1", promptKey: "p", status: 503, timestamp: at(1_000) }))
    assert.deepStrictEqual(
      ["r0", "r1", "r2"].map((id) => ring.retries.last(id)),
      ["r2", "r2", "r2"]
    )
  })

  it("of a large storm are counted in one go", () => {
    const ring = ringOf(Array.from({ length: 20_000 }, () => ({})))
    assert.deepStrictEqual(linesOf(ring), [["r19999", 20_000]])
    assert.strictEqual(ring.retries.together("r7").length, 20_000)
  })
})

describe("the key of a prompt", () => {
  const keyOf = (path: string, body: JsonObject): string => {
    const format = formatOf(path, body)
    assert.isNotNull(format)
    return promptKeyOf(format)
  }
  const chat = { model: "m", messages: [{ role: "user", content: "Hi" }] }
  const gemini = { contents: [{ role: "user", parts: [{ text: "Hi" }] }] }

  it("is the same whether the answer is streamed, and whatever the metadata", () => {
    const key = keyOf("/v1/chat/completions", chat)
    assert.match(key, /^[0-9a-f]{12}$/)
    const others = [
      { stream: true },
      { stream: true, stream_options: { include_usage: true } },
      { metadata: { a: "1" } }
    ]
    for (const more of others) assert.strictEqual(keyOf("/v1/chat/completions", { ...chat, ...more }), key)
    assert.strictEqual(
      keyOf("/v1beta/models/m:generateContent", gemini),
      keyOf("/v1beta/models/m:streamGenerateContent?alt=sse", gemini)
    )
  })

  it("is another one of anything else", () => {
    const key = keyOf("/v1/chat/completions", chat)
    for (const more of [{ model: "n" }, { temperature: 0 }, { messages: [{ role: "user", content: "Ho" }] }]) {
      assert.notStrictEqual(keyOf("/v1/chat/completions", { ...chat, ...more }), key)
    }
    assert.notStrictEqual(keyOf("/v1/messages", { ...chat, max_tokens: 1 }), key)
    assert.notStrictEqual(
      keyOf("/v1beta/models/m:generateContent", gemini),
      keyOf("/v1beta/models/n:generateContent", gemini)
    )
  })
})
