import { assert, describe, it } from "@effect/vitest"
import * as FC from "effect/FastCheck"
import type { WireName } from "../../../src/contract/domain/Wire.ts"
import { isArray, type Json, type JsonObject } from "../../../src/wire/json/Json.ts"
import { chatBody, messagesBody, translate } from "../../unit/wire/support.ts"

type Turn = ReadonlyArray<JsonObject>

const text = FC.string({ minLength: 1, maxLength: 12 }).map((value) => `${value}.`)
const user = text.map((content): Turn => [{ role: "user", content }])
const answer = text.map((content): Turn => [{ role: "assistant", content }])
const system = FC.record({ role: FC.constantFrom("system", "developer"), content: text }).map((said): Turn => [said])
const calls = FC.record({
  id: FC.uuid(),
  other: FC.uuid(),
  between: FC.array(system, { maxLength: 1 }),
  result: text
}).map(({ between, id, other, result }): Turn => {
  const made = [id, other].map((each) => ({
    id: each,
    type: "function",
    function: { name: "look", arguments: `{"q":"${each}"}` }
  }))
  const answers = [other, id].map((each) => ({ role: "tool", tool_call_id: each, content: result }))
  return [{ role: "assistant", content: null, tool_calls: made } as JsonObject].concat(between.flat(), answers)
})

/** A session as its client sends it, request after request: what it begins with, then turns of any kind. */
const session = FC.record({
  head: FC.array(system, { maxLength: 2 }),
  first: user,
  turns: FC.array(FC.oneof(user, answer, system, calls), { minLength: 1, maxLength: 12 })
})

/** What a provider's prompt cache sees, in its order. Blocks of a turn count one by one; a text is a block. */
const prompt = (wire: WireName, body: JsonObject): ReadonlyArray<string> => {
  const blocks = (content: Json | undefined): ReadonlyArray<Json> =>
    typeof content === "string" ? [{ type: "text", text: content }] : isArray(content) ? content : []
  const turns = (list: Json | undefined, member: string): ReadonlyArray<Json> =>
    (list as ReadonlyArray<JsonObject>).flatMap((turn) =>
      blocks(turn[member]).map((part) => [String(turn["role"]), part])
    )
  const seen = ((): ReadonlyArray<Json> => {
    switch (wire) {
      case "messages":
        return [...blocks(body["system"]), ...turns(body["messages"], "content")]
      case "gemini":
        return [(body["systemInstruction"] ?? null) as Json, ...turns(body["contents"], "parts")]
      case "responses":
        return [(body["instructions"] ?? null) as Json, ...(body["input"] as ReadonlyArray<Json>)]
      default:
        return body["messages"] as ReadonlyArray<Json>
    }
  })()
  return seen.map((item) => JSON.stringify(item))
}

const run = { seed: 20_261_122, numRuns: 100 }

const upstreams = ["chat", "messages", "responses", "gemini", "ollama"] as const

const grows = (sizes: Turn, requests: ReadonlyArray<Turn>, see: (messages: Turn) => ReadonlyArray<string>): void => {
  let messages: Turn = sizes
  let before = see(messages)
  for (const turn of requests) {
    messages = messages.concat(turn)
    const now = see(messages)
    assert.deepEqual(now.slice(0, before.length), before)
    before = now
  }
}

describe("a conversation that grows", () => {
  it("never changes the begin of what an upstream is sent", () => {
    FC.assert(
      FC.property(session, ({ first, head, turns }) => {
        for (const wire of upstreams) {
          grows([...head.flat(), ...first], turns, (messages) => {
            // Another turn follows always: the very last one of an assistant is a prefill, which loses its white space.
            const whole = chatBody({ messages: [...messages, { role: "user", content: "?" }] })
            return prompt(wire, translate("chat", wire, whole).body).slice(0, -1)
          })
        }
      }),
      run
    )
  })

  it("never changes it for a model that takes system messages between turns, when answers follow them", () => {
    const dialogue = FC.array(FC.tuple(user, FC.option(system), answer), { minLength: 1, maxLength: 6 })
    FC.assert(
      FC.property(dialogue, (turns) => {
        grows(
          [{ role: "user", content: "a" }],
          turns.map(([asked, between, said]) => [
            { role: "assistant", content: "b" },
            ...asked,
            ...(between ?? []),
            ...said,
            ...asked
          ]),
          (messages) =>
            prompt("messages", translate("chat", "messages", chatBody({ messages }), { systemBetween: true }).body)
        )
        grows(
          [{ role: "user", content: "a" }],
          turns.map(([asked, between, said]) => [
            ...said,
            ...asked,
            ...(between ?? []).map(({ content }) => ({ role: "system", content }))
          ]),
          (messages) =>
            prompt(
              "messages",
              translate("messages", "messages", messagesBody({ messages }), { systemBetween: true }).body
            )
        )
      }),
      run
    )
  })
})
