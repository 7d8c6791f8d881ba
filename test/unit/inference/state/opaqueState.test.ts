import { assert, describe, it } from "@effect/vitest"
import { operatorsOwn } from "../../../../src/contract/domain/ContentPermission.ts"
import type { Conversation, Message, Part } from "../../../../src/wire/canonical/Conversation.ts"
import type { AnswerPart } from "../../../../src/wire/canonical/Response.ts"
import { answerKeys } from "../../../../src/plane/state/kept/AnswerKeys.ts"
import { defaultLimits, makeWith, type Origin } from "../../../../src/plane/state/kept/OpaqueState.ts"
import { makePartCollector } from "../../../../src/wire/canonical/PartCollector.ts"
import { proofsIn } from "../../../../src/plane/state/kept/Proofs.ts"

const claude: Origin = { wire: "messages", provider: "anthropic", connectionId: "c1", model: "claude" }
const openai: Origin = { wire: "responses", provider: "openai", connectionId: "o1", model: "gpt" }

const call = (id: string, args: string): AnswerPart => ({ type: "tool_call", id, name: "read", kind: "function", args })
const thinking: AnswerPart = { type: "reasoning", text: "Let me look.", state: { wire: "messages", signature: "sig" } }

const conversation = (...messages: ReadonlyArray<Message>): Conversation => ({
  wire: "chat",
  model: "m",
  stream: false,
  wantsUsage: true,
  messages,
  tools: [],
  toolChoice: null,
  parallelToolCalls: null,
  maxOutputTokens: null,
  candidates: 1,
  sampling: {},
  outputFormat: null,
  reasoning: null,
  user: null,
  metadata: null,
  extras: {}
})
const assistant = (...parts: ReadonlyArray<Part>): Message => ({ role: "assistant", parts })
const partsOf = (value: Conversation, index = 0): ReadonlyArray<Part> => value.messages[index]?.parts ?? []

describe("OpaqueState", () => {
  it("puts the thinking back before the call, with the client's own id", () => {
    const state = makeWith(defaultLimits)
    state.remember(operatorsOwn, "k", claude, [
      thinking,
      { type: "text", text: "Reading." },
      call("toolu_1", '{"path":"a","n":1}')
    ])
    const back = state.attach(
      "k",
      claude,
      conversation(assistant({ type: "text", text: "Reading. " }, call("call_x", '{ "n": 1, "path": "a" }')))
    )
    assert.deepStrictEqual(
      partsOf(back).map((part) => part.type),
      ["reasoning", "text", "tool_call"]
    )
    assert.deepInclude(partsOf(back)[0], thinking)
    assert.deepInclude(partsOf(back)[2], { id: "call_x" })
  })

  it("never meets another key's answer, another provider, another model", () => {
    const state = makeWith(defaultLimits)
    state.remember(operatorsOwn, "k", claude, [thinking, call("a", "{}")])
    const asked = conversation(assistant(call("a", "{}")))
    assert.strictEqual(state.attach("other", claude, asked), asked)
    assert.strictEqual(state.attach("k", { ...claude, provider: "proxy" }, asked), asked)
    assert.strictEqual(state.attach("k", { ...claude, model: "claude-2" }, asked), asked)
    assert.notStrictEqual(state.attach("k", { ...claude, connectionId: "c2" }, asked), asked)
  })

  it("keeps encrypted reasoning with its account", () => {
    const state = makeWith(defaultLimits)
    const hidden: AnswerPart = { type: "reasoning", text: "", state: { wire: "responses", encrypted: "e", id: "rs" } }
    state.remember(operatorsOwn, "k", openai, [hidden, call("a", "{}")])
    const asked = conversation(assistant(call("a", "{}")))
    assert.strictEqual(state.attach("k", { ...openai, connectionId: "o2" }, asked), asked)
    assert.deepInclude(partsOf(state.attach("k", openai, asked))[0], hidden)
  })

  it("joins a turn that a client writes as several messages", () => {
    const state = makeWith(defaultLimits)
    state.remember(operatorsOwn, "k", claude, [thinking, { type: "text", text: "Hm" }, call("a", "{}")])
    const back = state.attach(
      "k",
      claude,
      conversation(assistant({ type: "text", text: "Hm" }), assistant(call("a", "{}")), {
        role: "tool",
        parts: [{ type: "tool_result", callId: "a", content: [], isError: false }]
      })
    )
    assert.deepStrictEqual(
      back.messages.map(({ role }) => role),
      ["assistant", "tool"]
    )
    assert.lengthOf(partsOf(back), 3)
  })

  it("knows a call again whose arguments the client completed, and no other", () => {
    const state = makeWith(defaultLimits)
    state.remember(operatorsOwn, "k", claude, [thinking, call("toolu_1", '{"path":"a"}')])
    const completed = conversation(assistant(call("toolu_1", '{"path":"a","replace_all":false}')))
    assert.lengthOf(partsOf(state.attach("k", claude, completed)), 2)
    const changed = conversation(assistant(call("toolu_1", '{"path":"b","replace_all":false}')))
    assert.strictEqual(state.attach("k", claude, changed), changed)
  })

  it("leaves a turn alone that was changed, or that has its own proof", () => {
    const state = makeWith(defaultLimits)
    state.remember(operatorsOwn, "k", claude, [thinking, { type: "text", text: "Paris" }])
    const edited = conversation(assistant({ type: "text", text: "London" }))
    assert.strictEqual(state.attach("k", claude, edited), edited)
    const own = conversation(assistant({ ...thinking, text: "Mine" }, { type: "text", text: "Paris" }))
    assert.strictEqual(state.attach("k", claude, own), own)
  })

  it("forgets the answers unused longest", () => {
    const state = makeWith({ ...defaultLimits, maxAnswers: 2 })
    const ask = (id: string): Conversation => conversation(assistant(call(id, `{"${id}":1}`)))
    const isKept = (id: string): boolean => {
      const asked = ask(id)
      return state.attach("k", claude, asked) !== asked
    }
    for (const id of ["a", "b"]) state.remember(operatorsOwn, "k", claude, [thinking, call(id, `{"${id}":1}`)])
    assert.isTrue(isKept("a"))
    state.remember(operatorsOwn, "k", claude, [thinking, call("c", '{"c":1}')])
    assert.deepStrictEqual(["a", "b", "c"].map(isKept), [true, false, true])
  })

  it("is bounded in bytes", () => {
    const state = makeWith({ ...defaultLimits, maxBytes: 1_000 })
    state.remember(operatorsOwn, "k", claude, [{ ...thinking, text: "x".repeat(2_000) }, call("a", "{}")])
    const asked = conversation(assistant(call("a", "{}")))
    assert.strictEqual(state.attach("k", claude, asked), asked)
  })

  it("knows whose proofs a client carries", () => {
    const state = makeWith({ ...defaultLimits, maxProofs: 2 })
    assert.isFalse(state.holdsProofs())
    state.noteProofs("k", openai, ["p1", "p2"])
    assert.isTrue(state.isForeign("k", { ...openai, connectionId: "o2" }, "p1"))
    assert.isFalse(state.isForeign("k", openai, "p1"))
    assert.isFalse(state.isForeign("other", { ...openai, connectionId: "o2" }, "p1"))
    state.noteProofs("k", openai, ["p3"])
    assert.isFalse(state.isForeign("k", { ...openai, connectionId: "o2" }, "p1"), "forgotten is not foreign")
  })
})

