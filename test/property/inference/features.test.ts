import { assert, describe, it } from "@effect/vitest"
import * as Either from "effect/Either"
import * as FC from "effect/FastCheck"
import { featuresOf } from "../../../src/plane/request/RequestFeatures.ts"
import type { Envelope } from "../../../src/wire/WireCodec.ts"
import { chat } from "../../../src/wire/chat/Codec.ts"
import type { JsonObject } from "../../../src/wire/json/Json.ts"
import { chatRequest } from "../wire/arbitraries.ts"

const run = { seed: 20_261_123, numRuns: 2_000 }

const words = FC.oneof(
  FC.constantFrom(
    "",
    "Debug this:\n```ts\nconst a = () => 1;\n```",
    "Why? 100 000 € für «Ü»",
    "TypeError: x at f (a.ts:1:2)",
    "证明 √2"
  ),
  FC.string({ maxLength: 60, unit: "grapheme" }),
  FC.constant("implement the function step by step ".repeat(300))
)
/** Mostly right, and now and then anything. */
const nearly = <A>(arbitrary: FC.Arbitrary<A>) =>
  FC.oneof(
    { weight: 12, arbitrary },
    { weight: 1, arbitrary: FC.constantFrom(null, 0, -1, 1.5, "", "x", true, [], {}) }
  )
const sparse = <A>(weight: number, arbitrary: FC.Arbitrary<A>) =>
  FC.oneof({ weight, arbitrary: FC.constant(undefined) }, { weight: 1, arbitrary })

const partArb = nearly(
  FC.record({
    type: FC.constantFrom("text", "text", "text", "input_text", "output_text", "refusal", "image_url"),
    text: nearly(words),
    cache_control: sparse(9, nearly(FC.constant({ type: "ephemeral" })))
  })
)
const messageArb = FC.record({
  role: FC.constantFrom("user", "user", "assistant", "system", "developer", "tool", "other"),
  content: FC.oneof(nearly(words), FC.array(partArb, { maxLength: 3 }), FC.constant(undefined)),
  name: sparse(20, nearly(FC.constant("n"))),
  refusal: sparse(20, nearly(words)),
  reasoning_content: sparse(20, nearly(words)),
  tool_calls: sparse(20, FC.constantFrom([], null, [{ id: "c", function: { name: "f", arguments: "{}" } }]))
})
const bodyArb = FC.record({
  model: nearly(FC.constantFrom("auto", "claude-sonnet-4", "gemini-pro")),
  messages: FC.oneof(
    { weight: 20, arbitrary: FC.array(messageArb, { maxLength: 4 }) },
    { weight: 1, arbitrary: nearly(FC.constant([])) }
  ),
  temperature: sparse(9, nearly(FC.constant(1))),
  max_tokens: sparse(9, nearly(FC.constant(10))),
  stop: sparse(9, nearly(FC.constantFrom("x", ["x", "y"], ["x", 1]))),
  stream_options: sparse(9, nearly(FC.constant({ include_usage: true }))),
  metadata: sparse(9, nearly(FC.constant({ a: "b" }))),
  tools: sparse(20, FC.constantFrom(null, [], [{ type: "function", function: { name: "f" } }])),
  response_format: sparse(20, nearly(FC.constant({ type: "text" }))),
  more: sparse(5, FC.constantFrom(1, null, { a: [] }))
})

const envelope = {
  model: "claude-sonnet-4",
  stream: false,
  hasTools: false,
  hasImages: false,
  wantsReasoning: false,
  wantsSchema: false,
  maxOutputTokens: null
} as unknown as Envelope

const featuresBy = (body: JsonObject, isPlainRead: boolean, model: string) => {
  const plain = isPlainRead ? (chat.plainPrompt?.(body) ?? null) : null
  const prompt = { parsed: body, conversation: () => chat.decodeRequest(body), plain }
  return featuresOf({ wire: "chat" }, { ...envelope, model }, prompt, null)
}

describe("features of a chat request", () => {
  it("are the same, whether its texts are read or the whole of it is decoded", () => {
    let plain = 0
    const bodies = FC.oneof(bodyArb, chatRequest) as unknown as FC.Arbitrary<JsonObject>
    FC.assert(
      FC.property(bodies, FC.constantFrom("auto", "claude-sonnet-4", "gemini-pro"), (body, model) => {
        if (chat.plainPrompt?.(body) !== null) plain += 1
        assert.deepStrictEqual(featuresBy(body, true, model), featuresBy(body, false, model))
      }),
      run
    )
    assert.isAbove(plain, run.numRuns / 20)
  })

  it("do without decoding it where there is nothing but text", () => {
    const body = {
      model: "auto",
      temperature: 0.5,
      messages: [
        { role: "system", content: "Be brief." },
        { role: "user", content: [{ type: "text", text: "Debug this stack trace" }] }
      ]
    }
    const conversation = () => assert.fail("it was decoded")
    const plain = chat.plainPrompt?.(body) ?? null
    const features = featuresOf({ wire: "chat" }, envelope, { parsed: body, conversation, plain }, null)
    assert.strictEqual(features.taskType, "debugging")
    assert.isTrue(Either.isRight(chat.decodeRequest(body)))
  })
})
