import { assert, describe, it } from "@effect/vitest"
import * as Either from "effect/Either"
import { claudeVersionOf, isOpenAiReasoning } from "../../../src/wire/canonical/ModelFamily.ts"
import { replay } from "../../../src/wire/canonical/Replay.ts"
import type { Response } from "../../../src/wire/canonical/Response.ts"
import { codecs } from "../../../src/wire/Codec.ts"
import type { JsonObject } from "../../../src/wire/json/Json.ts"
import { chatBody, context, events, messagesBody, translate } from "./support.ts"

const asked = (model: string, more: JsonObject = {}) =>
  translate("chat", "messages", chatBody({ reasoning_effort: "high", ...more }), { model })

describe("what a model's name tells", () => {
  it("is the version of a Claude model", () => {
    const cases = {
      "claude-opus-4-6": 4.6,
      "claude-sonnet-4-5-20250929": 4.5,
      "claude-sonnet-4-20250514": 4,
      "anthropic.claude-opus-4-7": 4.7,
      "anthropic/claude-4.6-opus": 4.6,
      "claude-3-5-sonnet-20241022": 3.5,
      "claude-3-7-sonnet-latest": 3.7,
      "claude-opus-5": 5,
      "claude-3-haiku-20240307": 3
    }
    for (const [model, version] of Object.entries(cases)) assert.strictEqual(claudeVersionOf(model), version, model)
    assert.isNull(claudeVersionOf("kimi-k2"))
  })

  it("is whether an OpenAI model reasons", () => {
    assert.deepEqual(["openai/o3-mini", "gpt-5.1", "gpt-4o", "gpt-oss-20b"].map(isOpenAiReasoning), [
      true,
      true,
      false,
      false
    ])
  })
})

describe("thinking by model family", () => {
  it("a budget before 4.6, an effort from then on", () => {
    assert.deepEqual(asked("claude-sonnet-4-5").body["thinking"], { type: "enabled", budget_tokens: 24_576 })
    for (const model of ["claude-opus-4-6", "claude-sonnet-4-6-20260101", "claude-opus-4-7", "claude-sonnet-5"]) {
      const { body } = asked(model)
      assert.deepEqual([body["thinking"], body["output_config"]], [{ type: "adaptive" }, { effort: "high" }], model)
    }
  })

  it("adaptive thinking is a budget for families without it, and left out for unknown ones", () => {
    const adaptive = messagesBody({
      max_tokens: 20_000,
      thinking: { type: "adaptive" },
      output_config: { effort: "low" }
    })
    const to = (model: string) => translate("messages", "messages", adaptive, { model })
    assert.deepEqual(to("claude-sonnet-4-5").body["thinking"], { type: "enabled", budget_tokens: 1024 })
    assert.deepEqual(to("claude-opus-4-6").body["thinking"], { type: "adaptive" })
    const unknown = to("kimi-k2")
    assert.deepEqual([unknown.body["thinking"], unknown.dropped], [undefined, ["thinking"]])
  })

  it("a budget is an effort for families that refuse it", () => {
    const budget = messagesBody({ max_tokens: 20_000, thinking: { type: "enabled", budget_tokens: 10_000 } })
    const { body, mapped } = translate("messages", "messages", budget, { model: "claude-opus-4-7" })
    assert.deepEqual([body["thinking"], body["output_config"]], [{ type: "adaptive" }, { effort: "medium" }])
    assert.include(mapped, "thinking")
    const either = translate("messages", "messages", budget, { model: "claude-opus-4-6" })
    assert.deepEqual(either.body["thinking"], { type: "enabled", budget_tokens: 10_000 })
  })

  it("a client's own budget stays when it fits, and is bent when it does not", () => {
    const own = (budget: number, limit: number) => {
      const thinking = { type: "enabled", budget_tokens: budget }
      return translate("messages", "messages", messagesBody({ max_tokens: limit, thinking })).body["thinking"]
    }
    assert.deepEqual(own(31_999, 32_000), { type: "enabled", budget_tokens: 31_999 })
    assert.deepEqual(own(32_000, 8000), { type: "enabled", budget_tokens: 6400 })
    assert.deepEqual(own(10, 8000), { type: "enabled", budget_tokens: 1024 })
    assert.isUndefined(own(2000, 1000))
  })

  it("sampling is left out where a family refuses it, and named", () => {
    const sampling = { temperature: 0.3, top_p: 0.9 }
    const refused = translate("chat", "messages", chatBody(sampling), { model: "claude-opus-4-7" })
    assert.deepEqual([refused.body["temperature"], refused.body["top_p"]], [undefined, undefined])
    assert.deepEqual(refused.dropped, ["temperature", "top_p"])
    const one = translate("chat", "messages", chatBody(sampling), { model: "claude-sonnet-4-5" })
    assert.deepEqual([one.body["temperature"], one.body["top_p"], one.dropped], [0.3, undefined, ["top_p"]])
    const both = translate("chat", "messages", chatBody(sampling), { model: "claude-3-5-sonnet" })
    assert.deepEqual([both.body["temperature"], both.body["top_p"], both.dropped], [0.3, 0.9, []])
    const gemini = { model: "m", contents: [{ parts: [{ text: "Hi" }] }], generationConfig: { temperature: 2 } }
    assert.strictEqual(translate("gemini", "messages", gemini).body["temperature"], 1)
  })
})

