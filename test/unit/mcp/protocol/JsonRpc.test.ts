/** The id of a request that is refused, also where its text is cut or damaged. */
import { assert, describe, it } from "@effect/vitest"
import { idWithin, refusalOf } from "../../../../src/mcp/protocol/JsonRpc.ts"

describe("idWithin", () => {
  it("finds the id of a text that is cut or no JSON, at its own level only", () => {
    for (const [text, id] of [
      ['{"jsonrpc":"2.0","id":7,"method":"x","params":{"pad":"aaa', 7],
      ['{"params":{"id":1,"list":[{"id":2}]},"id":"three"', "three"],
      ['{"text":"\\"id\\":4","id" : "a\\"b" ,', 'a"b'],
      ['{"id":5', 5],
      ['{"id":"cut', null],
      ['{"id":null,"method":"x"', null],
      ['{"method":"notifications/initialized"', null],
      ['{"params":{"id":1}}', null],
      ['{"id":{"id":1}}', null],
      ["[1,2", null],
      ["", null],
      ['"id":1', null],
      [`{"pad":"${"x".repeat(70_000)}","id":1}`, null]
    ] as const) {
      assert.strictEqual(idWithin(text), id, text.slice(0, 80))
    }
  })

  it("ends on texts of quotes and backslashes", () => {
    for (const part of ['"', '\\"', '"\\', "{", "[", ":"]) {
      assert.isNull(idWithin(`{"a":"${part.repeat(60_000)}`))
    }
  })
})

describe("refusalOf", () => {
  const error = { code: -32_001, message: "No." }
  const refused = (value: unknown) => refusalOf({ text: JSON.stringify(value), isWhole: true }, error)
  const request = (id: unknown) => ({ jsonrpc: "2.0", id, method: "ping" })
  const notification = { jsonrpc: "2.0", method: "notifications/initialized" }

  it("answers each request by its id, and a notification by none", () => {
    assert.deepStrictEqual(refused(request(0)), { jsonrpc: "2.0", id: 0, error })
    assert.deepStrictEqual(refused([request(1), notification, request("two")]), [
      { jsonrpc: "2.0", id: 1, error },
      { jsonrpc: "2.0", id: "two", error }
    ])
    assert.deepStrictEqual(refused(notification), { jsonrpc: "2.0", error })
    assert.deepStrictEqual(refused([notification]), { jsonrpc: "2.0", error })
    assert.deepStrictEqual(refused({ ...request(1), jsonrpc: "1.0" }), { jsonrpc: "2.0", id: 1, error })
    assert.deepStrictEqual(refusalOf({ text: '{"id":3,', isWhole: false }, error), { jsonrpc: "2.0", id: 3, error })
  })
})
