/** What panel and judge are asked, and who sits on a panel. */
import { assert, describe, it } from "@effect/vitest"
import * as Either from "effect/Either"
import type { Combo } from "../../../../../src/subjects/combos/entity.ts"
import { membersOf } from "../../../../../src/plane/features/fusion/Members.ts"
import { judgeQuestion, panelQuestion } from "../../../../../src/plane/features/fusion/Question.ts"
import { fitted, sourceBudget } from "../../../../../src/plane/features/fusion/Sources.ts"
import type { Target } from "../../../../../src/plane/routing/resolve/ModelResolver.ts"
import type { Conversation } from "../../../../../src/wire/canonical/Conversation.ts"
import { codecs } from "../../../../../src/wire/Codec.ts"
import type { JsonObject } from "../../../../../src/wire/json/Json.ts"
import type { WireName } from "../../../../../src/contract/domain/Wire.ts"
import { namedTarget } from "../../../../support/Candidates.ts"

const decoded = (wire: WireName, body: JsonObject): Conversation => Either.getOrThrow(codecs[wire].decodeRequest(body))

const encoded = (wire: WireName, conversation: Conversation): JsonObject =>
  codecs[wire].encodeRequest(conversation, {
    model: conversation.model,
    stream: conversation.stream,
    maxOutputTokens: null,
    reasoning: null
  }).body

const tool = { type: "function", function: { name: "f", parameters: { type: "object", properties: {} } } }
const agent: JsonObject = {
  model: "m",
  stream: true,
  n: 2,
  seed: 7,
  vendor_field: { kept: true },
  tools: [tool],
  tool_choice: "auto",
  parallel_tool_calls: true,
  functions: [{ name: "old" }],
  messages: [
    { role: "system", content: "Be brief." },
    { role: "user", content: "Look" },
    {
      role: "assistant",
      content: null,
      tool_calls: [{ id: "c1", type: "function", function: { name: "f", arguments: '{"a":1}' } }]
    },
    { role: "tool", tool_call_id: "c1", content: "found it" }
  ]
}

describe("the panel's question", () => {
  it("has no tools, no stream and one answer; everything else stays", () => {
    const body = encoded("chat", panelQuestion(decoded("chat", agent)))
    for (const gone of ["tools", "tool_choice", "parallel_tool_calls", "functions", "stream", "n"]) {
      assert.notProperty(body, gone)
    }
    assert.deepInclude(body, { seed: 7, vendor_field: { kept: true } })
  })

  it("tells earlier calls and results in words", () => {
    const messages = encoded("chat", panelQuestion(decoded("chat", agent)))["messages"] as ReadonlyArray<JsonObject>
    assert.deepStrictEqual(
      messages.map((message) => message["role"]),
      ["system", "user", "assistant", "user"]
    )
    assert.deepStrictEqual(messages.slice(0, 2), (agent["messages"] as ReadonlyArray<JsonObject>).slice(0, 2))
    assert.include(JSON.stringify(messages[2]), 'Tool call f: {\\"a\\":1}')
    assert.include(JSON.stringify(messages[3]), "found it")
    assert.notInclude(JSON.stringify(messages), "tool_call")
  })

  it("leaves a conversation without tools as it is, on every wire", () => {
    const bodies: Readonly<Record<WireName, JsonObject>> = {
      chat: { model: "m", messages: [{ role: "user", content: "Hi", name: "x" }], logit_bias: { "1": 2 }, x: 1 },
      messages: {
        model: "m",
        max_tokens: 9,
        system: [{ type: "text", text: "s", cache_control: { type: "ephemeral" } }],
        messages: [{ role: "user", content: "Hi" }],
        x: 1
      },
      responses: {
        model: "m",
        input: [{ type: "message", role: "user", content: [{ type: "input_text", text: "Hi" }] }],
        x: 1
      },
      gemini: { contents: [{ role: "user", parts: [{ text: "Hi" }] }], safetySettings: [{ category: "a" }] },
      ollama: { model: "m", stream: false, messages: [{ role: "user", content: "Hi" }], keep_alive: 3 }
    }
    for (const wire of ["chat", "messages", "responses", "gemini", "ollama"] as const) {
      const model = wire === "gemini" ? { model: "m", stream: false } : {}
      const conversation = decoded(wire, { ...bodies[wire], ...model })
      assert.deepStrictEqual(encoded(wire, panelQuestion(conversation)), encoded(wire, conversation))
      assert.deepInclude(encoded(wire, conversation), bodies[wire])
    }
  })
})