describe("OpenAI's reasoning models on the chat wire", () => {
  it("are not asked for what they refuse", () => {
    const body = messagesBody({ temperature: 0.5, top_p: 0.5, top_k: 3, stop_sequences: ["x"] })
    const sent = translate("messages", "chat", body, { model: "gpt-5" })
    assert.notInclude(Object.keys(sent.body).join(), "top")
    assert.notProperty(sent.body, "temperature")
    assert.notProperty(sent.body, "stop")
    assert.sameMembers([...sent.dropped], ["top_k", "stop_sequences", "temperature", "top_p"])
  })
})

describe("system messages between turns", () => {
  const messages = [
    { role: "user", content: "a" },
    { role: "system", content: "Be exact." },
    { role: "assistant", content: "b" },
    { role: "user", content: "c" }
  ]
  const body = messagesBody({ system: "Help.", messages })

  const marked = "<system-reminder>\nBe exact.\n</system-reminder>"

  it("are told to a messages upstream at their place, marked in the user's words where it does not take them", () => {
    assert.deepInclude(Either.getOrThrow(codecs.messages.checkEnvelope(body)), {
      needsRewrite: false,
      systemBetween: true
    })
    const sent = translate("messages", "messages", body)
    assert.deepEqual(sent.body["system"], "Help.")
    assert.deepEqual(sent.body["messages"], [
      {
        role: "user",
        content: [
          { type: "text", text: "a" },
          { type: "text", text: marked }
        ]
      },
      { role: "assistant", content: "b" },
      { role: "user", content: "c" }
    ])
    assert.deepEqual(sent.mapped, ["messages.role"])
  })

  it("stay what they are for a model that takes them, where it takes them", () => {
    const sent = translate("messages", "messages", body, { systemBetween: true })
    assert.deepEqual(sent.body["messages"], messages)
    assert.deepEqual(sent.mapped, [])
    const chat = (...turns: ReadonlyArray<JsonObject>) =>
      translate("chat", "messages", chatBody({ messages: turns }), { systemBetween: true }).body["messages"]
    const [first, system, answer, last] = messages as unknown as readonly [
      JsonObject,
      JsonObject,
      JsonObject,
      JsonObject
    ]
    assert.deepEqual(chat(first, system, answer, last), messages)
    assert.deepEqual(chat(first, answer, system, last), [
      first,
      answer,
      {
        role: "user",
        content: [
          { type: "text", text: marked },
          { type: "text", text: "c" }
        ]
      }
    ])
  })

  it("stay in their place where a wire has one", () => {
    const roles = (list: unknown) => (list as ReadonlyArray<JsonObject>).map(({ role }) => role)
    const inPlace = ["system", "user", "system", "assistant", "user"]
    assert.deepEqual(roles(translate("messages", "chat", body).body["messages"]), inPlace)
    assert.deepEqual(roles(translate("messages", "ollama", body).body["messages"]), inPlace)
    assert.deepEqual(roles(translate("messages", "responses", body).body["input"]), inPlace.slice(1))
    const { contents, systemInstruction } = translate("messages", "gemini", body).body
    assert.deepEqual(systemInstruction, { parts: [{ text: "Help." }] })
    assert.deepEqual(contents, [
      { role: "user", parts: [{ text: "a" }, { text: marked }] },
      { role: "model", parts: [{ text: "b" }] },
      { role: "user", parts: [{ text: "c" }] }
    ])
  })
})

