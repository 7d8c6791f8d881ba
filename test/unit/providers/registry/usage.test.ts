/**
 * Usage read by the registry's own table. Each answer of `usageAnswers.ts` and `usageAnswersOther.ts` says where it is published, or
 * null; those of `madeUpUsage.ts` are published nowhere.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Either from "effect/Either"
import type { TokenCounts } from "../../../../src/contract/domain/Usage.ts"
import { nanoUsdPerUsd, noTokens } from "../../../../src/contract/domain/Usage.ts"
import { registry } from "../../../../src/plane/providers/Registry.ts"
import { usageRowIds } from "../../../../src/plane/providers/registry/usage.ts"
import { usageRecordings } from "../../../../src/plane/providers/registry/usageRecordings.ts"
import { costNanoUsd } from "../../../../src/observe/usage/Cost.ts"
import { codecs } from "../../../../src/wire/Codec.ts"
import type { JsonObject } from "../../../../src/wire/json/Json.ts"
import { madeUpChat } from "./madeUpUsage.ts"
import { type Answer, recordedChat, relayedChat } from "./usageAnswers.ts"
import { type OtherAnswer, recordedOther } from "./usageAnswersOther.ts"

const chatAnswer = (usage: JsonObject): JsonObject => ({
  id: "c1",
  model: "m",
  choices: [{ index: 0, message: { role: "assistant", content: "hi" }, finish_reason: "stop" }],
  usage
})

const chatStream = (usage: JsonObject, inChoice: boolean): Buffer => {
  const end = { index: 0, delta: {}, finish_reason: "stop", ...(inChoice ? { usage } : {}) }
  const events = [
    { id: "c1", model: "m", choices: [{ index: 0, delta: { role: "assistant", content: "hi" }, finish_reason: null }] },
    { id: "c1", model: "m", choices: [end], ...(inChoice ? {} : { usage }) }
  ]
  return Buffer.from([...events.map((event) => `data: ${JSON.stringify(event)}\n\n`), "data: [DONE]\n\n"].join(""))
}

const told = (read: Partial<TokenCounts>): TokenCounts => ({ ...noTokens, ...read })

const at =
  (provider: string) =>
  <A extends Answer>(answer: A): A => ({ ...answer, provider })

/** The answers of a provider, and those of another address of its maker where it has none. */
const inherited = <A extends Answer>(answers: ReadonlyArray<A>): ReadonlyArray<A> =>
  Object.entries(usageRecordings).flatMap(([provider, recording]) =>
    "as" in recording ? answers.filter((answer) => answer.provider === recording.as).map(at(provider)) : []
  )

const chatAnswers = [...recordedChat, ...inherited(recordedChat), ...relayedChat, ...madeUpChat]
const otherAnswers = [...recordedOther, ...inherited(recordedOther)]

const wholeAnswer = ({ usage, wire }: OtherAnswer): JsonObject => {
  if (wire === "messages") {
    return {
      type: "message",
      role: "assistant",
      content: [{ type: "text", text: "hi" }],
      stop_reason: "end_turn",
      usage
    }
  }
  if (wire === "ollama") {
    return { model: "m", message: { role: "assistant", content: "hi" }, done: true, done_reason: "stop", ...usage }
  }
  return {
    candidates: [{ content: { parts: [{ text: "hi" }], role: "model" }, finishReason: "STOP", index: 0 }],
    usageMetadata: usage
  }
}

/** Input that was neither read from nor written to the cache, cached input, and output: no token in two of them. */
const billed = ({ cacheRead, cacheWrite, in: all, out }: TokenCounts): number => {
  assert.isAtLeast(all - cacheRead - cacheWrite, 0)
  return all + out
}

/** USD per 1,000,000 tokens, a price of its own for each kind. */
const prices = { input: 3, output: 15, cached: 0.3, cacheCreation: 3.75, reasoning: 20 }

/** What the bill depends on besides is read in `answerPrices.test.ts`. */
const countsOf = (usage: TokenCounts | null) => {
  if (usage === null) return null
  const { billing: _, ...counts } = usage
  return counts
}

