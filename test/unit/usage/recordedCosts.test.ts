/**
 * What recorded answers cost, whole and streamed, against sums made by hand. Each fixture has the provider's usage, the address it was
 * read at, prices, the sum as terms of tokens and USD per 1,000,000 tokens, and its result. Where the provider told what it billed, that
 * stands in `billed`.
 */
import { assert, describe, it } from "@effect/vitest"
import { findProvider } from "@pydantic/genai-prices"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import { readdirSync, readFileSync } from "node:fs"
import type { ModelPrice } from "../../../src/subjects/pricing/entity.ts"
import { nanoUsdPerUsd, noTokens, type TokenCounts } from "../../../src/contract/domain/Usage.ts"
import type { WireName } from "../../../src/contract/domain/Wire.ts"
import * as DefaultPrices from "../../../src/observe/usage/DefaultPrices.ts"
import { registry } from "../../../src/plane/providers/Registry.ts"
import { usageOn } from "../../../src/plane/providers/registry/usage.ts"
import { costNanoUsd, formatUsd10 } from "../../../src/observe/usage/Cost.ts"
import { codecs } from "../../../src/wire/Codec.ts"
import type { JsonObject } from "../../../src/wire/json/Json.ts"

interface Recorded {
  readonly provider: string
  readonly model: string
  readonly wire: WireName
  readonly source: string
  readonly usage: JsonObject
  readonly price: ModelPrice
  readonly terms: ReadonlyArray<readonly [tokens: number, usdPer1M: number]>
  readonly usd: string
  readonly billed?: string
  /** Numbers of no answer, in the shape that the page at `source` documents. */
  readonly madeUp?: true
  /** Tokens that the provider's own total leaves out. */
  readonly outsideTotal?: number
}

const nowMs = Date.UTC(2026, 8, 23)
const folder = new URL("../../fixtures/usage/", import.meta.url)
const families = readdirSync(folder).map((file) => {
  const cases: ReadonlyArray<Recorded> = JSON.parse(readFileSync(new URL(file, folder), "utf8"))
  return { family: file.replace(".json", ""), cases }
})

const whole = (wire: WireName, usage: JsonObject): JsonObject => {
  switch (wire) {
    case "chat":
      return { choices: [{ index: 0, message: { role: "assistant", content: "hi" }, finish_reason: "stop" }], usage }
    case "responses":
      return {
        id: "r1",
        object: "response",
        status: "completed",
        model: "m",
        output: [{ type: "message", role: "assistant", content: [{ type: "output_text", text: "hi" }] }],
        usage
      }
    case "messages":
      return {
        type: "message",
        role: "assistant",
        content: [{ type: "text", text: "hi" }],
        stop_reason: "end_turn",
        usage
      }
    case "gemini":
      return {
        candidates: [{ content: { parts: [{ text: "hi" }], role: "model" }, finishReason: "STOP", index: 0 }],
        usageMetadata: usage
      }
    case "ollama":
      return { model: "m", message: { role: "assistant", content: "hi" }, done: true, done_reason: "stop", ...usage }
  }
}

const sse = (events: ReadonlyArray<JsonObject>, end = ""): string =>
  events
    .map((event) => `${"type" in event ? `event: ${String(event["type"])}\n` : ""}data: ${JSON.stringify(event)}\n\n`)
    .join("") + end

const streamed = (wire: WireName, usage: JsonObject): string => {
  switch (wire) {
    case "chat":
      return sse(
        [
          { id: "c", model: "m", choices: [{ index: 0, delta: { content: "hi" }, finish_reason: null }] },
          { id: "c", model: "m", choices: [{ index: 0, delta: {}, finish_reason: "stop" }] },
          { id: "c", model: "m", choices: [], usage }
        ],
        "data: [DONE]\n\n"
      )
    case "responses":
      return sse([
        { type: "response.created", response: { id: "r1", status: "in_progress", model: "m", output: [] } },
        { type: "response.output_text.delta", output_index: 0, content_index: 0, item_id: "i", delta: "hi" },
        { type: "response.completed", response: whole(wire, usage) }
      ])
    case "messages": {
      // The start has the whole prompt and the first token; the end repeats the totals.
      const start = { ...usage, output_tokens: 1 }
      return sse([
        { type: "message_start", message: { id: "m1", type: "message", role: "assistant", content: [], usage: start } },
        { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
        { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "hi" } },
        { type: "content_block_stop", index: 0 },
        { type: "message_delta", delta: { stop_reason: "end_turn" }, usage },
        { type: "message_stop" }
      ])
    }
    case "gemini":
      // Every piece repeats the running totals.
      return sse([
        { candidates: [{ content: { parts: [{ text: "h" }], role: "model" }, index: 0 }], usageMetadata: usage },
        whole(wire, usage)
      ])
    case "ollama":
      return [{ model: "m", message: { role: "assistant", content: "hi" }, done: false }, whole(wire, usage)]
        .map((line) => `${JSON.stringify(line)}\n`)
        .join("")
  }
}

/** Exact: 10 decimals of a USD are the unit. */
const tenths = (usd: string): bigint => {
  assert.match(usd, /^\d+\.\d{10}$/)
  return BigInt(usd.replace(".", ""))
}

/** USD per 1,000,000 tokens in billionths of it; the sum of terms is then 1e-15 USD. */
const sumOf = (terms: Recorded["terms"]): bigint =>
  terms.reduce((sum, [tokens, price]) => sum + BigInt(tokens) * BigInt(Math.round(price * 1e9)), 0n)

