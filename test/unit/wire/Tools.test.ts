import { assert, describe, it } from "@effect/vitest"
import * as Either from "effect/Either"
import type { WireName } from "../../../src/contract/domain/Wire.ts"
import { aliasesOf } from "../../../src/wire/canonical/Aliases.ts"
import type { Part } from "../../../src/wire/canonical/Conversation.ts"
import { codecs, encodeAnswer, makeStreamTranslator, maxAnswerChars } from "../../../src/wire/Codec.ts"
import type { JsonObject } from "../../../src/wire/json/Json.ts"
import { chatBody, chunk, context, events, messagesBody, sse, translate, translateStream } from "./support.ts"

const plain = { pattern: /^[a-zA-Z0-9_-]+$/, maxChars: 64 }
const schema = { type: "object", properties: { q: { type: "string" } } }
const long = `mcp__server__${"x".repeat(80)}`
const names = ["files/read", "files.read", `${long}1`, `${long}2`, "plain"]

const chatTools = names.map((name) => ({ type: "function", function: { name, parameters: schema } }))
const history = [
  { role: "user", content: "Hi" },
  {
    role: "assistant",
    content: null,
    tool_calls: [
      { id: "functions.read:0", type: "function", function: { name: "files/read", arguments: "{}" } },
      { id: `call_${"9".repeat(70)}`, type: "function", function: { name: `${long}1`, arguments: "{}" } }
    ]
  },
  { role: "tool", tool_call_id: "functions.read:0", content: "a" },
  { role: "tool", tool_call_id: `call_${"9".repeat(70)}`, content: "b" }
]

/** What a target was told, read by its own decoder. */
const told = (target: WireName, body: JsonObject) =>
  Either.getOrThrow(codecs[target].decodeRequest({ ...body, model: "m" }))
const partsOf = (target: WireName, body: JsonObject): ReadonlyArray<Part> =>
  told(target, body).messages.flatMap(({ parts }) => parts)
const toolNamesOf = (target: WireName, body: JsonObject) =>
  told(target, body).tools.flatMap((tool) => (tool.type === "builtin" ? [] : tool.name))
const callsOf = (target: WireName, body: JsonObject) =>
  partsOf(target, body).flatMap((part) => (part.type === "tool_call" ? [[part.id, part.name]] : []))
const resultsOf = (target: WireName, body: JsonObject) =>
  partsOf(target, body).flatMap((part) => (part.type === "tool_result" ? part.callId : []))

describe("other words for what a wire refuses", () => {
  it("leaves what fits, keeps all others apart, and depends on the word alone", () => {
    const all = aliasesOf(names, plain)
    assert.strictEqual(all.get("files/read"), "files_read_d2acbc6d")
    assert.isUndefined(all.get("plain"))
    assert.strictEqual(new Set(all.values()).size, 4)
    for (const alias of all.values()) assert.match(alias, /^[a-zA-Z0-9_-]{1,64}$/)
    assert.deepEqual([...aliasesOf(["files.read"], plain)], [["files.read", all.get("files.read") ?? ""]])
  })

  it("takes no word that is in use", () => {
    const taken = aliasesOf(["a.b"], plain).get("a.b") ?? ""
    const other = aliasesOf(["a.b", taken], plain).get("a.b") ?? ""
    assert.notStrictEqual(other, taken)
    assert.match(other, /^a_b_[0-9a-f]{8}$/)
  })

  it("begins with a letter where a wire wants one, also for words of nothing else", () => {
    const limit = { pattern: /^[a-zA-Z_][a-zA-Z0-9_.:-]*$/, maxChars: 64 }
    for (const word of ["9 lives", "-", "", "ü", "😀".repeat(100)]) {
      assert.match(aliasesOf([word], limit).get(word) ?? "", /^[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}$/, word)
    }
  })
})

