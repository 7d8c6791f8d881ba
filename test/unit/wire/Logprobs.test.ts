import { assert, describe, it } from "@effect/vitest"
import * as Either from "effect/Either"
import type { WireName } from "../../../src/contract/domain/Wire.ts"
import { replay } from "../../../src/wire/canonical/Replay.ts"
import { codecs } from "../../../src/wire/Codec.ts"
import type { JsonObject } from "../../../src/wire/json/Json.ts"
import { chatBody, chunk, context, events, sse, translate, translateStream } from "./support.ts"

const token = (text: string, logprob: number): JsonObject => ({
  token: text,
  logprob,
  bytes: null,
  top_logprobs: [{ token: text, logprob, bytes: null }]
})
const told = [token("A", -0.1), token("B", -0.2)]

const withLogprobs = (text: string, index: number): JsonObject => ({
  ...chunk({}),
  choices: [{ index: 0, delta: { content: text }, logprobs: { content: [told[index] ?? {}] }, finish_reason: null }]
})
const chatStream = sse(withLogprobs("A", 0), withLogprobs("B", 1), chunk({}, "stop"), "[DONE]")

/** All tokens of a stream, as the chat wire tells them. */
const tokensOf = (wire: WireName, text: string): ReadonlyArray<unknown> => {
  const decoder = codecs[wire].makeStreamDecoder()
  return [...decoder.push(Buffer.from(text)), ...decoder.end()].flatMap((event) =>
    event.type === "delta" && event.delta.type === "text" ? (event.delta.logprobs ?? []) : []
  )
}

describe("token probabilities in a stream", () => {
  for (const client of ["chat", "responses", "gemini", "ollama"] as const) {
    it(`reach a ${client} client, and are read from a ${client} upstream`, () => {
      const there = translateStream(client, "chat", chatStream).text
      assert.deepEqual(tokensOf(client, there), told)
      assert.deepEqual(tokensOf("chat", translateStream("chat", client, there).text), told)
    })
  }

  it("stand with the very text in the chat wire, and null elsewhere", () => {
    const choices = events(translateStream("chat", "chat", chatStream).text).flatMap((event) => event.choices ?? [])
    assert.deepEqual(
      choices.map(({ delta, logprobs }) => [delta.content, logprobs?.content]),
      [
        ["", undefined],
        ["A", [told[0]]],
        ["B", [told[1]]],
        [undefined, undefined]
      ]
    )
  })

  it("stand in the whole output of the responses wire", () => {
    const { text } = translateStream("responses", "chat", chatStream)
    const [item] = events(text).at(-1).response.output
    // Clients of this wire want bytes to be a list.
    assert.deepEqual(
      item.content[0].logprobs,
      told.map((one) => ({ ...one, bytes: [] }))
    )
  })

  it("of a whole answer told as a stream are kept", () => {
    const whole = {
      id: "c",
      choices: [{ index: 0, message: { content: "AB" }, logprobs: { content: told }, finish_reason: "stop" }]
    }
    const encoder = codecs.chat.makeStreamEncoder(context)
    const text = replay(Either.getOrThrow(codecs.chat.decodeResponse(whole))).map((event) => encoder.encode(event))
    assert.deepEqual(tokensOf("chat", text.join("")), told)
  })

  it("that a target cannot tell are named as dropped", () => {
    const asked = chatBody({ logprobs: true, top_logprobs: 2 })
    assert.deepEqual(translate("chat", "messages", asked, { stream: true }).dropped, ["logprobs", "top_logprobs"])
    assert.deepEqual(translate("chat", "responses", asked, { stream: true }).dropped, [])
  })
})

describe("token probabilities of whole answers", () => {
  it("go to and come from the gemini wire", () => {
    const whole = {
      id: "c",
      choices: [{ index: 0, message: { content: "AB" }, logprobs: { content: told }, finish_reason: "stop" }]
    }
    const there = codecs.gemini.encodeResponse(Either.getOrThrow(codecs.chat.decodeResponse(whole)), context)
    assert.deepEqual(Either.getOrThrow(codecs.gemini.decodeResponse(there)).logprobs, { content: told })
  })
})
