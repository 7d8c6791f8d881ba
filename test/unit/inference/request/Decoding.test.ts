import { assert, describe, it } from "@effect/vitest"
import * as Either from "effect/Either"
import { Decoding } from "../../../../src/plane/request/Decoding.ts"
import { codecs } from "../../../../src/wire/Codec.ts"
import type { JsonObject } from "../../../../src/wire/json/Json.ts"
import { makeReadOutlined } from "../../../../src/wire/json/outline/Outline.ts"

const { messages } = codecs
const body = {
  model: "m",
  max_tokens: 5,
  messages: Array.from({ length: 40 }, (_, at) => ({
    role: at % 2 === 0 ? "user" : "assistant",
    content: "é".repeat(300)
  }))
}
const read = makeReadOutlined(() => 7n)

/** The decoder, and how often it was asked. */
const counting = () => {
  let times = 0
  const decodeRequest = (source: JsonObject) => {
    times += 1
    return messages.decodeRequest(source)
  }
  return { decodeRequest, times: () => times }
}

describe("the decoding of a request", () => {
  it("is made once, and anew after a large one was forgotten, with the same conversation", () => {
    const rules = messages.outline
    const outlined = rules === undefined ? null : read(Buffer.from(JSON.stringify(body)), rules)
    if (outlined === null) return assert.fail("the body was not read with an outline")
    const codec = counting()
    const decoding = new Decoding(codec, outlined)
    const first = decoding.conversation()
    assert.strictEqual(decoding.conversation(), first)
    const list = outlined["messages"]
    decoding.forget()
    assert.notStrictEqual(outlined["messages"], list)
    assert.deepStrictEqual(outlined["messages"], list)
    assert.deepStrictEqual(Either.getOrThrow(decoding.conversation()), Either.getOrThrow(messages.decodeRequest(body)))
    assert.strictEqual(codec.times(), 2)
  })

  it("is kept of a body that has no outline", () => {
    const codec = counting()
    const decoding = new Decoding(codec, body)
    const first = decoding.conversation()
    decoding.forget()
    assert.strictEqual(decoding.conversation(), first)
    assert.strictEqual(codec.times(), 1)
  })
})
