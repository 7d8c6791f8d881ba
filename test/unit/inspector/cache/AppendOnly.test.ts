/** A conversation that only grows breaks no cache, however its wire, its reasoning and its provider's counts look. */
import { assert, describe, it } from "@effect/vitest"
import type { WireName } from "../../../../src/contract/domain/Wire.ts"
import { CacheFinder } from "../../../../src/observe/inspector/cache/CacheFinder.ts"
import type { CacheVerdict } from "../../../../src/observe/inspector/cache/CacheCall.ts"
import type { JsonObject } from "../../../../src/wire/json/Json.ts"
import { counted } from "../../../support/slowRun.ts"
import { bodyOf, eventsOf, system, tools } from "./Conversations.ts"
import { type CacheKind, PlayedCache } from "./PromptCaches.ts"

const turns = counted(150, 500)
const price = { input: 3, output: 15, cached: 0.3, cacheCreation: 3.75 }

interface Provider {
  readonly wire: WireName
  readonly provider: string
  readonly model: string
  readonly cache: CacheKind | null
}

const providers: ReadonlyArray<Provider> = [
  { wire: "chat", provider: "openai", model: "gpt-5.1", cache: "openai" },
  { wire: "messages", provider: "anthropic", model: "claude-sonnet-4-5", cache: "claude" },
  { wire: "responses", provider: "openai", model: "gpt-5.1", cache: "openai" },
  { wire: "gemini", provider: "gemini", model: "gemini-2.5-pro", cache: "gemini" },
  { wire: "ollama", provider: "ollama", model: "qwen3", cache: null },
  { wire: "chat", provider: "deepseek", model: "deepseek-chat", cache: "deepseek" }
]

const play = ({ cache: kind, model, provider, wire }: Provider, keepsReasoning: boolean, count: number) => {
  const finder = new CacheFinder({ priceOf: () => price })
  const cache = kind === null ? null : new PlayedCache(kind)
  const verdicts: Array<CacheVerdict> = []
  const told: Array<string> = []
  let atMs = 1_000_000
  for (let at = 0; at < count; at += 1) {
    const body = bodyOf(wire, { tools, system, events: eventsOf(at + 1, keepsReasoning) })
    // Within the time an entry is kept, sometimes by a second.
    atMs += at % 7 === 6 ? 298_000 : 9_000 + (at % 5) * 1_000
    const reported =
      cache === null
        ? { in: 0, cacheRead: 0, cacheWrite: 0 }
        : cache.ask({ provider, account: "a", model, wire, body, atMs })
    const finding = finder.observe({
      id: `call-${at}`,
      atMs,
      answeredAtMs: atMs + 800,
      wire,
      provider,
      account: "a",
      model,
      askedModel: model,
      body: body as JsonObject,
      sent: null,
      isRouted: true,
      isAnswered: true,
      reported
    })
    verdicts.push(finding.verdict)
    if (finding.cause !== null) told.push(`${at}: ${JSON.stringify(finding)}`)
  }
  return { verdicts, told, finder }
}

describe("a conversation that only grows", () => {
  for (const provider of providers) {
    for (const keepsReasoning of provider.wire === "messages" || provider.wire === "responses"
      ? [false, true]
      : [false]) {
      it(`tells no break in ${turns} turns on ${provider.wire} at ${provider.provider}, reasoning ${keepsReasoning ? "kept" : "dropped"}`, () => {
        const { finder, told, verdicts } = play(provider, keepsReasoning, turns)
        assert.deepStrictEqual(told.slice(0, 3), [])
        assert.strictEqual(verdicts[0], "first")
        const expected = provider.cache === null ? "unknown" : "hit"
        assert.deepStrictEqual([...new Set(verdicts.slice(1))], [expected])
        assert.deepStrictEqual(finder.breaks(0, 100), { breaks: [], lostTokens: 0, lostUsd: 0 })
      }, 120_000)
    }
  }
})
