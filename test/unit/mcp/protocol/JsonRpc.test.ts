/** The id of a request that is refused, also where its text is cut or damaged. */
import { assert, describe, it } from "@effect/vitest"
import { readAgentMessages } from "../../../../src/agents/a2a/AgentRequest.ts"
import { idWithin, readClientMessages, refusalOf } from "../../../../src/agents/mcp/protocol/JsonRpc.ts"

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

describe("a client's messages", () => {
  const said = (read: typeof readClientMessages, message: object) => {
    const found = read({ jsonrpc: "2.0", id: 1, method: "x", ...message })
    return "messages" in found ? found.messages[0] : found
  }

  it.each([
    ["Method", { Method: "y" }],
    ["params.Name", { params: { Name: "tool" } }],
    ["params.ref.URI", { params: { ref: { URI: "x" } } }],
    ["params.argument.Value", { params: { argument: { Value: "x" } } }]
  ])("with %s are refused by the id of the request", (named, message) => {
    const read = said(readClientMessages, message)
    assert.deepInclude(read, { _tag: "BadMessage", id: 1 })
    assert.include(String((read as { message?: string }).message), named)
  })

  it.each([
    ["params.message.Parts", { params: { message: { Parts: [] } } }],
    ["params.message.parts.0.TEXT", { params: { message: { parts: [{ TEXT: "x" }] } } }],
    ["params.metadata.Model", { params: { metadata: { Model: "m" } } }],
    ["params.Skill", { params: { Skill: "x" } }],
    ["params.configuration.Blocking", { params: { configuration: { Blocking: false } } }]
  ])("for the agent with %s are refused", (named, message) => {
    assert.include(String((said(readAgentMessages, message) as { message?: string }).message), named)
  })

  it("may have any member in what tools and agents are given", () => {
    const given = { Name: 1, Method: 2, nested: { Params: 3 } }
    assert.deepInclude(said(readClientMessages, { params: { name: "t", arguments: given } }), { _tag: "Request" })
    const part = { kind: "data", data: given }
    assert.deepInclude(said(readAgentMessages, { params: { message: { parts: [part] } } }), { _tag: "Request" })
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
