import { assert, describe, it } from "@effect/vitest"
import type { CacheCall } from "../../../../src/observe/inspector/cache/CacheCall.ts"
import { CacheBreaks } from "../../../../src/observe/inspector/cache/CacheBreaks.ts"
import { CacheFinder } from "../../../../src/observe/inspector/cache/CacheFinder.ts"
import type { JsonObject } from "../../../../src/wire/json/Json.ts"
import { bodyOf, eventsOf, retold, system, talk, tools } from "./Conversations.ts"

const call = (id: string, atMs: number, body: object, more: Partial<CacheCall> = {}): CacheCall => ({
  id,
  atMs,
  answeredAtMs: atMs + 100,
  wire: "chat",
  provider: "openai",
  account: "a",
  model: "gpt-5.1",
  askedModel: "gpt-5.1",
  body: body as JsonObject,
  sent: null,
  isRouted: true,
  isAnswered: true,
  reported: { in: 4_000, cacheRead: 0, cacheWrite: 0 },
  ...more
})

const limits = { maxCalls: 50, maxNodes: 400, maxChars: 300_000, maxPartChars: 1_000 }

describe("what is remembered of calls", () => {
  it("stays within its limits, whatever comes", () => {
    const finder = new CacheFinder({ priceOf: () => null, limits, maxFindings: 60 })
    for (let at = 0; at < 600; at += 1) {
      const body = bodyOf("chat", {
        tools,
        system: `${at} ${system}`,
        events: eventsOf(1 + (at % 9)).map((event) => ("text" in event ? retold(event, `${event.text} ${at}`) : event))
      })
      finder.observe(call(`c${at}`, 1_000 * at, body))
      const { breaks, calls, chars, findings, nodes, owners } = finder.size
      assert.isAtMost(calls, 50)
      assert.isAtMost(nodes, 400)
      assert.isAtMost(chars, 300_000)
      assert.isAtMost(owners, 16_384)
      assert.isAtMost(findings, 60)
      assert.isAtMost(breaks, 120)
    }
    assert.isNull(finder.of("c0"))
    assert.isNotNull(finder.of("c599"))
  })

  it("takes a prompt that is larger than all of it, and goes on", () => {
    const finder = new CacheFinder({ priceOf: () => null, limits })
    const content = Array.from({ length: 3_000 }, (_, at) => ({ type: "text", text: `Part ${at}. ${"x".repeat(500)}` }))
    finder.observe(call("large", 1_000, { messages: [{ role: "user", content }] }))
    assert.isAtMost(finder.size.nodes, 400)
    assert.isAtMost(finder.size.chars, 300_000)
    finder.observe(call("one", 2_000, bodyOf("chat", talk(1))))
    const { comparedWith } = finder.observe(call("two", 3_000, bodyOf("chat", talk(2))))
    assert.strictEqual(comparedWith, "one")
  })

  it("keeps a part that is too long by its beginning, and still finds where it differs", () => {
    const finder = new CacheFinder({ priceOf: () => null, limits })
    const rules = system.repeat(3)
    for (let turn = 1; turn <= 3; turn += 1) {
      finder.observe(call(`c${turn}`, turn * 10_000, bodyOf("chat", { ...talk(turn), system: rules })))
    }
    const early = finder.observe(
      call("early", 40_000, bodyOf("chat", { ...talk(4), system: rules.replace("2026-11-24", "2027-11-24") }))
    )
    assert.deepInclude(early.cause, { rule: "system_changed", path: "messages[0].content" })
    assert.include(early.cause?.before ?? "", "2026-11-24")
    const late = finder.observe(
      call("late", 50_000, bodyOf("chat", { ...talk(5), system: `${rules.replace("2026-11-24", "2027-11-24")} End.` }))
    )
    assert.deepInclude(late.cause, { rule: "system_changed", path: "messages[0].content", before: null })
  })

  it("names the member that differs in a part that is too long to be kept", () => {
    const finder = new CacheFinder({ priceOf: () => null, limits })
    const offered = tools.map((tool) =>
      Object.assign({}, tool, { description: "Short.", schema: { type: "object", description: system } })
    )
    const other = offered.map((tool) =>
      Object.assign({}, tool, { schema: { ...tool.schema, description: `Not ${system}` } })
    )
    finder.observe(call("one", 10_000, bodyOf("chat", { ...talk(2), tools: offered })))
    const { cause } = finder.observe(call("two", 20_000, bodyOf("chat", { ...talk(3), tools: other })))
    assert.deepInclude(cause, { rule: "tools_changed", path: "tools[0].function.parameters.description" })
    assert.include(cause?.before ?? "", '"description":"You are')
    assert.include(cause?.after ?? "", '"description":"Not You are')
  })

  it("forgets a call that was not answered, and all when it is told to", () => {
    const finder = new CacheFinder({ priceOf: () => null })
    finder.observe(call("failed", 1_000, bodyOf("chat", talk(1)), { isAnswered: false, reported: null }))
    assert.strictEqual(finder.observe(call("one", 2_000, bodyOf("chat", talk(1)))).verdict, "first")
    finder.clear()
    assert.deepStrictEqual(finder.size, { calls: 0, nodes: 0, chars: 0, owners: 0, findings: 0, breaks: 0 })
    assert.strictEqual(finder.observe(call("two", 3_000, bodyOf("chat", talk(2)))).verdict, "first")
  })
})

describe("the list of breaks", () => {
  const finding = {
    verdict: "broken",
    cause: { by: "provider", rule: "provider_missed", path: null, before: null, after: null },
    comparedWith: null,
    expectedTokens: 10,
    tokens: { in: 10, cacheRead: 0, cacheWrite: 0 },
    lostTokens: 10
  } as const

  it("is newest first, since a moment, with the sums of all of them", () => {
    const breaks = new CacheBreaks(3)
    for (let at = 1; at <= 5; at += 1) breaks.add(`r${at}`, at, { ...finding, lostUsd: at === 4 ? null : 0.5 })
    breaks.add("whole", 6, { ...finding, cause: null, lostUsd: null })
    const { breaks: told, lostTokens, lostUsd } = breaks.list(4, 1)
    assert.deepStrictEqual(
      told.map(({ requestId }) => requestId),
      ["r5"]
    )
    assert.deepStrictEqual({ lostTokens, lostUsd }, { lostTokens: 20, lostUsd: 0.5 })
    assert.strictEqual(breaks.list(0, 100).breaks.length, 3)
  })
})