describe("answerKeys", () => {
  it("tells neighbours apart that would join to the same text", () => {
    const keys = (...names: ReadonlyArray<string>): ReadonlyArray<string> =>
      answerKeys(
        "k",
        names.map((name) => ({ type: "tool_call", id: "", name, kind: "custom", args: "" }))
      )
    assert.notDeepEqual(keys("ab", "c"), keys("a", "bc"))
  })

  it("has none for an answer that says nothing", () => {
    assert.deepStrictEqual(answerKeys("k", [thinking]), [])
  })

  it("survives arguments that are no JSON, and very deep ones", () => {
    const deep = "[".repeat(5_000) + "]".repeat(5_000)
    for (const args of ["{broken", deep]) assert.lengthOf(answerKeys("k", [call("a", args)]), 3)
  })
})

describe("PartCollector", () => {
  it("gathers interleaved blocks in their order", () => {
    const collector = makePartCollector()
    collector.add({ type: "block_start", index: 1, block: { type: "tool_call", id: "a", name: "f", kind: "function" } })
    collector.add({ type: "block_start", index: 0, block: { type: "reasoning" } })
    collector.add({ type: "delta", index: 0, delta: { type: "text", text: "Hm" } })
    collector.add({ type: "delta", index: 0, delta: { type: "state", state: { wire: "messages", signature: "s" } } })
    assert.deepStrictEqual(collector.parts(), [
      { type: "reasoning", text: "Hm", state: { wire: "messages", signature: "s" } },
      { type: "tool_call", id: "a", name: "f", kind: "function", args: "{}" }
    ])
  })

  it("gives up on an answer without end", () => {
    const collector = makePartCollector()
    collector.add({ type: "block_start", index: 0, block: { type: "text" } })
    for (let i = 0; i < 5; i += 1) {
      collector.add({ type: "delta", index: 0, delta: { type: "text", text: "x".repeat(1_048_576) } })
    }
    assert.isNull(collector.parts())
  })
})

describe("proofsIn", () => {
  it("reads the proofs of each wire that has them", () => {
    assert.deepStrictEqual(proofsIn("messages", '{"type":"thinking","signature": "s1"},{"signature":""}'), ["s1"])
    assert.deepStrictEqual(proofsIn("responses", Buffer.from('{"encrypted_content":"e1"}')), ["e1"])
    assert.deepStrictEqual(proofsIn("gemini", '{"thoughtSignature":"t1"}'), ["t1"])
    assert.deepStrictEqual(proofsIn("chat", '{"signature":"s1"}'), [])
  })
})
