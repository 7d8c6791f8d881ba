/** Answers as text, piece by piece. */
import { assert, describe, it } from "@effect/vitest"
import type { ApiKind } from "../../../../src/contract/domain/TrafficRecord.ts"
import { makeAnswerReader } from "../../../../src/observe/inspector/reading/AnswerText.ts"
import * as Fake from "../../../support/FakeUpstream.ts"

const sse = "text/event-stream; charset=utf-8"

const shown = (kind: ApiKind | null, path: string, type: string, chunks: ReadonlyArray<string | Uint8Array>) => {
  const reader = makeAnswerReader({ kind, path, type })
  const pieces = chunks.map((chunk) => reader.push(typeof chunk === "string" ? Buffer.from(chunk) : chunk))
  const end = reader.end()
  return { pieces, text: pieces.join("") + end, beside: reader.beside(), problem: reader.problem() }
}

const event = (value: unknown): string => `data: ${JSON.stringify(value)}\n\n`

describe("an answer as text", () => {
  it("comes with each piece of a stream, cut anywhere", () => {
    const whole = Buffer.from(Fake.chatStream(["Grüße ", "aus ", "Köln"]).join(""))
    const cut = Array.from({ length: whole.length }, (_, at) => whole.subarray(at, at + 1))
    const answer = shown("chat", "/v1/chat/completions", sse, cut)
    assert.deepInclude(answer, { text: "Grüße aus Köln", problem: null, beside: [] })
    assert.isAbove(answer.pieces.filter((piece) => piece !== "").length, 1)
  })

  it("is read on every wire", () => {
    const messages = shown("messages", "/v1/messages", sse, Fake.messagesStream(["Bon", "jour"]))
    assert.deepInclude(messages, { text: "Bonjour", problem: null })
    const line = (content: string, done: boolean): string =>
      `${JSON.stringify({ model: "m", created_at: "2026-11-24T10:00:00Z", message: { role: "assistant", content }, done, ...(done ? { done_reason: "stop" } : {}) })}\n`
    const ollama = shown("ollama", "/api/chat", "application/x-ndjson", [line("Bon", false), line("jour", true)])
    assert.deepInclude(ollama, { text: "Bonjour", problem: null })
    const part = (text: string, more: object = {}) => ({
      candidates: [{ content: { role: "model", parts: [{ text }] }, ...more }]
    })
    const chunks = [part("Bon"), part("jour", { finishReason: "STOP" })]
    const gemini = shown("gemini", "/v1beta/models/m:streamGenerateContent?alt=sse", sse, chunks.map(event))
    assert.deepInclude(gemini, { text: "Bonjour", problem: null })
    const array = shown("gemini", "/v1beta/models/m:streamGenerateContent", "application/json", [
      JSON.stringify(chunks)
    ])
    assert.strictEqual(array.text, "Bonjour")
    const completions = shown("completions", "/v1/completions", sse, [
      event({ object: "text_completion", choices: [{ index: 0, text: "Bon", finish_reason: null }] }),
      event({ object: "text_completion", choices: [{ index: 0, text: "jour", finish_reason: "stop" }] }),
      "data: [DONE]\n\n"
    ])
    assert.strictEqual(completions.text, "Bonjour")
    const whole = JSON.stringify(Fake.chatCompletion({ text: "Bonjour" }))
    assert.strictEqual(shown("chat", "/v1/chat/completions", "application/json", [whole]).text, "Bonjour")
  })

  it("has tool calls beside it", () => {
    const call = { id: "c1", type: "function", function: { name: "read_file", arguments: '{"path":"a"}' } }
    const chunk = (delta: object, reason: string | null) =>
      event({ id: "x", object: "chat.completion.chunk", choices: [{ index: 0, delta, finish_reason: reason }] })
    const streamed = [
      chunk({ role: "assistant", tool_calls: [{ index: 0, ...call }] }, null),
      chunk({}, "tool_calls"),
      "data: [DONE]\n\n"
    ]
    const expected = ['→ read_file {"path":"a"}']
    assert.deepStrictEqual(shown("chat", "/v1/chat/completions", sse, streamed).beside, expected)
    const message = { role: "assistant", content: null, tool_calls: [call] }
    const whole = JSON.stringify({
      object: "chat.completion",
      choices: [{ index: 0, message, finish_reason: "tool_calls" }]
    })
    assert.deepStrictEqual(shown("chat", "/v1/chat/completions", "application/json", [whole]).beside, expected)
  })

  it("tells of a stream that failed, and shows what it cannot read as it is", () => {
    const [role, text] = Fake.chatStream(["Bon"])
    const failed = shown("chat", "/v1/chat/completions", sse, [
      role ?? "",
      text ?? "",
      event({ error: { message: "The upstream broke.", type: "server_error", code: "truncated" } })
    ])
    assert.strictEqual(failed.text, "Bon")
    assert.match(failed.problem ?? "", /upstream broke/i)
    assert.isNotNull(shown("chat", "/v1/chat/completions", sse, [role ?? "", text ?? ""]).problem)
    assert.strictEqual(shown(null, "/x", "text/plain", ["as it ", "is"]).text, "as it is")
    const vectors = '{"object":"list","data":[{"embedding":[0.1]}]}'
    assert.include(shown("embeddings", "/v1/embeddings", "application/json", [vectors]).text, "0.1")
    const large = ["ä".repeat(6_000_000), "ö".repeat(6_000_000)].map((piece) => Buffer.from(piece))
    const long = shown(null, "/x", "text/plain", large)
    assert.strictEqual(long.text.length, 12_000_000)
  })
})
