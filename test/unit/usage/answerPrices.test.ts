/** What answers cost by what they say: length, kinds of tokens, service tier, speed, place, tools, and the provider's own charge. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type { WireName } from "../../../src/contract/domain/Wire.ts"
import { nanoUsdPerUsd } from "../../../src/contract/domain/Usage.ts"
import { registry } from "../../../src/plane/providers/Registry.ts"
import { batchPrice } from "../../../src/observe/usage/BatchPrice.ts"
import { costOf } from "../../../src/observe/usage/BookedCost.ts"
import * as PriceBook from "../../../src/observe/usage/PriceBook.ts"
import { codecs } from "../../../src/wire/Codec.ts"
import type { JsonObject } from "../../../src/wire/json/Json.ts"

const gemini = (usageMetadata: JsonObject, candidate: JsonObject = {}): JsonObject => ({
  candidates: [{ content: { parts: [{ text: "hi" }], role: "model" }, finishReason: "STOP", index: 0, ...candidate }],
  usageMetadata
})
const chat = (usage: JsonObject, more: JsonObject = {}): JsonObject => ({
  choices: [{ index: 0, message: { role: "assistant", content: "hi" }, finish_reason: "stop" }],
  usage,
  ...more
})
const message = (usage: JsonObject): JsonObject => ({
  type: "message",
  role: "assistant",
  content: [{ type: "text", text: "hi" }],
  stop_reason: "end_turn",
  usage
})
const response = (usage: JsonObject, more: JsonObject = {}, items: ReadonlyArray<JsonObject> = []): JsonObject => ({
  id: "r1",
  object: "response",
  status: "completed",
  model: "m",
  output: [...items, { type: "message", role: "assistant", content: [{ type: "output_text", text: "hi" }] }],
  usage,
  ...more
})

const booked = Effect.fnUntraced(function* (wire: WireName, provider: string, model: string, body: JsonObject) {
  const book = yield* PriceBook.PriceBook
  const spec = registry.get(provider)
  const { usage } = codecs[wire].readAnswer(body, spec?.dialect)
  assert.isNotNull(usage)
  if (usage === null) throw new Error("no usage")
  const cost = costOf(usage, book.price(provider, model))
  return {
    usd: Number((cost.costNanoUsd / nanoUsdPerUsd).toFixed(9)),
    unpriced: cost.costNotes?.unpricedParts ?? [],
    computed: cost.costNotes?.computedNanoUsd ?? null
  }
})

const rows: ReadonlyArray<
  readonly [
    name: string,
    wire: WireName,
    provider: string,
    model: string,
    body: JsonObject,
    usd: number,
    unpriced?: ReadonlyArray<string>
  ]
> = [
  [
    "a long prompt at its tier",
    "gemini",
    "gemini",
    "gemini-2.5-pro",
    gemini({ promptTokenCount: 300_000, candidatesTokenCount: 1_000 }),
    0.765
  ],
  [
    "a prompt of exactly the limit at the base",
    "gemini",
    "gemini",
    "gemini-2.5-pro",
    gemini({ promptTokenCount: 200_000, candidatesTokenCount: 1_000 }),
    0.26
  ],
  [
    "cached tokens count towards the length",
    "gemini",
    "gemini",
    "gemini-2.5-pro",
    gemini({ promptTokenCount: 200_001, cachedContentTokenCount: 200_000, candidatesTokenCount: 0 }),
    0.0500025
  ],
  [
    "a long prompt of Claude, read from the cache",
    "messages",
    "anthropic",
    "claude-sonnet-4-5",
    message({ input_tokens: 1, cache_read_input_tokens: 200_000, output_tokens: 1_000 }),
    0.142506
  ],
  [
    "sound in the prompt",
    "gemini",
    "gemini",
    "gemini-2.5-flash",
    gemini({
      promptTokenCount: 100_000,
      promptTokensDetails: [
        { modality: "TEXT", tokenCount: 1_000 },
        { modality: "AUDIO", tokenCount: 99_000 }
      ],
      candidatesTokenCount: 1_000
    }),
    0.1018
  ],
  [
    "sound that is cached",
    "gemini",
    "gemini",
    "gemini-2.5-flash",
    gemini({
      promptTokenCount: 100_000,
      cachedContentTokenCount: 50_000,
      promptTokensDetails: [{ modality: "AUDIO", tokenCount: 100_000 }],
      cacheTokensDetails: [{ modality: "AUDIO", tokenCount: 50_000 }],
      candidatesTokenCount: 0
    }),
    0.055
  ],
  [
    "sound in the answer of a chat",
    "chat",
    "openai",
    "gpt-audio",
    chat({
      prompt_tokens: 1_000,
      completion_tokens: 1_000,
      prompt_tokens_details: { audio_tokens: 500 },
      completion_tokens_details: { audio_tokens: 800 }
    }),
    0.07045
  ],
  [
    "flex",
    "chat",
    "openai",
    "gpt-5",
    chat({ prompt_tokens: 2_000, completion_tokens: 290 }, { service_tier: "flex" }),
    0.0027
  ],
  [
    "priority",
    "chat",
    "openai",
    "gpt-5",
    chat({ prompt_tokens: 100_000, completion_tokens: 1_000 }, { service_tier: "priority" }),
    0.27
  ],
  [
    "priority of a smaller model, on the responses wire",
    "responses",
    "openai",
    "gpt-5-mini",
    response({ input_tokens: 100_000, output_tokens: 1_000 }, { service_tier: "priority" }),
    0.0486
  ],
  [
    "the usual tier by any name",
    "chat",
    "openai",
    "gpt-5",
    chat({ prompt_tokens: 100_000, completion_tokens: 1_000 }, { service_tier: "default" }),
    0.135
  ],
  [
    "a tier without a known price is told",
    "chat",
    "openai",
    "gpt-5",
    chat({ prompt_tokens: 100_000, completion_tokens: 1_000 }, { service_tier: "scale" }),
    0.135,
    ["serviceTier:scale"]
  ],
  [
    "flex of Vertex, by the kind of traffic",
    "gemini",
    "vertex",
    "gemini-2.5-pro",
    gemini({ promptTokenCount: 300_000, candidatesTokenCount: 1_000, trafficType: "ON_DEMAND_FLEX" }),
    0.3825
  ],
  [
    "fast",
    "messages",
    "anthropic",
    "claude-opus-5",
    message({ input_tokens: 1_000, output_tokens: 100, speed: "fast" }),
    0.015
  ],
  [
    "fast of an earlier model",
    "messages",
    "anthropic",
    "claude-opus-4-6",
    message({ input_tokens: 1_000, output_tokens: 100, speed: "fast" }),
    0.045
  ],
  [
    "in the US",
    "messages",
    "anthropic",
    "claude-opus-5",
    message({ input_tokens: 1_000, output_tokens: 100, inference_geo: "us" }),
    0.00825
  ],
  [
    "fast and in the US",
    "messages",
    "anthropic",
    "claude-opus-5",
    message({ input_tokens: 1_000, output_tokens: 100, inference_geo: "us", speed: "fast" }),
    0.0165
  ],
  [
    "cache writes of five minutes and of an hour",
    "messages",
    "anthropic",
    "claude-opus-5",
    message({
      input_tokens: 0,
      cache_creation_input_tokens: 3_000,
      cache_creation: { ephemeral_5m_input_tokens: 1_000, ephemeral_1h_input_tokens: 2_000 },
      output_tokens: 0
    }),
    0.02625
  ],
  [
    "searches of Claude",
    "messages",
    "anthropic",
    "claude-opus-5",
    message({ input_tokens: 1_000, output_tokens: 100, server_tool_use: { web_search_requests: 3 } }),
    0.0375
  ],
  [
    "searches among the items of a response",
    "responses",
    "openai",
    "gpt-5",
    response({ input_tokens: 1_000, output_tokens: 100 }, {}, [
      { type: "web_search_call", id: "ws_1", status: "completed", action: { type: "search", query: "x" } },
      { type: "web_search_call", id: "ws_2", status: "completed", action: { type: "open_page" } },
      { type: "file_search_call", id: "fs_1", status: "completed" }
    ]),
    0.01475
  ],
  [
    "runs of code without a price are told",
    "responses",
    "openai",
    "gpt-5",
    response({ input_tokens: 1_000, output_tokens: 100 }, {}, [
      { type: "code_interpreter_call", id: "ci_1", status: "completed" }
    ]),
    0.00225,
    ["codeExecutions"]
  ],
  [
    "a grounded answer before Gemini 3 is paid once",
    "gemini",
    "gemini",
    "gemini-2.5-flash",
    gemini(
      { promptTokenCount: 1_000, candidatesTokenCount: 0 },
      { groundingMetadata: { webSearchQueries: ["a", "b"] } }
    ),
    0.0353
  ],
  [
    "since Gemini 3 by its searches",
    "gemini",
    "gemini",
    "gemini-3-flash-preview",
    gemini(
      { promptTokenCount: 1_000, candidatesTokenCount: 0 },
      { groundingMetadata: { webSearchQueries: ["a", "b"] } }
    ),
    0.0285
  ],
  [
    "searches at a model that has no price of them are told",
    "chat",
    "deepseek",
    "deepseek-chat",
    chat({ prompt_tokens: 0, completion_tokens: 0, num_search_queries: 2 }),
    0,
    ["webSearches"]
  ],
  [
    "a model without any price tells all that was used",
    "chat",
    "openai",
    "no-such-model",
    chat({ prompt_tokens: 10, completion_tokens: 5 }),
    0,
    ["input", "output"]
  ]
]

describe("what an answer costs", () => {
  for (const [name, wire, provider, model, body, usd, unpriced = []] of rows) {
    it.effect(`${name} (${provider}/${model})`, () =>
      Effect.provide(
        Effect.gen(function* () {
          const found = yield* booked(wire, provider, model, body)
          assert.deepStrictEqual([found.usd, found.unpriced], [usd, unpriced])
        }),
        PriceBook.layerMemory
      )
    )
  }

  it.effect("is the provider's own charge, where it documents one, with the computed cost beside it", () =>
    Effect.provide(
      Effect.gen(function* () {
        const usage = { prompt_tokens: 1_000, completion_tokens: 100, cost: 0.0042 }
        const openRouter = yield* booked("chat", "openrouter", "openai/gpt-5", chat(usage))
        assert.strictEqual(openRouter.usd, 0.0042)
        assert.isAbove(openRouter.computed ?? 0, 0)
        const ownKey = { ...usage, is_byok: true, cost_details: { upstream_inference_cost: 0.01 } }
        assert.strictEqual((yield* booked("chat", "openrouter", "openai/gpt-5", chat(ownKey))).usd, 0.0142)
        const xai = chat({ prompt_tokens: 1_000, completion_tokens: 100, cost_in_usd_ticks: 37_756_000 })
        assert.strictEqual((yield* booked("chat", "xai", "grok-4", xai)).usd, 0.0037756)
        // Nobody documents it of these: a member of the same name is no charge.
        const other = yield* booked("chat", "openai", "gpt-5", chat(usage))
        assert.deepStrictEqual([other.usd, other.computed], [0.00225, null])
        const negative = yield* booked("chat", "openrouter", "openai/gpt-5", chat({ ...usage, cost: -1 }))
        assert.isNull(negative.computed)
      }),
      PriceBook.layerMemory
    )
  )

  it.effect("is half in a batch, once, whatever the answer says of its tier", () =>
    Effect.provide(
      Effect.gen(function* () {
        const book = yield* PriceBook.PriceBook
        const price = book.price("anthropic", "claude-sonnet-4-5")
        assert.isNotNull(price)
        if (price === null) return
        const said = message({ input_tokens: 300_000, output_tokens: 0, service_tier: "batch" })
        const { usage } = codecs.messages.readAnswer(said)
        if (usage === null) throw new Error("no usage")
        const cost = costOf(usage, batchPrice(price))
        assert.deepStrictEqual([cost.costNanoUsd / nanoUsdPerUsd, cost.costNotes?.unpricedParts], [0.9, []])
      }),
      PriceBook.layerMemory
    )
  )

  it.effect("follows an override that says all of it", () =>
    Effect.provide(
      Effect.gen(function* () {
        const book = yield* PriceBook.PriceBook
        yield* book.patch({
          node: {
            m: {
              input: 1,
              output: 2,
              tiers: [{ above: 1_000, input: 10 }],
              serviceTiers: { flex: { factor: 0.5 }, turbo: { input: 100, tiers: [{ above: 1_000, input: 1_000 }] } },
              perWebSearch: 0.5
            }
          }
        })
        const usd = (prompt: number, tier: string) =>
          Effect.map(
            booked("chat", "node", "m", chat({ prompt_tokens: prompt, completion_tokens: 0 }, { service_tier: tier })),
            (found) => found.usd
          )
        assert.strictEqual(yield* usd(1_000, "default"), 0.001)
        assert.strictEqual(yield* usd(2_000, "default"), 0.02)
        assert.strictEqual(yield* usd(2_000, "flex"), 0.01)
        assert.strictEqual(yield* usd(1_000, "turbo"), 0.1)
        assert.strictEqual(yield* usd(2_000, "turbo"), 2)
      }),
      PriceBook.layerMemory
    )
  )
})
