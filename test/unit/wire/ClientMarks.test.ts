/** Cache marks of chat clients in the places where their libraries put them. */
import { assert, describe, it } from "@effect/vitest"
import type { JsonObject } from "../../../src/wire/json/Json.ts"
import { chatBody, translate } from "./support.ts"

const mark = { type: "ephemeral" }
const hour = { type: "ephemeral", ttl: "1h" }
const marked = { cache_control: mark }
const call = { id: "c1", type: "function", function: { name: "look", arguments: "{}" } }
const tool = { type: "function", function: { name: "look", parameters: { type: "object", properties: {} } } }

const sent = (more: JsonObject) => translate("chat", "messages", chatBody(more), { maxOutputTokens: 1_000 })

describe("a mark on a message", () => {
  it("stands on its last block, whoever speaks", () => {
    const { body, dropped } = sent({
      messages: [
        { role: "system", content: "Rules", ...marked },
        { role: "user", content: "One", cache_control: hour },
        { role: "assistant", content: "Looking", tool_calls: [call], ...marked },
        { role: "tool", tool_call_id: "c1", content: "Found", ...marked }
      ],
      tools: [tool]
    })
    assert.deepStrictEqual(body["system"], [{ type: "text", text: "Rules", ...marked }])
    assert.deepStrictEqual(body["messages"], [
      { role: "user", content: [{ type: "text", text: "One", cache_control: hour }] },
      {
        role: "assistant",
        content: [
          { type: "text", text: "Looking" },
          { type: "tool_use", id: "c1", name: "look", input: {}, ...marked }
        ]
      },
      { role: "user", content: [{ type: "tool_result", tool_use_id: "c1", content: "Found", ...marked }] }
    ])
    assert.deepStrictEqual(dropped, [])
  })

  it("of parts stands on the last one that can bear it, and a part's own mark stays", () => {
    const parts = (content: ReadonlyArray<JsonObject>): unknown => {
      const { body } = sent({ messages: [{ role: "user", content, ...marked }] })
      return (body["messages"] as ReadonlyArray<JsonObject>)[0]?.["content"]
    }
    const picture = { type: "image_url", image_url: { url: "data:image/png;base64,AAAA" } }
    const image = { type: "image", source: { type: "base64", media_type: "image/png", data: "AAAA" } }
    assert.deepStrictEqual(parts([{ type: "text", text: "a" }, picture]), [
      { type: "text", text: "a" },
      { ...image, ...marked }
    ])
    assert.deepStrictEqual(parts([picture, { type: "text", text: "" }]), [{ ...image, ...marked }])
    assert.deepStrictEqual(parts([{ type: "text", text: "a", cache_control: hour }]), [
      { type: "text", text: "a", cache_control: hour }
    ])
  })

  it("of results that become one turn stays with its result, and a call may bear its own", () => {
    const { body } = sent({
      messages: [
        { role: "user", content: "Hi" },
        {
          role: "assistant",
          content: null,
          tool_calls: [
            { ...call, ...marked },
            { ...call, id: "c2" }
          ]
        },
        { role: "tool", tool_call_id: "c1", content: "1" },
        { role: "tool", tool_call_id: "c2", content: "2", ...marked }
      ],
      tools: [tool]
    })
    const turns = body["messages"] as ReadonlyArray<{ content: ReadonlyArray<JsonObject> }>
    assert.deepStrictEqual(
      turns.slice(1).map(({ content }) => content.map((block) => block["cache_control"])),
      [
        [mark, undefined],
        [undefined, mark]
      ]
    )
  })

  it("goes on as it came on its own wire, and is named where none is known", () => {
    const messages = [{ role: "user", content: "One", ...marked }]
    assert.deepStrictEqual(translate("chat", "chat", chatBody({ messages })).body["messages"], messages)
    for (const wire of ["responses", "gemini", "ollama"] as const) {
      assert.deepStrictEqual(translate("chat", wire, chatBody({ messages })).dropped, ["cache_control"], wire)
    }
  })
})

describe("other places", () => {
  it("a mark inside a function stands on the tool", () => {
    const { body, dropped } = sent({ tools: [{ type: "function", function: { ...tool.function, ...marked } }] })
    assert.deepStrictEqual((body["tools"] as ReadonlyArray<JsonObject>)[0]?.["cache_control"], mark)
    assert.deepStrictEqual(dropped, [])
  })

  it("a mark on the request stands there on the messages wire", () => {
    const { body, dropped } = sent(marked)
    assert.deepStrictEqual(body["cache_control"], mark)
    assert.deepStrictEqual(dropped, [])
    assert.deepStrictEqual(translate("chat", "gemini", chatBody(marked)).dropped, ["cache_control"])
    assert.deepStrictEqual(sent({ cache_control: "yes" }).dropped, ["cache_control"])
  })
})
