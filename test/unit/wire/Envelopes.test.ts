import { assert, describe, it } from "@effect/vitest"
import * as Either from "effect/Either"
import * as Schema from "effect/Schema"
import { ChatRequest } from "../../../src/wire/chat/Schema.ts"
import { codecs } from "../../../src/wire/Codec.ts"
import type { JsonObject } from "../../../src/wire/json/Json.ts"
import { checkCountEnvelope } from "../../../src/wire/messages/Envelope.ts"
import { MessagesRequest } from "../../../src/wire/messages/Schema.ts"
import { chatBody, messagesBody } from "./support.ts"

const refusedField = (wire: "chat" | "messages", body: unknown): string | null | undefined =>
  Either.match(codecs[wire].checkEnvelope(body), { onLeft: (error) => error.param, onRight: () => undefined })

const wrong: ReadonlyArray<readonly [field: string, more: JsonObject]> = [
  ["model", { model: "" }],
  ["messages", { messages: 5 }],
  ["messages", { messages: [] }],
  ["messages[0]", { messages: ["x"] }],
  ["messages[0].role", { messages: [{ content: "x" }] }],
  ["messages[0].content", { messages: [{ role: "user", content: 5 }] }],
  ["stream", { stream: "yes" }],
  ["max_tokens", { max_tokens: 0 }],
  ["max_tokens", { max_tokens: 1.5 }],
  ["temperature", { temperature: "hot" }],
  ["tools", { tools: {} }]
]

describe("checkEnvelope", () => {
  it("names the field that is wrong", () => {
    for (const [field, more] of wrong) {
      assert.strictEqual(refusedField("chat", chatBody(more)), field)
      assert.strictEqual(refusedField("messages", messagesBody(more)), field)
    }
    assert.strictEqual(refusedField("chat", [1]), "body")
    assert.strictEqual(refusedField("messages", null), "body")
  })

  it("agrees with the schemas of the document", () => {
    const isWrong = wrong.filter(
      ([, more]) => Schema.is(ChatRequest)(chatBody(more)) || Schema.is(MessagesRequest)(messagesBody(more))
    )
    assert.deepEqual(isWrong, [])
    assert.isTrue(Schema.is(ChatRequest)(chatBody({ extra: 1 })))
    assert.isTrue(Schema.is(MessagesRequest)(messagesBody({ extra: 1 })))
  })

  it("wants max_tokens on the messages wire, except for counting", () => {
    const { max_tokens: _limit, ...body } = messagesBody()
    assert.strictEqual(refusedField("messages", body), "max_tokens")
    assert.isTrue(Either.isRight(checkCountEnvelope(body)))
  })

  it("reads what routing needs, and takes nulls for not said", () => {
    const image = { type: "image_url", image_url: { url: "https://x.test" } }
    const envelope = codecs.chat.checkEnvelope(
      chatBody({
        messages: [
          { role: "user", content: [image] },
          { role: "assistant", content: null }
        ],
        tools: [{ type: "function" }],
        max_tokens: null,
        max_completion_tokens: 9,
        n: 2,
        stream: true,
        stream_options: null,
        reasoning_effort: "low",
        response_format: { type: "json_schema" }
      })
    )
    assert.deepEqual(Either.getOrThrow(envelope), {
      model: "m",
      stream: true,
      wantsUsage: false,
      messageCount: 2,
      hasTools: true,
      hasImages: true,
      wantsReasoning: true,
      wantsSchema: true,
      maxOutputTokens: 9,
      candidates: 2,
      needsRewrite: false
    })
  })

  it("asks for a rewrite when reasoning is unsigned", () => {
    const rewrite = (messages: ReadonlyArray<JsonObject>) =>
      Either.getOrThrow(codecs.messages.checkEnvelope(messagesBody({ messages }))).needsRewrite
    assert.isTrue(rewrite([{ role: "assistant", content: [{ type: "thinking", thinking: "x", signature: "" }] }]))
    assert.isFalse(rewrite([{ role: "system", content: "x" }]))
    assert.isFalse(rewrite([{ role: "assistant", content: [{ type: "thinking", thinking: "x", signature: "c2ln" }] }]))
  })
})

describe("relayRequest", () => {
  const relay = (text: string) => {
    const parsed = JSON.parse(text) as JsonObject
    const { body, hideUsage } = codecs.chat.relayRequest(
      Buffer.from(text),
      parsed,
      "up",
      Either.getOrThrow(codecs.chat.checkEnvelope(parsed))
    )
    return [body.toString(), hideUsage]
  }
  const head = '"model":"m","messages":[{"role":"user","content":"a"}]'
  const sent = '"model":"up","messages":[{"role":"user","content":"a"}]'

  it("asks for usage in a stream on its own account, and leaves other requests alone", () => {
    assert.deepEqual(relay(`{${head}}`), [`{${sent}}`, false])
    assert.deepEqual(relay(`{${head},"stream":true}`), [
      `{"stream_options":{"include_usage":true},${sent},"stream":true}`,
      true
    ])
    assert.deepEqual(relay(`{${head},"stream":true,"stream_options":{"include_usage":false,"x":1}}`), [
      `{${sent},"stream":true,"stream_options":{"include_usage":true,"x":1}}`,
      true
    ])
    assert.deepEqual(relay(`{${head},"stream":true,"stream_options":{"include_usage":true}}`), [
      `{${sent},"stream":true,"stream_options":{"include_usage":true}}`,
      false
    ])
  })
})

describe("decodeRequest", () => {
  it("names every field that is wrong", () => {
    const body = chatBody({
      temperature: "x",
      tools: [{ type: "function", function: {} }],
      messages: [{ role: "tool", content: "a" }, { role: "bot" }]
    })
    const error = Either.getOrThrow(Either.flip(codecs.chat.decodeRequest(body)))
    assert.deepEqual(
      error.details.map(({ field }) => field),
      ["messages[0].tool_call_id", "messages[1].role", "tools[0].function.name", "temperature"]
    )
  })
})
