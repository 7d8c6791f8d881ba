import { assert, describe, it } from "@effect/vitest"
import { decodeStored } from "../../../../src/subjects/combos/entity/ComboPolicy.ts"
import { ComboStrategy } from "../../../../src/subjects/combos/entity.ts"
import type { WireName } from "../../../../src/contract/domain/Wire.ts"
import type { Resolution } from "../../../../src/plane/routing/resolve/ModelResolver.ts"
import {
  sessionAffinityOf,
  startsPrompt,
  staysAtAccount
} from "../../../../src/plane/routing/decide/SessionAffinity.ts"
import type { JsonObject } from "../../../../src/wire/json/Json.ts"
import { spec } from "../auto/support.ts"

const resolution = (strategy: string, config: object = {}, auto: Resolution["auto"] = null): Resolution => ({
  combo: null,
  strategy,
  targets: [],
  weights: [],
  steps: [],
  auto,
  quotaGroup: null,
  policy: decodeStored(config)
})

const user = { role: "user", content: "Hi" }
const called = { role: "assistant", content: null, tool_calls: [{ id: "c", type: "function" }] }
const reminder = { role: "system", content: "Be brief." }
const text = { type: "text", text: "and this" }
const result = { type: "tool_result", tool_use_id: "c", content: "42" }

/** What a wire's request ends with, and whether that is a prompt. */
const turns: ReadonlyArray<readonly [WireName, string, JsonObject, boolean]> = [
  ["chat", "a user's message", { messages: [reminder, user] }, true],
  ["chat", "a result", { messages: [user, called, { role: "tool", tool_call_id: "c", content: "42" }] }, false],
  [
    "chat",
    "a result and instructions",
    { messages: [user, called, { role: "tool", tool_call_id: "c", content: "42" }, reminder] },
    false
  ],
  ["chat", "a user's message and instructions", { messages: [user, reminder] }, true],
  ["chat", "the begin of an answer", { messages: [user, { role: "assistant", content: "I" }] }, false],
  ["chat", "a text alone", { prompt: "Once upon" }, true],
  ["chat", "nothing", { messages: [] }, false],
  ["messages", "a user's text", { messages: [user] }, true],
  ["messages", "a user's parts", { messages: [{ role: "user", content: [text] }] }, true],
  ["messages", "a result", { messages: [user, called, { role: "user", content: [result] }] }, false],
  ["messages", "a result beside a reminder", { messages: [{ role: "user", content: [result, text] }] }, false],
  ["messages", "a reminder behind a prompt", { messages: [user, reminder] }, true],
  ["responses", "a text", { input: "Hi" }, true],
  ["responses", "a user's message", { input: [{ type: "message", role: "user", content: [] }] }, true],
  ["responses", "a message without a type", { input: [user] }, true],
  ["responses", "a result", { input: [user, { type: "function_call_output", call_id: "c", output: "42" }] }, false],
  ["responses", "a result of a free-form tool", { input: [{ type: "custom_tool_call_output", call_id: "c" }] }, false],
  ["gemini", "a user's turn", { contents: [{ role: "user", parts: [{ text: "Hi" }] }] }, true],
  ["gemini", "a turn without a role", { contents: [{ parts: [{ text: "Hi" }] }] }, true],
  [
    "gemini",
    "a result",
    { contents: [{ role: "user", parts: [{ functionResponse: { name: "f", response: {} } }] }] },
    false
  ],
  ["gemini", "the model's turn", { contents: [{ role: "model", parts: [] }] }, false],
  ["ollama", "a user's message", { messages: [user] }, true],
  ["ollama", "a result", { messages: [user, { role: "tool", content: "42" }] }, false]
]

describe("session affinity", () => {
  for (const [wire, name, body, isPrompt] of turns) {
    it(`${wire}: ${name} is ${isPrompt ? "a prompt" : "no prompt"}`, () => {
      assert.strictEqual(startsPrompt(wire, body), isPrompt)
    })
  }

  it("gives way at a prompt where the order is the operator's, and stays where it is not", () => {
    const prompt = [...ComboStrategy.literals, "quota-share"].filter(
      (strategy) => sessionAffinityOf(resolution(strategy)) === "prompt"
    )
    assert.deepStrictEqual(prompt.toSorted(), ["context-optimized", "cost-optimized", "fill-first", "priority"])
    assert.strictEqual(sessionAffinityOf(resolution("lkgp", {}, spec("auto"))), "strict")
  })

  it("is what the combo says, whatever its strategy", () => {
    for (const strategy of ComboStrategy.literals) {
      for (const affinity of ["strict", "prompt", "off"] as const) {
        assert.strictEqual(sessionAffinityOf(resolution(strategy, { sessionAffinity: affinity })), affinity)
      }
    }
  })

  it("strict stays for every turn, prompt until the next prompt, off for none", () => {
    const stays = (sessionAffinity: string) =>
      [true, false].map((prompt) => staysAtAccount(resolution("priority", { sessionAffinity }), () => prompt))
    assert.deepStrictEqual(stays("strict"), [true, true])
    assert.deepStrictEqual(stays("prompt"), [false, true])
    assert.deepStrictEqual(stays("off"), [false, false])
  })
})
