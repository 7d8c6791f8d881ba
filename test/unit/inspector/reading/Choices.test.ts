/** Answers of several choices: all of them are told, whatever the wire, whole and streamed. */
import { assert, describe, it } from "@effect/vitest"
import { makeAnswerReader } from "../../../../src/observe/inspector/reading/AnswerText.ts"
import { conversationOf } from "../../../../src/observe/inspector/reading/Conversation.ts"
import { formatOf } from "../../../../src/observe/inspector/reading/Format.ts"
import { answerFactsOf, requestFactsOf } from "../../../../src/observe/inspector/reading/Llm.ts"
import type { ApiKind } from "../../../../src/contract/domain/TrafficRecord.ts"
import type { JsonObject } from "../../../../src/wire/json/Json.ts"

const event = (value: unknown): string => `data: ${JSON.stringify(value)}\n\n`
const messages = [{ role: "user", content: "Name a colour" }]
const colours = ["red", "green", "blue"]

interface Wire {
  readonly kind: ApiKind
  readonly path: string
  readonly request: JsonObject
  readonly whole: unknown
  /** Pieces of the choices, one after the other of each. */
  readonly stream: ReadonlyArray<unknown>
}

const inHalves = (make: (half: string, index: number, isLast: boolean) => unknown): ReadonlyArray<unknown> =>
  [0, 1].flatMap((turn) =>
    colours.map((colour, index) => make(turn === 0 ? colour.slice(0, 2) : colour.slice(2), index, turn === 1))
  )

const wires: ReadonlyArray<Wire> = [
  {
    kind: "chat",
    path: "/v1/chat/completions",
    request: { model: "m", n: 3, messages },
    whole: {
      object: "chat.completion",
      model: "m",
      choices: colours.map((content, index) => ({
        index,
        message: { role: "assistant", content },
        finish_reason: "stop"
      }))
    },
    stream: inHalves((content, index, isLast) => ({
      object: "chat.completion.chunk",
      model: "m",
      choices: [{ index, delta: { content }, finish_reason: isLast ? "stop" : null }]
    }))
  },
  {
    kind: "completions",
    path: "/v1/completions",
    request: { model: "m", n: 3, prompt: "Name a colour" },
    whole: {
      object: "text_completion",
      model: "m",
      choices: colours.map((text, index) => ({ index, text, finish_reason: "stop" }))
    },
    stream: inHalves((text, index, isLast) => ({
      object: "text_completion",
      model: "m",
      choices: [{ index, text, finish_reason: isLast ? "stop" : null }]
    }))
  },
  {
    kind: "gemini",
    path: "/v1beta/models/m:streamGenerateContent?alt=sse",
    request: { contents: [{ role: "user", parts: [{ text: "Name a colour" }] }] },
    whole: {
      candidates: colours.map((text, index) => ({
        index,
        content: { role: "model", parts: [{ text }] },
        finishReason: "STOP"
      }))
    },
    stream: inHalves((text, index, isLast) => ({
      candidates: [
        { index, content: { role: "model", parts: [{ text }] }, ...(isLast ? { finishReason: "STOP" } : {}) }
      ]
    }))
  }
]

const forms = wires.flatMap((wire) => [
  { wire, form: "whole", text: JSON.stringify(wire.whole), type: "application/json" },
  { wire, form: "streamed", text: wire.stream.map(event).join(""), type: "text/event-stream" }
])

describe("all choices of an answer", () => {
  for (const { form, text, type, wire } of forms) {
    const title = `${wire.kind}, ${form}`

    it(`are turns of the conversation: ${title}`, () => {
      const view = conversationOf({
        path: wire.path,
        request: { text: JSON.stringify(wire.request), contentType: "application/json", isCut: false },
        response: { text, contentType: type, isCut: false }
      })
      assert.deepStrictEqual(
        view.response,
        colours.map((colour) => ({ role: "assistant" as const, blocks: [{ type: "text" as const, text: colour }] }))
      )
    })

    it(`are counted where the provider reports no tokens: ${title}`, () => {
      const tokensOf = (request: JsonObject, answer: string): number => {
        const format = formatOf(wire.path, request)
        assert.isNotNull(format)
        const facts = requestFactsOf(format)
        return answerFactsOf(facts, wire.path, null, { text: answer, contentType: type, isCut: false }).tokensOut ?? 0
      }
      const only = (choices: unknown): string => JSON.stringify(choices)
      const first = text.replaceAll(/"(?:green|gr|een|blue|bl|ue)"/g, only(""))
      assert.isAbove(tokensOf(wire.request, text), tokensOf(wire.request, first))
    })

    it(`are shown as text: ${title}`, () => {
      const reader = makeAnswerReader({ kind: wire.kind, path: wire.path, type })
      const said = reader.push(Buffer.from(text)) + reader.end()
      assert.strictEqual(said, "red\n\n(choice 2)\ngreen\n\n(choice 3)\nblue")
    })
  }

  it("are bounded, and cost no more than their bytes", () => {
    const many = Array.from({ length: 20_000 }, (_, index) =>
      event({ choices: [{ index, delta: { content: "x" }, finish_reason: "stop" }] })
    ).join("")
    const view = conversationOf({
      path: "/v1/chat/completions",
      request: { text: JSON.stringify({ model: "m", messages }), contentType: "application/json", isCut: false },
      response: { text: many, contentType: "text/event-stream", isCut: false }
    })
    assert.strictEqual(view.response.length, 128)
  })
})
