/** How usage is read, whoever the provider is: by what it adds up to, and never less than what was said before. */
import { assert, describe, it } from "@effect/vitest"
import * as FastCheck from "effect/FastCheck"
import { plainDialect } from "../../../src/contract/domain/Dialect.ts"
import { noTokens } from "../../../src/contract/domain/Usage.ts"
import { codecs } from "../../../src/wire/Codec.ts"
import { mergeUsage } from "../../../src/wire/canonical/Usage.ts"
import type { Json, JsonObject } from "../../../src/wire/json/Json.ts"

const counts = FastCheck.record({
  prompt: FastCheck.integer({ min: 1, max: 50_000 }),
  completion: FastCheck.nat(9_000),
  reasoning: FastCheck.integer({ min: 1, max: 9_000 }),
  cached: FastCheck.nat(50_000)
})

const at = (names: readonly [string, string], usage: Readonly<Record<string, number>>) => ({
  [names[0]]: usage["prompt"] ?? 0,
  [names[1]]: usage["completion"] ?? 0
})

const answers = {
  chat: (usage: JsonObject): JsonObject => ({
    choices: [{ index: 0, message: { role: "assistant", content: "hi" }, finish_reason: "stop" }],
    usage
  }),
  responses: (usage: JsonObject): JsonObject => ({
    id: "r1",
    object: "response",
    status: "completed",
    model: "m",
    output: [{ type: "message", role: "assistant", content: [{ type: "output_text", text: "hi" }] }],
    usage
  })
}

const places = {
  chat: {
    names: ["prompt_tokens", "completion_tokens"],
    inside: "completion_tokens_details",
    of: "prompt_tokens_details"
  },
  responses: { names: ["input_tokens", "output_tokens"], inside: "output_tokens_details", of: "input_tokens_details" }
} as const

const event = (data: JsonObject): string =>
  `${"type" in data ? `event: ${String(data["type"])}\n` : ""}data: ${JSON.stringify(data)}\n\n`

describe("usage of a node that nobody knows", () => {
  for (const wire of ["chat", "responses"] as const) {
    const { inside, names, of } = places[wire]

    it(`on the ${wire} wire counts reasoning outside where the total says so, and inside where it does not`, () => {
      FastCheck.assert(
        FastCheck.property(counts, FastCheck.boolean(), FastCheck.boolean(), (drawn, isOutside, isNested) => {
          const { prompt, reasoning } = drawn
          const cached = Math.min(drawn.cached, prompt)
          const completion = isOutside ? drawn.completion : drawn.completion + reasoning
          const usage = {
            ...at(names, { prompt, completion }),
            total_tokens: prompt + completion + (isOutside ? reasoning : 0),
            [of]: { cached_tokens: cached },
            ...(isNested ? { [inside]: { reasoning_tokens: reasoning } } : { reasoning_tokens: reasoning })
          }
          const read = codecs[wire].readAnswer(answers[wire](usage), plainDialect).usage
          assert.deepStrictEqual(read, {
            ...noTokens,
            in: prompt,
            out: drawn.completion + reasoning,
            cacheRead: cached,
            reasoning
          })
        }),
        { numRuns: 2_000, seed: 41 }
      )
    })

    it(`on the ${wire} wire finds cached tokens at the top level, whatever the details say`, () => {
      for (const details of [undefined, null, {}, { cached_tokens: 0 }, { cached_tokens: null }]) {
        const usage = {
          ...at(names, { prompt: 1_000, completion: 10 }),
          total_tokens: 1_010,
          cached_tokens: 768,
          ...(details === undefined ? {} : { [of]: details as Json })
        }
        const read = codecs[wire].readAnswer(answers[wire](usage), plainDialect).usage
        assert.strictEqual(read?.cacheRead, 768, JSON.stringify(details))
        assert.strictEqual(read?.in, 1_000)
      }
    })
  }

  it("on the gemini wire counts thoughts once, whichever way the total adds them up", () => {
    const read = (usageMetadata: JsonObject) =>
      codecs.gemini.readAnswer({
        candidates: [{ content: { parts: [{ text: "hi" }] }, finishReason: "STOP" }],
        usageMetadata
      }).usage
    const inside = { promptTokenCount: 10, candidatesTokenCount: 90, thoughtsTokenCount: 70, totalTokenCount: 100 }
    assert.strictEqual(read(inside)?.out, 90)
    assert.strictEqual(read({ ...inside, totalTokenCount: 170 })?.out, 160)
  })
})

/** What a tap and a decoder make of a stream. */
const streamed = (wire: "chat" | "messages" | "gemini", text: string) => {
  const bytes = Buffer.from(text)
  const tap = codecs[wire].makeStreamTap({ hideUsage: false })
  tap.push(bytes)
  tap.end()
  const decoder = codecs[wire].makeStreamDecoder()
  const events = [...decoder.push(bytes), ...decoder.end()]
  const reports = events.flatMap((each) => (each.type === "usage" ? [each.usage] : []))
  return [tap.facts.usage, reports.reduce(mergeUsage, null)]
}

