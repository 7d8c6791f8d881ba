import { assert, describe, it } from "@effect/vitest"
import { anatomyIn, conversationIn, requestJsonOf } from "../../../src/inspector/Views.ts"
import { aRecord } from "../../support/TrafficRecords.ts"

const body = JSON.stringify({
  model: "m",
  messages: [
    { role: "user", content: "first" },
    { role: "user", content: "second" }
  ]
})

describe("a record read as", () => {
  it("a conversation keeps the key of the whole request, and reads what is left of a body", () => {
    const cut = `${body.slice(0, -15)}[truncated: 60 of 900 bytes]`
    const view = conversationIn(aRecord({ requestBody: cut, requestTruncated: true, contextKey: "0123456789ab" }))
    assert.strictEqual(view.contextKey, "0123456789ab")
    assert.deepStrictEqual(view.request[0], { role: "user", blocks: [{ type: "text", text: "first" }] })
  })

  it("an anatomy adds up to its body, and is null without one", () => {
    const anatomy = anatomyIn(aRecord({ requestBody: body }))
    assert.strictEqual(
      anatomy?.sections.reduce((sum, { bytes }) => sum + bytes, 0),
      Buffer.byteLength(body)
    )
    assert.isNull(anatomyIn(aRecord({ requestBody: null, bodyEvicted: true })))
    assert.isNull(anatomyIn(aRecord({ requestBody: "no json" })))
    assert.isNull(anatomyIn(aRecord({ requestBody: "e30=", requestEncoding: "base64" })))
    assert.deepStrictEqual(requestJsonOf(aRecord({ requestBody: "{}" })), {})
  })
})