describe("usage by provider", () => {
  for (const { model, provider, read, source, usage } of chatAnswers) {
    it(`${provider}, ${source === null ? "made up" : model}: ${JSON.stringify(usage).slice(0, 70)}`, () => {
      const { dialect } = registry.get(provider)!
      const { chat } = codecs
      const counts = told(read)
      assert.deepEqual(countsOf(Either.getOrThrow(chat.decodeResponse(chatAnswer(usage), dialect)).usage), counts)
      assert.deepEqual(countsOf(chat.readAnswer(chatAnswer(usage), dialect).usage), counts)
      for (const inChoice of [false, true]) {
        const bytes = chatStream(usage, inChoice)
        const tap = chat.makeStreamTap({ hideUsage: false, dialect })
        tap.push(bytes)
        tap.end()
        assert.deepEqual(countsOf(tap.facts.usage), counts)
        const events = chat.makeStreamDecoder(dialect).push(bytes)
        const reports = events.flatMap((event) => (event.type === "usage" ? [event.usage] : []))
        assert.deepEqual(countsOf(told(Object.assign({}, ...reports))), counts)
      }
      assert.isAtMost(counts.reasoning, counts.out)
      assert.isAtLeast(billed(counts), 0)
    })
  }

  for (const answer of otherAnswers) {
    it(`${answer.provider}, ${answer.source === null ? "made up" : answer.model}, on the ${answer.wire} wire`, () => {
      const spec = registry.get(answer.provider)!
      assert.include(spec.wires, answer.wire)
      const codec = codecs[answer.wire]
      const counts = told(answer.read)
      assert.deepEqual(countsOf(codec.readAnswer(wholeAnswer(answer), spec.dialect).usage), counts)
      assert.deepEqual(
        countsOf(Either.getOrThrow(codec.decodeResponse(wholeAnswer(answer), spec.dialect)).usage),
        counts
      )
      assert.isAtMost(counts.reasoning, counts.out)
      assert.isAtLeast(billed(counts), 0)
    })
  }

  it("bills no recorded token twice: what is read comes to the answer's own total", () => {
    for (const { provider, read, source, usage } of [...recordedChat, ...relayedChat]) {
      const total = usage["total_tokens"]
      // The only provider whose total leaves its reasoning out.
      if (source === null || typeof total !== "number" || provider === "perplexity") continue
      assert.strictEqual(billed(told(read)), total, provider)
    }
    for (const { read, source, usage, wire } of recordedOther) {
      if (source !== null && wire === "gemini") assert.strictEqual(billed(told(read)), usage["totalTokenCount"])
    }
  })

  it("costs each token of an answer once, at the price of its kind, to a ten-billionth of a dollar", () => {
    const byHand = ({ cacheRead, cacheWrite, in: all, out, reasoning }: TokenCounts): number =>
      ((all - cacheRead - cacheWrite) * 3 +
        cacheRead * 0.3 +
        cacheWrite * 3.75 +
        (out - reasoning) * 15 +
        reasoning * 20) /
      1e6
    const cost = (usage: TokenCounts): number => costNanoUsd(usage, prices) / nanoUsdPerUsd
    for (const { provider, read, usage } of chatAnswers) {
      const { dialect } = registry.get(provider)!
      const found = codecs.chat.readAnswer(chatAnswer(usage), dialect).usage
      assert.closeTo(cost(told(found ?? {})), byHand(told(read)), 1e-10, provider)
    }
    for (const answer of otherAnswers) {
      const { dialect } = registry.get(answer.provider)!
      const found = codecs[answer.wire].readAnswer(wholeAnswer(answer), dialect).usage
      assert.closeTo(cost(told(found ?? {})), byHand(told(answer.read)), 1e-10, answer.provider)
    }
    // 144 prompt tokens, 4,480 read from the cache inside the prompt, 4 of the answer: 432 + 1,344 + 60 millionths.
    const [openai] = recordedChat
    assert.closeTo(cost(told(openai?.read ?? {})), 0.001836, 1e-10)
  })

  it("has an answer for every row", () => {
    const answered = new Set([...chatAnswers, ...otherAnswers].map(({ provider }) => provider))
    assert.deepStrictEqual(
      usageRowIds.filter((id) => !answered.has(id)),
      []
    )
  })

  it("says of a row that a recorded answer backs it where one does, and nowhere else", () => {
    const own = [...recordedChat, ...relayedChat, ...madeUpChat, ...recordedOther]
    const sources = (id: string): ReadonlyArray<string> =>
      own.flatMap(({ provider, source }) => (provider === id && source !== null ? [source] : []))
    for (const id of usageRowIds) {
      const recording = usageRecordings[id]
      if (recording === undefined) assert.deepStrictEqual(sources(id), [], id)
      else if ("at" in recording) assert.include(sources(id), recording.at, id)
      else {
        assert.deepStrictEqual(sources(id), [], id)
        assert.isNotEmpty(sources(recording.as), id)
      }
    }
    assert.deepStrictEqual(
      Object.keys(usageRecordings).filter((id) => !usageRowIds.includes(id)),
      []
    )
    for (const { source } of own) if (source !== null) assert.strictEqual(new URL(source).protocol, "https:")
  })

  it("the responses wire counts the same way", () => {
    const answer = (usage: JsonObject): JsonObject => ({
      id: "r1",
      object: "response",
      status: "completed",
      model: "m",
      output: [{ type: "message", role: "assistant", content: [{ type: "output_text", text: "hi" }] }],
      usage
    })
    const read = (usage: JsonObject) => codecs.responses.readAnswer(answer(usage)).usage
    assert.deepEqual(
      read({
        input_tokens: 9,
        input_tokens_details: { cached_tokens: 4 },
        output_tokens: 30,
        output_tokens_details: { reasoning_tokens: 20 },
        total_tokens: 39
      }),
      told({ in: 9, out: 30, cacheRead: 4, reasoning: 20 })
    )
    assert.deepEqual(read({ input_tokens: 9, total_tokens: 39 }), told({ in: 9, out: 30 }))
  })

  it("a generative-language answer that counts only a total has the rest of it as its output", () => {
    const answer = (usageMetadata: JsonObject): JsonObject => ({
      candidates: [{ content: { parts: [{ text: "hi" }] }, finishReason: "STOP" }],
      usageMetadata
    })
    const read = (usage: JsonObject) => codecs.gemini.readAnswer(answer(usage)).usage
    assert.deepEqual(read({ promptTokenCount: 21, totalTokenCount: 81 }), told({ in: 21, out: 60 }))
    assert.deepEqual(
      read({ promptTokenCount: 21, thoughtsTokenCount: 40, totalTokenCount: 81 }),
      told({ in: 21, out: 60, reasoning: 40 })
    )
    assert.deepEqual(
      read({ promptTokenCount: 21, candidatesTokenCount: 20, thoughtsTokenCount: 40, totalTokenCount: 81 }),
      told({ in: 21, out: 60, reasoning: 40 })
    )
    assert.deepEqual(read({ promptTokenCount: 21, totalTokenCount: 21 }), told({ in: 21 }))
    assert.deepEqual(read({ totalTokenCount: 81 }), told({}))
  })

  it("Ollama's documented last line ends the answer without a reason of its own", () => {
    const documented = {
      model: "llama3.2",
      created_at: "2023-08-04T19:22:45.499127Z",
      message: { role: "assistant", content: "" },
      done: true,
      total_duration: 4_883_583_458,
      load_duration: 1_334_875,
      prompt_eval_count: 26,
      prompt_eval_duration: 342_546_000,
      eval_count: 282,
      eval_duration: 4_535_599_000
    }
    const { message: _message, ...bare } = documented
    const said = { ...documented, message: { role: "assistant", content: "The" }, done: false }
    for (const last of [documented, bare]) {
      const tap = codecs.ollama.makeStreamTap({ hideUsage: false })
      tap.push(Buffer.from(`${JSON.stringify(said)}\n${JSON.stringify(last)}\n`))
      tap.end()
      assert.isTrue(tap.facts.terminated)
      assert.strictEqual(tap.facts.stop?.reason, "stop")
      assert.deepEqual(countsOf(tap.facts.usage), told({ in: 26, out: 282 }))
    }
  })

  it("has rows for providers of the registry only, each with its address", () => {
    for (const id of usageRowIds) {
      const usage = registry.get(id)?.dialect.usage
      assert.isTrue(URL.canParse(usage?.docs ?? ""), id)
    }
  })
})