describe("counts of one answer", () => {
  const chunk = (usage: JsonObject | null, more: JsonObject = {}): JsonObject => ({
    id: "c",
    model: "m",
    choices: [{ index: 0, delta: { content: "hi" }, finish_reason: null, ...more }],
    usage
  })
  const said = {
    prompt_tokens: 100,
    completion_tokens: 20,
    total_tokens: 120,
    prompt_tokens_details: { cached_tokens: 60 },
    completion_tokens_details: { reasoning_tokens: 5 }
  }
  const whole = { in: 100, out: 20, cacheRead: 60, cacheWrite: 0, reasoning: 5 }

  for (const [name, last] of [
    ["zeros", { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 }],
    [
      "zeros in the details",
      { ...said, prompt_tokens_details: { cached_tokens: 0 }, completion_tokens_details: { reasoning_tokens: 0 } }
    ],
    ["nulls", { prompt_tokens: null, completion_tokens: null, total_tokens: null }],
    ["a smaller completion", { ...said, completion_tokens: 1, total_tokens: 101, completion_tokens_details: null }]
  ] as const) {
    it(`do not fall with ${name} in a last chat chunk`, () => {
      const text = `${event(chunk(said))}${event(chunk(null, { delta: {}, finish_reason: "stop" }))}${event({ id: "c", model: "m", choices: [], usage: last as JsonObject })}data: [DONE]\n\n`
      for (const usage of streamed("chat", text)) assert.deepStrictEqual(usage, whole)
    })
  }

  const message = (start: JsonObject, end: JsonObject): string =>
    [
      { type: "message_start", message: { id: "m", type: "message", role: "assistant", content: [], usage: start } },
      { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
      { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "hi" } },
      { type: "content_block_stop", index: 0 },
      { type: "message_delta", delta: { stop_reason: "end_turn" }, usage: end },
      { type: "message_stop" }
    ]
      .map(event)
      .join("")

  const start = {
    input_tokens: 10,
    cache_read_input_tokens: 800,
    cache_creation_input_tokens: 30,
    cache_creation: { ephemeral_5m_input_tokens: 10, ephemeral_1h_input_tokens: 20 },
    output_tokens: 1
  }
  const rows: ReadonlyArray<readonly [string, JsonObject, JsonObject, JsonObject]> = [
    [
      "zeros in message_delta",
      start,
      { input_tokens: 0, cache_read_input_tokens: 0, cache_creation_input_tokens: 0, output_tokens: 7 },
      { in: 840, out: 7, cacheRead: 800, cacheWrite: 30, cacheWrite1h: 20 }
    ],
    [
      "a zero for the answer in message_delta",
      { ...start, output_tokens: 9 },
      { output_tokens: 0 },
      { in: 840, out: 9, cacheRead: 800, cacheWrite: 30, cacheWrite1h: 20 }
    ],
    [
      "the parts of a prompt told only at the end",
      { input_tokens: 840, output_tokens: 0 },
      { input_tokens: 40, cache_read_input_tokens: 800, output_tokens: 7 },
      { in: 840, out: 7, cacheRead: 800, cacheWrite: 0 }
    ],
    [
      "a prompt that grows by searches",
      start,
      { input_tokens: 5_010, cache_read_input_tokens: 800, cache_creation_input_tokens: 30, output_tokens: 7 },
      { in: 5_840, out: 7, cacheRead: 800, cacheWrite: 30, cacheWrite1h: 20 }
    ],
    [
      "a smaller prompt at the end",
      { input_tokens: 1_000, output_tokens: 1 },
      { input_tokens: 3, output_tokens: 7 },
      { in: 1_000, out: 7, cacheRead: 0, cacheWrite: 0 }
    ]
  ]
  for (const [name, first, last, expected] of rows) {
    it(`on the messages wire: ${name}`, () => {
      for (const usage of streamed("messages", message(first, last))) {
        assert.deepStrictEqual({ ...usage }, { reasoning: 0, ...expected } as never)
      }
    })
  }

  it("on the messages wire: a zero at the end of an answer without content takes the placeholder's place", () => {
    const text = message({ input_tokens: 9, output_tokens: 1 }, { output_tokens: 0 }).replace(
      '"text":"hi"',
      '"text":""'
    )
    for (const usage of streamed("messages", text)) {
      assert.deepStrictEqual({ ...usage }, { in: 9, out: 0, cacheRead: 0, cacheWrite: 0, reasoning: 0 } as never)
    }
  })

  it("do not fall with zeros in a final gemini chunk", () => {
    const piece = (usageMetadata: JsonObject, more: JsonObject = {}): string =>
      event({ candidates: [{ content: { role: "model", parts: [{ text: "hi" }] }, index: 0, ...more }], usageMetadata })
    const text =
      piece({
        promptTokenCount: 50,
        candidatesTokenCount: 7,
        thoughtsTokenCount: 3,
        cachedContentTokenCount: 20,
        totalTokenCount: 60
      }) +
      piece(
        { promptTokenCount: 0, candidatesTokenCount: 0, thoughtsTokenCount: 0, totalTokenCount: 0 },
        { finishReason: "STOP" }
      )
    for (const usage of streamed("gemini", text)) {
      assert.deepStrictEqual(usage, { in: 50, out: 10, cacheRead: 20, cacheWrite: 0, reasoning: 3 })
    }
  })
})