describe("the judge's question", () => {
  it("has the sources behind the client's words, with stream and tools", () => {
    const conversation = { ...decoded("chat", agent), candidates: 1 }
    const judged = judgeQuestion(conversation, ["one", "two"])
    assert.strictEqual(judged.stream, true)
    assert.deepStrictEqual(judged.tools, conversation.tools)
    assert.deepStrictEqual(judged.messages.slice(0, -1), conversation.messages)
    const told = JSON.stringify(judged.messages.at(-1))
    assert.include(told, "Source 1:\\none")
    assert.include(told, "Source 2:\\ntwo")
    assert.notInclude(told, "Source 3:")
  })

  it("is one more part of the client's last turn, where that is the user's", () => {
    const conversation = decoded("chat", { model: "m", messages: [{ role: "user", content: "Hi" }] })
    const judged = judgeQuestion(conversation, ["one", "two"])
    assert.lengthOf(judged.messages, 1)
    assert.deepStrictEqual(judged.messages[0]?.parts[0], conversation.messages[0]?.parts[0])
    assert.lengthOf(judged.messages[0]?.parts ?? [], 2)
  })
})

/** A fusion of these steps, each of which stands for the target at its place. */
const panel = (given: Combo["targets"], targets: ReadonlyArray<Target>) => ({
  combo: { targets: given } as Combo,
  steps: targets.map((_, index) => index),
  targets
})
const everybody = (): boolean => true

describe("the sources", () => {
  it("are whole where there is room; short ones leave theirs to the long ones", () => {
    assert.deepStrictEqual(fitted(["abc", "defgh"], 8), ["abc", "defgh"])
    const [one, two, three] = fitted(["ab", "c".repeat(100), "d".repeat(100)], 62)
    assert.strictEqual(one, "ab")
    assert.match(two ?? "", /^c{30}\n\[.* 70 characters/)
    assert.match(three ?? "", /^d{30}\n\[/)
  })

  it("are never cut through a character", () => {
    assert.match(fitted(["😀😀"], 3)[0] ?? "", /^😀\n\[.* 2 characters/)
  })

  it("get what the conversation and the answer leave of the window, and always a part of it", () => {
    const short = decoded("chat", {
      model: "m",
      max_tokens: 100,
      messages: [{ role: "user", content: "x".repeat(298) }]
    })
    assert.strictEqual(sourceBudget(short, 1_000), 3_000 - 300 - 300)
    const long = decoded("chat", { model: "m", messages: [{ role: "user", content: "x".repeat(10_000) }] })
    assert.strictEqual(sourceBudget(long, 1_000), 750)
    assert.isAbove(sourceBudget(short, null), 100_000)
  })
})

describe("the members", () => {
  it("are models: accounts of one are alternatives", () => {
    const [a1, a2, b, other] = [
      namedTarget("a", "1"),
      namedTarget("a", "2"),
      namedTarget("b", "3"),
      namedTarget("a", "1", "n")
    ]
    assert.deepStrictEqual(membersOf(panel([{ model: "a/m" }], [a1, a2, b, other]), everybody), [
      [a1, a2],
      [b],
      [other]
    ])
  })

  it("are accounts where the combo names them", () => {
    const [one, two] = [namedTarget("a", "1"), namedTarget("a", "2")]
    const named = panel(
      [
        { model: "a/m", connectionId: "1" },
        { model: "a/m", connectionId: "2" }
      ],
      [one, two]
    )
    assert.deepStrictEqual(membersOf(named, everybody), [[one], [two]])
  })

  it("are only those that can be used", () => {
    const [one, two] = [namedTarget("a", "1"), namedTarget("b", "2")]
    assert.deepStrictEqual(
      membersOf(panel([{ model: "a/m" }, { model: "b/m" }], [one, two]), (target) => target === two),
      [[two]]
    )
  })

  it("are one for an automatic id, whatever it can choose from", () => {
    const [one, two, three] = [namedTarget("a"), namedTarget("b"), namedTarget("c")]
    const open = { ...panel([{ model: "c/m" }, { model: "auto/fast" }], [three, one, two]), steps: [0, 1, 1] }
    assert.deepStrictEqual(membersOf(open, everybody), [[three], [one, two]])
  })
})