describe("reasoning without text for a messages client", () => {
  const stop = { reason: "stop", raw: "stop", sequence: null } as const
  const text = { type: "text", text: "Hi" } as const
  const answer = (...parts: Response["parts"]): Response => ({
    id: "r",
    model: "m",
    createdMs: null,
    parts,
    stop,
    usage: null,
    logprobs: null
  })
  /** The blocks of the whole answer, and those of the same answer streamed. */
  const blocks = (response: Response) => {
    const encoder = codecs.messages.makeStreamEncoder(context)
    const streamed = events(
      replay(response)
        .map((event) => encoder.encode(event))
        .join("")
    )
    const whole = codecs.messages.encodeResponse(response, context)["content"] as ReadonlyArray<JsonObject>
    const starts = streamed.filter(({ type }) => type === "content_block_start")
    assert.deepEqual(
      starts.map(({ content_block: block, index }) => [index, block.type]),
      whole.map(({ type }, index) => [index, type])
    )
    assert.lengthOf(
      streamed.filter(({ type }) => type === "content_block_stop"),
      starts.length
    )
    return { starts: starts.map(({ content_block: block }) => block), streamed }
  }

  it("shows nothing of another wire's proof", () => {
    const foreign = { type: "reasoning", text: "", state: { wire: "responses", encrypted: "x", id: "rs_1" } } as const
    assert.deepEqual(blocks(answer(foreign, text)).starts, [{ type: "text", text: "" }])
    const signed = { type: "text", text: "", state: { wire: "gemini", signature: "s" } } as const
    assert.deepEqual(blocks(answer(text, signed)).starts, [{ type: "text", text: "" }])
  })

  it("shows its own proof, signed or redacted", () => {
    const own = { type: "reasoning", text: "", state: { wire: "messages", signature: "sig" } } as const
    const redacted = { type: "reasoning", text: "", state: { wire: "messages", encrypted: "e" } } as const
    const { starts, streamed } = blocks(answer(own, redacted, text))
    assert.deepEqual(starts[0], { type: "thinking", thinking: "", signature: "" })
    assert.deepEqual(starts[1], { type: "redacted_thinking", data: "e" })
    assert.deepEqual(
      streamed
        .filter(({ delta }) => delta?.type === "signature_delta")
        .map(({ delta, index }) => [index, delta.signature]),
      [[0, "sig"]]
    )
  })
})

describe("proofs that hang on texts and calls", () => {
  it("are named when a responses upstream cannot have them", () => {
    const signed = (part: JsonObject) => ({
      model: "m",
      contents: [
        { role: "user", parts: [{ text: "Hi" }] },
        { role: "model", parts: [{ ...part, thoughtSignature: "s" }] },
        { role: "user", parts: [{ text: "So?" }] }
      ]
    })
    for (const part of [{ text: "A" }, { functionCall: { id: "1", name: "f", args: {} } }]) {
      const { dropped } = translate("gemini", "responses", signed(part))
      assert.lengthOf(dropped, 1)
      assert.match(String(dropped[0]), /^contents\.parts\.thought/)
    }
  })
})
