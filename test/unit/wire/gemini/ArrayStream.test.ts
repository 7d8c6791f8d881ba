import { assert, describe, it } from "@effect/vitest"
import { errorView } from "../../../../src/contract/domain/Errors.ts"
import { makeStreamTranslator, type StreamTap } from "../../../../src/wire/Codec.ts"
import { chat } from "../../../../src/wire/chat/Codec.ts"
import { gemini, geminiArray } from "../../../../src/wire/gemini/Codec.ts"
import type { JsonObject } from "../../../../src/wire/json/Json.ts"
import { chunk, context, cut, sse } from "../support.ts"
import { answer, data } from "./support.ts"

const problem = errorView(503, "gone")

const usageMetadata = { promptTokenCount: 1, candidatesTokenCount: 2, totalTokenCount: 3 }
const chunks = [
  answer([{ text: "A ]" }]),
  answer([{ text: '"B"' }], null, { newMember: { kept: true } }),
  answer([{ text: "" }], "STOP", { usageMetadata })
]

const through = (
  source: Pick<StreamTap, "facts"> & { push: (b: Buffer) => Buffer | string; end: () => Buffer | string }
) => ({
  feed: (text: string, size: number) =>
    cut(text, size)
      .map((piece) => source.push(piece).toString())
      .join(""),
  end: () => source.end().toString(),
  facts: source.facts
})

const textsOf = (array: ReadonlyArray<JsonObject>): string =>
  JSON.stringify(array)
    .match(/"text":"(?:[^"\\]|\\.)*"/g)
    ?.join("") ?? ""

describe("a stream as one array", () => {
  it("is a kind of the gemini wire with another content type", () => {
    assert.strictEqual(geminiArray.name, gemini.name)
    assert.strictEqual(geminiArray.streamContentType, "application/json")
    assert.strictEqual(geminiArray.heartbeat.trim(), "")
    assert.strictEqual(geminiArray.endMark, "")
  })

  it("a gemini upstream's chunks go on whole, wherever its events are cut", () => {
    for (const size of [1, 7, 1000]) {
      const tap = through(geminiArray.makeStreamTap({ hideUsage: false }))
      const text = tap.feed(data(...chunks), size) + tap.end()
      assert.deepEqual(JSON.parse(text), chunks)
      assert.isTrue(tap.facts.terminated)
      assert.strictEqual(tap.facts.usage?.out, 2)
    }
  })

  it("of another upstream is translated, and stays readable between heartbeats", () => {
    const upstream = sse(chunk({ content: "A" }), chunk({ content: "B" }, "stop"), "[DONE]")
    const source = through(makeStreamTranslator(geminiArray, chat, context))
    const parts = upstream.split(/(?<=\n\n)/).map((event) => source.feed(event, 1000))
    const array = JSON.parse(parts.join(geminiArray.heartbeat) + source.end()) as ReadonlyArray<JsonObject>
    assert.strictEqual(textsOf(array), '"text":"""text":"A""text":"B""text":""')
    const last = array.at(-1)?.["candidates"] as ReadonlyArray<JsonObject>
    assert.strictEqual(last[0]?.["finishReason"], "STOP")
  })

  it("that breaks ends in an error element and is still JSON", () => {
    const call = chunk({ tool_calls: [{ index: 0, id: "c", function: { name: "f", arguments: "" } }] })
    const broken = [
      [through(geminiArray.makeStreamTap({ hideUsage: false })), data(answer([{ text: "A" }]))],
      [through(makeStreamTranslator(geminiArray, chat, context)), sse(chunk({ content: "A" }))],
      // Content that has nothing to show yet.
      [through(makeStreamTranslator(geminiArray, chat, context)), sse(call)]
    ] as const
    for (const [source, text] of broken) {
      const said = source.feed(text, 11)
      assert.isTrue(source.facts.content)
      source.end()
      const array = JSON.parse(said + geminiArray.renderStreamError(problem, "r1")) as ReadonlyArray<JsonObject>
      assert.include(JSON.stringify(array.at(-1)), '"error":{"code":503,"message":"gone"')
      assert.isAbove(array.length, 1)
    }
  })

  it("the upstream's own error is not let through", () => {
    const tap = through(geminiArray.makeStreamTap({ hideUsage: false }))
    const said = tap.feed(data(answer([{ text: "A" }]), { error: { code: 429, message: "slow" } }), 1000)
    assert.strictEqual(said + tap.end(), `[${JSON.stringify(answer([{ text: "A" }]))}`)
    assert.strictEqual(tap.facts.problem?.status, 429)
  })
})