describe("names of tools outside a wire's limits", () => {
  const body = { messages: history, tools: chatTools }

  for (const target of ["messages", "responses"] as const) {
    it(`→ ${target}: one name in definition, choice and history`, () => {
      const choice = { tool_choice: { type: "function", function: { name: `${long}2` } } }
      const sent = translate("chat", target, chatBody({ ...body, ...choice }))
      const aliases = aliasesOf(names, plain)
      assert.deepEqual(
        toolNamesOf(target, sent.body),
        names.map((name) => aliases.get(name) ?? name)
      )
      assert.deepEqual(
        callsOf(target, sent.body).map(([, name]) => name),
        [aliases.get("files/read"), aliases.get(`${long}1`)]
      )
      assert.deepEqual(told(target, sent.body).toolChoice, { type: "tool", name: aliases.get(`${long}2`) ?? "" })
      assert.include(sent.mapped, "tools.name")
      assert.deepEqual(
        [...(sent.toolNames ?? [])].toSorted(),
        [...aliases].map(([name, alias]) => [alias, { name, custom: false }]).toSorted()
      )
    })
  }

  it("→ gemini: dots and colons pass, slashes and long names do not", () => {
    const tools = ["a.b:c", "a/b"].map((name) => ({ name, input_schema: schema }))
    const { body: sent } = translate("messages", "gemini", messagesBody({ tools }))
    const [first, second] = toolNamesOf("gemini", { ...sent, model: "m" })
    assert.strictEqual(first, "a.b:c")
    assert.match(String(second), /^a_b_[0-9a-f]{8}$/)
  })

  it("→ ollama, or a speaker of the same wire: nothing is renamed", () => {
    for (const target of ["ollama", "chat"] as const) {
      const sent = translate("chat", target, chatBody(body))
      assert.deepEqual(toolNamesOf(target, sent.body), names)
      assert.isUndefined(sent.toolNames)
    }
  })

  it("come back in whole answers and in streams", () => {
    const { toolNames } = translate("chat", "messages", chatBody(body))
    const alias = aliasesOf(names, plain).get("files.read") ?? ""
    const use = { type: "tool_use", id: "t1", name: alias, input: { q: "1" } }
    const whole = { id: "m1", model: "c", content: [use], stop_reason: "tool_use", usage: {} }
    const decoded = Either.getOrThrow(codecs.messages.decodeResponse(whole))
    const answer = encodeAnswer(codecs.chat, decoded, { ...context, ...(toolNames && { toolNames }) })
    assert.include(JSON.stringify(answer), '"name":"files.read"')
    const stream = sse(
      { type: "message_start", message: { id: "m1", model: "c", usage: {} } },
      { type: "content_block_start", index: 0, content_block: { ...use, input: {} } },
      { type: "content_block_delta", index: 0, delta: { type: "input_json_delta", partial_json: "{}" } },
      { type: "content_block_stop", index: 0 },
      { type: "message_delta", delta: { stop_reason: "tool_use" }, usage: {} },
      { type: "message_stop" }
    )
    const { text } = translateStream("chat", "messages", stream, toolNames && { toolNames })
    assert.include(text, '"name":"files.read"')
    assert.notInclude(text, alias)
  })
})