const totalOf = (usage: JsonObject): number | null => {
  const total = usage["total_tokens"] ?? usage["totalTokenCount"]
  return typeof total === "number" ? total : null
}

/** The base prices of text alone: tiers, kinds of tokens and tools are compared with the package's calculator (`packagePrices.test.ts`). */
const flat = ({ cacheCreation, cacheCreation1h, cached, input, output, reasoning }: ModelPrice): ModelPrice => ({
  input,
  output,
  ...(cached === undefined ? {} : { cached }),
  ...(cacheCreation === undefined ? {} : { cacheCreation }),
  ...(cacheCreation1h === undefined ? {} : { cacheCreation1h }),
  ...(reasoning === undefined ? {} : { reasoning })
})

describe("costs of recorded answers", () => {
  for (const { cases, family } of families) {
    for (const [at, recorded] of cases.entries()) {
      const { billed, model, outsideTotal, price, provider, source, terms, usage, usd, wire } = recorded
      const known = registry.get(provider)!.dialect
      const dialect = { ...known, usage: usageOn(wire, known.usage) }
      const codec = codecs[wire]
      const costs = (read: TokenCounts | null) => formatUsd10(costNanoUsd(read ?? noTokens, price))

      it(`${family} ${at}: ${provider}, ${model}, on the ${wire} wire`, () => {
        assert.strictEqual(new URL(source).protocol, "https:")
        assert.strictEqual(sumOf(terms), tenths(usd) * 100_000n, "the terms are the sum")
        const total = totalOf(usage)
        if (total !== null) {
          const tokens = terms.reduce((sum, [count]) => sum + count, 0)
          assert.strictEqual(tokens, total + (outsideTotal ?? 0), "every token stands in one term")
        }
        if (billed !== undefined) assert.strictEqual(usd, billed)

        const answer = whole(wire, usage)
        assert.strictEqual(costs(codec.readAnswer(answer, dialect).usage), usd, "relayed")
        assert.strictEqual(costs(Either.getOrThrow(codec.decodeResponse(answer, dialect)).usage), usd, "translated")

        const bytes = Buffer.from(streamed(wire, usage))
        const tap = codec.makeStreamTap({ hideUsage: false, dialect })
        tap.push(bytes)
        tap.end()
        assert.strictEqual(costs(tap.facts.usage), usd, "relayed stream")

        const decoder = codec.makeStreamDecoder(dialect)
        const reports = [...decoder.push(bytes), ...decoder.end()].flatMap((event) =>
          event.type === "usage" ? [event.usage] : []
        )
        assert.strictEqual(costs(Object.assign({}, noTokens, ...reports)), usd, "translated stream")
      })
    }
  }

  it.effect("are exact to 1e-10 USD at every price that the gateway comes with", () =>
    Effect.gen(function* () {
      const { find } = yield* DefaultPrices.load
      const prices = new Map<string, ModelPrice>()
      for (const [provider, theirs] of DefaultPrices.listedAs) {
        for (const { id } of findProvider({ providerId: theirs })?.models ?? []) {
          const price = find(provider, id)?.(nowMs) ?? null
          if (price !== null) prices.set(JSON.stringify(flat(price)), flat(price))
        }
      }
      assert.isAbove(prices.size, 200)
      const isFine = ({ input, output }: ModelPrice): boolean =>
        [input, output].some((each) => !Number.isInteger(Math.round(each * 1e9) / 1e6))
      assert.isTrue([...prices.values()].some(isFine), "some are finer than a nano-USD per token")
      const all = families.flatMap(({ cases }) => cases)
      for (const { provider, usage, wire } of all) {
        const { dialect } = registry.get(provider)!
        const read = codecs[wire].readAnswer(whole(wire, usage), {
          ...dialect,
          usage: usageOn(wire, dialect.usage)
        }).usage
        assert.isNotNull(read)
        const { cacheRead, cacheWrite, cacheWrite1h = 0, in: prompt, out, reasoning } = read
        for (const price of prices.values()) {
          const written = price.cacheCreation ?? price.input
          const exact = sumOf([
            [prompt - cacheRead - cacheWrite, price.input],
            [cacheRead, price.cached ?? price.input],
            [cacheWrite - cacheWrite1h, written],
            [cacheWrite1h, price.cacheCreation1h ?? written],
            [out - reasoning, price.output],
            [reasoning, price.reasoning ?? price.output]
          ])
          const shown = tenths(formatUsd10(costNanoUsd(read, price))) * 100_000n
          const off = shown > exact ? shown - exact : exact - shown
          assert.isTrue(off <= 100_000n, `${JSON.stringify(read)} at ${JSON.stringify(price)}`)
          const row = (costNanoUsd(read, price) / nanoUsdPerUsd) * 1e15
          assert.isAtMost(Math.abs(row - Number(exact)), 1e5)
        }
      }
    })
  )

  it("has answers that count cached tokens inside the prompt and beside it, on every wire that knows them", () => {
    const all = families.flatMap(({ cases }) => cases)
    for (const wire of ["chat", "responses", "messages", "gemini"] as const) {
      assert.isTrue(
        all.some(
          ({ price, terms, ...recorded }) =>
            recorded.wire === wire &&
            price.cached !== undefined &&
            terms.some(([count, at]) => count > 0 && at === price.cached)
        ),
        wire
      )
    }
  })
})
