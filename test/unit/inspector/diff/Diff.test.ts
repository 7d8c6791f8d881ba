import { assert, describe, it } from "@effect/vitest"
import { promptOf } from "../../../../src/observe/inspector/prompt/PromptOrder.ts"
import { diffBodies, maxChanges } from "../../../../src/observe/inspector/diff/Diff.ts"
import type { Json, JsonObject } from "../../../../src/wire/json/Json.ts"
import { bodyOf, eventsOf, retold, system, talk, tools } from "../cache/Conversations.ts"

const chat = (body: object) => ({ wire: "chat", model: "gpt-5.1", body: body as JsonObject }) as const
const messages = (body: object) => ({ wire: "messages", model: "claude-sonnet-4-5", body: body as JsonObject }) as const

describe("the difference of two requests", () => {
  it("is none for the same one", () => {
    const body = bodyOf("chat", talk(5))
    const { changes, commonPrefix, equal, omitted } = diffBodies(chat(body), chat(structuredClone(body)))
    const { bytes, firstDifference } = commonPrefix
    assert.deepStrictEqual({ equal, changes, omitted }, { equal: true, changes: [], omitted: 0 })
    assert.deepStrictEqual(
      { bytes, firstDifference },
      { bytes: promptOf("chat", body as JsonObject).bytes, firstDifference: null }
    )
  })

  it("is one turn where a conversation goes on", () => {
    const [one, other] = [bodyOf("chat", talk(4)), bodyOf("chat", talk(5))]
    const { changes, commonPrefix } = diffBodies(chat(one), chat(other))
    assert.deepStrictEqual(
      changes.map(({ op, path }) => `${op} ${path}`),
      ["add messages[8]", "add messages[9]"]
    )
    assert.strictEqual(commonPrefix.bytes, promptOf("chat", one as JsonObject).bytes)
    assert.strictEqual(commonPrefix.firstDifference, "messages[8].tool_calls[0]")
    assert.isAbove(commonPrefix.tokens, 2_000)
  })

  it("names the place, in the request and in the prompt", () => {
    const described = tools.map((tool, at) => (at === 1 ? Object.assign({}, tool, { description: "Other." }) : tool))
    const events = eventsOf(5).map((event, at) => (at === 0 ? retold(event, "Hello.") : event))
    const changed = { ...bodyOf("messages", { tools: described, system: `${system}!`, events }), max_tokens: 5 }
    const { changes, commonPrefix, equal } = diffBodies(messages(bodyOf("messages", talk(5))), messages(changed))
    assert.isFalse(equal)
    assert.deepStrictEqual(
      changes.map(({ op, path }) => `${op} ${path}`),
      [
        "replace max_tokens",
        "replace tools[1].description",
        "replace system[0].text",
        "replace messages[0].content[0].text"
      ]
    )
    assert.strictEqual(commonPrefix.firstDifference, "tools[1].description")
    const [limit, , rules] = changes
    assert.deepStrictEqual(limit, { op: "replace", path: "max_tokens", before: 1_000, after: 5 })
    // The end of a long text is where it differs.
    assert.isTrue(String(rules?.after).endsWith("!"))
    assert.isTrue(String(rules?.after).startsWith("…"))
  })

  it("tells tools that were put in, taken out and put elsewhere", () => {
    const list = (...names: ReadonlyArray<string>) => ({
      tools: names.map((name) => ({ name, description: `The tool ${name}.` })),
      messages: []
    })
    const paths = (one: object, other: object) =>
      diffBodies(messages(one), messages(other)).changes.map(({ op, path }) => `${op} ${path}`)
    assert.deepStrictEqual(paths(list("a", "b", "c"), list("a", "c")), ["remove tools[1]"])
    assert.deepStrictEqual(paths(list("a", "c"), list("a", "b", "c")), ["add tools[1]"])
    assert.deepStrictEqual(paths(list("a", "b", "c", "d"), list("b", "c", "d", "a")), [
      "remove tools[0]",
      "add tools[3]"
    ])
  })

  it("tells members in another order, which are other bytes", () => {
    const one = { tools: [{ name: "a", input_schema: { x: 1, y: 2 } }], messages: [] }
    const other = { tools: [{ name: "a", input_schema: { y: 2, x: 1 } }], messages: [] }
    const { changes, commonPrefix, equal } = diffBodies(messages(one), messages(other))
    assert.isFalse(equal)
    assert.deepStrictEqual(changes, [
      { op: "replace", path: "tools[0].input_schema", before: { x: 1, y: 2 }, after: { y: 2, x: 1 } }
    ])
    assert.strictEqual(commonPrefix.firstDifference, "tools[0].input_schema")
  })

  it("counts the bytes both begin with, within characters of several bytes too", () => {
    const one = (text: string) => messages({ messages: [{ role: "user", content: text }] })
    const head = '{"type":"text","text":"'
    const { commonPrefix } = diffBodies(one("Grüße 🌍 a"), one("Grüße 🌍 b"))
    assert.strictEqual(commonPrefix.bytes, Buffer.byteLength(`${head}Grüße 🌍 `))
    assert.strictEqual(commonPrefix.firstDifference, "messages[0].content")
    // Half of a pair of surrogates is no character.
    assert.strictEqual(diffBodies(one("🌍"), one("🌏")).commonPrefix.bytes, Buffer.byteLength(head))
  })

  it("is bounded: long values are cut, further changes are counted", () => {
    const list = (text: string) => ({
      messages: Array.from({ length: 800 }, (_, at) => ({ role: "user", content: `${at} ${text}` }))
    })
    const { changes, omitted } = diffBodies(chat(list("a")), chat(list("b")))
    assert.strictEqual(changes.length, maxChanges)
    assert.strictEqual(omitted, 800 - maxChanges)
    const long = diffBodies(chat({ a: ["x".repeat(50_000)] }), chat({ b: { c: "y".repeat(50_000) } }))
    assert.isBelow(JSON.stringify(long.changes).length, 10_000)
    assert.deepStrictEqual(
      long.changes.map(({ op, path }) => `${op} ${path}`),
      ["remove a", "add b"]
    )
  })

  it("takes deep values", () => {
    let deep: Json = 1
    for (let level = 0; level < 500; level += 1) deep = [deep]
    let other: Json = 2
    for (let level = 0; level < 500; level += 1) other = [other]
    assert.strictEqual(diffBodies(chat({ deep }), chat({ deep: other })).changes.length, 1)
  })
})