describe("ids of calls outside a wire's limits", () => {
  const oddCall = (id: string) => ({
    ...messagesBody(),
    messages: [{ role: "assistant", content: [{ type: "tool_use", id, name: "f", input: {} }] }]
  })

  it("are one word in call and result, and the same in every turn", () => {
    for (const [target, fits] of [
      ["messages", /^[a-zA-Z0-9_-]{1,64}$/],
      ["responses", /^.{1,64}$/]
    ] as const) {
      const { body } = translate("chat", target, chatBody({ messages: history }))
      const ids = callsOf(target, body).map(([id]) => id)
      assert.deepEqual(resultsOf(target, body), ids)
      assert.strictEqual(new Set(ids).size, 2)
      for (const id of ids) assert.match(String(id), fits)
      const next = translate("chat", target, chatBody({ messages: [...history, { role: "user", content: "So?" }] }))
      assert.deepEqual(
        callsOf(target, next.body).map(([id]) => id),
        ids
      )
    }
  })

  it("→ chat: at most forty characters", () => {
    const id = `toolu_${"a".repeat(50)}`
    const messages = [
      { role: "user", content: "Hi" },
      { role: "assistant", content: [{ type: "tool_use", id, name: "f", input: {} }] },
      { role: "user", content: [{ type: "tool_result", tool_use_id: id, content: "a" }] }
    ]
    const { body } = translate("messages", "chat", messagesBody({ messages }))
    const [[told] = []] = callsOf("chat", body)
    assert.strictEqual(told?.length, 40)
    assert.deepEqual(resultsOf("chat", body), [told])
  })

  it("between speakers of one wire are the upstream's own, but for the messages wire", () => {
    for (const [wire, kept] of [
      ["chat", true],
      ["messages", false]
    ] as const) {
      const { body } = translate(wire, wire, wire === "chat" ? chatBody({ messages: history }) : oddCall("a:b"))
      const ids = callsOf(wire, { max_tokens: 1, ...body }).map(([id]) => id)
      assert.strictEqual(ids.includes(wire === "chat" ? "functions.read:0" : "a:b"), kept, wire)
    }
  })

  it("a messages body with odd ids is not relayed as it is", () => {
    const check = (id: string) => Either.getOrThrow(codecs.messages.checkEnvelope(oddCall(id))).needsRewrite
    assert.deepEqual([check("toolu_1"), check("functions.read:0")], [false, true])
    const { body } = translate("messages", "messages", oddCall("functions.read:0"))
    assert.match(String(callsOf("messages", { ...body, max_tokens: 1 })[0]?.[0]), /^functions_read_0_[0-9a-f]{8}$/)
  })
})

