import { assert, describe, it } from "@effect/vitest"
import * as Either from "effect/Either"
import * as Schema from "effect/Schema"
import type { JsonObject } from "../../../../src/wire/json/Json.ts"
import { OllamaChatAnswer, OllamaGenerateAnswer } from "../../../../src/wire/ollama/Schema.ts"
import { context } from "../support.ts"
import { doneLine, itemsOf, line, type Wire, wires } from "./support.ts"

const recode = (client: Wire, upstream: Wire, body: JsonObject, more = {}): JsonObject =>
  wires[client].encodeResponse(Either.getOrThrow(wires[upstream].decodeResponse(body)), { ...context, ...more })

const call = (name: string, args: JsonObject): JsonObject => ({ function: { name, arguments: args } })

const done = (message: JsonObject, more: JsonObject = {}): JsonObject => ({
  ...doneLine(more),
  message: { role: "assistant", content: "", ...message }
})

describe("ollama answer → chat completion", () => {
  it("maps every part, counts, and the stop of a call", () => {
    const completion = recode(
      "chat",
      "ollama",
      done({ thinking: "hm", content: "A", tool_calls: [call("f", { a: 1 }), call("f", { a: 1 })] })
    )
    const [choice] = itemsOf(completion, "choices")
    assert.strictEqual(choice.finish_reason, "tool_calls")
    assert.strictEqual(choice.message.reasoning_content, "hm")
    assert.strictEqual(choice.message.content, "A")
    const [first, second] = choice.message.tool_calls
    assert.deepEqual(first.function, { name: "f", arguments: '{"a":1}' })
    assert.match(first.id, /^call_[0-9a-f]{16}_0$/)
    assert.match(second.id, /^call_[0-9a-f]{16}_1$/)
    assert.strictEqual(completion["created"], 1_751_919_739)
    assert.deepInclude(completion["usage"], { prompt_tokens: 26, completion_tokens: 9, total_tokens: 35 })
  })

  it("invents the same id for the same call, and another one in another answer", () => {
    const idOf = (createdAt: string, args: JsonObject): string => {
      const body = { ...done({ tool_calls: [call("f", args)] }), created_at: createdAt }
      return Either.getOrThrow(wires.ollama.decodeResponse(body)).parts.flatMap((part) =>
        part.type === "tool_call" ? part.id : []
      )[0]!
    }
    const id = idOf("2025-07-07T20:22:19Z", { a: 1 })
    assert.strictEqual(idOf("2025-07-07T20:22:19Z", { a: 1 }), id)
    assert.notStrictEqual(idOf("2025-07-07T20:22:20Z", { a: 1 }), id)
    assert.notStrictEqual(idOf("2025-07-07T20:22:19Z", { a: 2 }), id)
  })

  it("keeps ids the server gave", () => {
    const completion = recode("chat", "ollama", done({ tool_calls: [{ id: "own", ...call("f", {}) }] }))
    assert.deepInclude(itemsOf(completion, "choices")[0].message.tool_calls[0], { id: "own" })
  })

  it("maps done reasons; older servers give none", () => {
    const reasons = ["stop", "length", undefined, "odd"].map((reason) => {
      const { done_reason: _reason, ...body } = done({ content: "a" })
      const completion = recode("chat", "ollama", reason === undefined ? body : { ...body, done_reason: reason })
      return itemsOf(completion, "choices")[0].finish_reason
    })
    assert.deepEqual(reasons, ["stop", "length", "stop", "stop"])
  })

  it("knows unknown counts from none", () => {
    const usage = (counts: JsonObject) => {
      const { eval_count: _eval, prompt_eval_count: _prompt, ...body } = done({ content: "a" })
      return Either.getOrThrow(wires.ollama.decodeResponse({ ...body, ...counts })).usage
    }
    assert.isNull(usage({}))
    assert.deepInclude(usage({ eval_count: 4 }), { in: 0, out: 4 })
  })

  it("refuses what is no answer: an error, nothing said, not done", () => {
    const problems = [{ error: "model 'x' not found" }, {}, line({ content: "a" })].map(
      (body) => Either.getOrThrow(Either.flip(wires.ollama.decodeResponse(body))).message
    )
    assert.deepEqual(problems, [
      "model 'x' not found",
      "The upstream's answer holds no message.",
      "The upstream's answer is incomplete: it is not done."
    ])
  })
})

describe("others → ollama answer", () => {
  const completion = (message: JsonObject, finish: string): JsonObject => ({
    id: "c",
    model: "gpt",
    created: 1_700_000_000,
    choices: [{ index: 0, message, finish_reason: finish, logprobs: { content: [{ token: "a", logprob: -1 }] } }],
    usage: { prompt_tokens: 10, completion_tokens: 3 }
  })
  const message = {
    content: "A",
    reasoning_content: "hm",
    tool_calls: [{ id: "t", type: "function", function: { name: "f", arguments: '{"a":[1]}' } }]
  }

  it("writes a whole answer", () => {
    const answer = recode("ollama", "chat", completion(message, "tool_calls"), { elapsedMs: () => 12.5 })
    assert.deepEqual(answer, {
      model: "gpt",
      created_at: "2023-11-14T22:13:20.000Z",
      message: {
        role: "assistant",
        content: "A",
        thinking: "hm",
        tool_calls: [{ id: "t", function: { name: "f", arguments: { a: [1] } } }]
      },
      done: true,
      done_reason: "stop",
      logprobs: [{ token: "a", logprob: -1 }],
      total_duration: 12_500_000,
      load_duration: 0,
      prompt_eval_duration: 0,
      eval_duration: 12_500_000,
      prompt_eval_count: 10,
      eval_count: 3
    })
    assert.isTrue(Schema.is(OllamaChatAnswer)(answer))
  })

  it("leaves out what is not known, and keeps content a string", () => {
    const { usage: _usage, ...body } = completion({ content: null, refusal: "No." }, "content_filter")
    const answer = recode("ollama", "chat", body)
    assert.deepInclude(answer, { done: true, done_reason: "content_filter" })
    assert.deepEqual(answer["message"], { role: "assistant", content: "No." })
    for (const member of ["eval_count", "total_duration"]) assert.notProperty(answer, member)
  })

  it("answers a prompt in the prompt's shape", () => {
    const answer = recode("generate", "chat", completion({ content: "A", reasoning_content: "hm" }, "length"))
    assert.deepInclude(answer, { response: "A", thinking: "hm", done: true, done_reason: "length" })
    assert.isTrue(Schema.is(OllamaGenerateAnswer)(answer))
  })

  it("survives a creation time that is no date", () => {
    const body = { ...completion({ content: "A" }, "stop"), created: 1e300 }
    assert.strictEqual(recode("ollama", "chat", body)["created_at"], "1970-01-01T00:00:00.000Z")
  })
})

describe("readAnswer", () => {
  it("counts what a relayed answer said, on both endpoints", () => {
    const facts = wires.ollama.readAnswer(
      done({ content: "abc", thinking: "hm", tool_calls: [call("f", {})] }, { done_reason: "length" })
    )
    assert.deepEqual(facts, {
      usage: { in: 26, out: 9, cacheRead: 0, cacheWrite: 0, reasoning: 0 },
      stop: { reason: "length", raw: "length", sequence: null },
      hasContent: true,
      textChars: 3,
      toolArgChars: 2,
      reasoningChars: 2
    })
    assert.deepInclude(wires.generate.readAnswer({ response: "ab", done: true }), { textChars: 2, usage: null })
    assert.deepInclude(wires.ollama.readAnswer({}), { hasContent: false, stop: null })
  })
})