describe("free-form tools", () => {
  const custom = {
    messages: [
      { role: "user", content: "Hi" },
      { role: "assistant", tool_calls: [{ id: "c1", type: "custom", custom: { name: "patch", input: "*** Begin" } }] },
      { role: "tool", tool_call_id: "c1", content: "ok" }
    ],
    tools: [{ type: "custom", custom: { name: "patch", description: "Patches" } }]
  }

  it("are JSON tools with one text for every upstream that may not know them", () => {
    for (const target of ["messages", "gemini", "ollama"] as const) {
      const sent = translate("chat", target, chatBody(custom), { openAiTools: true })
      const [tool] = told(target, sent.body).tools
      assert.strictEqual(tool?.type, "function", target)
      assert.deepEqual(
        partsOf(target, sent.body).flatMap((part) => (part.type === "tool_call" ? [part.kind, part.args] : [])),
        ["function", '{"input":"*** Begin"}']
      )
      assert.deepEqual(sent.dropped, [])
      assert.include(sent.mapped, "tools.custom")
    }
  })

  it("stay what they are for OpenAI's own endpoints", () => {
    const input = [{ role: "user", content: "Hi" }]
    const body = { model: "m", input, tools: [{ type: "custom", name: "patch" }] }
    const kindAt = (openAiTools: boolean | null) =>
      told("chat", translate("responses", "chat", body, { openAiTools }).body).tools.map(({ type }) => type)
    assert.deepEqual([kindAt(true), kindAt(false), kindAt(null)], [["custom"], ["function"], ["function"]])
    const back = (openAiTools: boolean | null) =>
      told("responses", translate("chat", "responses", chatBody(custom), { openAiTools }).body).tools.map(
        ({ type }) => type
      )
    assert.deepEqual([back(true), back(false), back(null)], [["custom"], ["function"], ["custom"]])
  })

  it("an upstream's answer is a free-form call again, whole and streamed", () => {
    const { toolNames } = translate("chat", "messages", chatBody(custom))
    const more = toolNames && { toolNames }
    const use = { type: "tool_use", id: "t1", name: "patch", input: { input: "*** Begin\n" } }
    const whole = { id: "m1", model: "c", content: [use], stop_reason: "tool_use", usage: {} }
    const answer = encodeAnswer(codecs.chat, Either.getOrThrow(codecs.messages.decodeResponse(whole)), {
      ...context,
      ...more
    })
    assert.include(JSON.stringify(answer), '"custom":{"name":"patch","input":"*** Begin\\n"}')
    const stream = sse(
      { type: "message_start", message: { id: "m1", model: "c", usage: {} } },
      { type: "content_block_start", index: 0, content_block: { ...use, input: {} } },
      { type: "content_block_delta", index: 0, delta: { type: "input_json_delta", partial_json: '{"input":"*** Be' } },
      { type: "content_block_delta", index: 0, delta: { type: "input_json_delta", partial_json: 'gin\\n"}' } },
      { type: "content_block_stop", index: 0 },
      { type: "message_delta", delta: { stop_reason: "tool_use" }, usage: {} },
      { type: "message_stop" }
    )
    const { facts, text } = translateStream("chat", "messages", stream, more)
    const calls = events(text).flatMap((event) => event.choices?.[0]?.delta.tool_calls ?? [])
    assert.deepEqual(calls, [
      { index: 0, id: "t1", type: "custom", custom: { name: "patch", input: "" } },
      { index: 0, custom: { input: "*** Begin\n" } }
    ])
    assert.strictEqual(facts.toolArgChars, '{"input":"*** Begin\\n"}'.length)
    const asResponses = translateStream("responses", "messages", stream, more)
    const [item] = events(asResponses.text).at(-1).response.output
    assert.deepEqual([item.type, item.input], ["custom_tool_call", "*** Begin\n"])
  })

  it("what the model wrote otherwise is kept whole", () => {
    const { toolNames } = translate("chat", "messages", chatBody(custom))
    const use = { type: "tool_use", id: "t1", name: "patch", input: { a: "1", b: "2" } }
    const decoded = codecs.messages.decodeResponse({ id: "m", content: [use], stop_reason: "tool_use" })
    const answer = encodeAnswer(codecs.chat, Either.getOrThrow(decoded), {
      ...context,
      ...(toolNames && { toolNames })
    })
    assert.include(JSON.stringify(answer), JSON.stringify('{"a":"1","b":"2"}'))
  })
})

describe("a list of allowed tools", () => {
  const input = [{ role: "user", content: "Hi" }]
  const tools = ["f", "g"].map((name) => ({ type: "function", name, parameters: schema }))
  const tool_choice = { type: "allowed_tools", mode: "required", tools: [{ type: "function", name: "g" }] }
  const body = { model: "m", input, tools, tool_choice }

  it("→ chat: the others are not offered, unless the endpoint knows such lists", () => {
    const sent = translate("responses", "chat", body)
    assert.deepEqual(toolNamesOf("chat", sent.body), ["g"])
    assert.strictEqual(sent.body["tool_choice"], "required")
    assert.deepEqual(sent.mapped, ["tool_choice"])
    const known = translate("responses", "chat", body, { openAiTools: true })
    assert.deepEqual(toolNamesOf("chat", known.body), ["f", "g"])
  })
})

describe("an answer without end", () => {
  it("is a failure of the upstream, before it fills the memory", () => {
    const piece = "x".repeat(4 * 1_048_576)
    const call = (text: string) => ({ tool_calls: [{ index: 0, id: "c", function: { name: "f", arguments: text } }] })
    const text = (delta: JsonObject) => Buffer.from(sse(chunk(delta)))
    for (const delta of [{ content: piece }, { reasoning_content: piece }, call(piece)]) {
      const { facts, push } = makeStreamTranslator(codecs.gemini, codecs.chat, context)
      const bytes = text(delta)
      for (let at = 0; at < 10; at += 1) push(bytes)
      assert.strictEqual(facts.problem?.status, 502)
      assert.isAtMost(facts.textChars + facts.reasoningChars + facts.toolArgChars, maxAnswerChars)
    }
  })
})
