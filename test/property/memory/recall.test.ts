/** Whatever a session is, a later request of it begins as the one before ended. */
import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import type { PlacedBlock } from "../../../src/subjects/memory/entity.ts"
import type { WireName } from "../../../src/contract/domain/Wire.ts"
import { blockOf } from "../../../src/plane/memory/Block.ts"
import { makeBlocks } from "../../../src/plane/memory/Blocks.ts"
import { recalled, userTurns, withBlocks } from "../../../src/plane/memory/Recall.ts"
import type { Json, JsonObject } from "../../../src/wire/json/Json.ts"

const user: Readonly<Record<WireName, (text: string) => JsonObject>> = {
  chat: (content) => ({ role: "user", content }),
  messages: (content) => ({ role: "user", content }),
  ollama: (content) => ({ role: "user", content }),
  responses: (content) => ({ type: "message", role: "user", content }),
  gemini: (text) => ({ role: "user", parts: [{ text }] })
}

const tools: Readonly<Record<WireName, readonly [JsonObject, JsonObject]>> = {
  chat: [
    { role: "assistant", content: null, tool_calls: [{ id: "c" }] },
    { role: "tool", tool_call_id: "c", content: "r" }
  ],
  ollama: [
    { role: "assistant", content: "", tool_calls: [{ function: {} }] },
    { role: "tool", content: "r" }
  ],
  messages: [
    { role: "assistant", content: [{ type: "tool_use", id: "c" }] },
    { role: "user", content: [{ type: "tool_result", tool_use_id: "c" }] }
  ],
  responses: [
    { type: "function_call", call_id: "c" },
    { type: "function_call_output", call_id: "c", output: "r" }
  ],
  gemini: [
    { role: "model", parts: [{ functionCall: { name: "f" } }] },
    { role: "user", parts: [{ functionResponse: { name: "f" } }] }
  ]
}

const wire = fc.constantFrom<WireName>("chat", "messages", "ollama", "responses", "gemini")
const steps = fc.array(fc.record({ isCall: fc.boolean(), text: fc.string(), hasBlock: fc.boolean() }), {
  minLength: 1,
  maxLength: 12
})

const isBlock = (turn: Json | undefined): boolean => JSON.stringify(turn ?? null).includes("BLOCK")

describe("blocks of memories", () => {
  it("stay where they were put, and never stand between a call and its result", () => {
    fc.assert(
      fc.property(wire, steps, fc.boolean(), (name, all, asUser) => {
        const blocks = makeBlocks()
        const turns: Array<Json> = []
        let before: ReadonlyArray<Json> = []
        for (const { hasBlock, isCall, text } of all) {
          if (isCall && turns.length > 0) turns.push(...tools[name])
          else turns.push(...(turns.length === 0 ? [] : [{ role: "assistant", content: text }]), user[name](text))
          const { standing, undecided } = recalled(userTurns(name, "session", turns), (turn) => blocks.at(turn, 0))
          const fresh: PlacedBlock | null = hasBlock
            ? { text: `BLOCK ${turns.length}`, ids: ["m"], tokens: 1, place: "before" }
            : null
          if (undecided !== null) blocks.put(undecided.name, fresh, 0)
          const own =
            undecided === null || fresh === null ? [] : [{ at: undecided.at, turn: undecided.name, block: fresh }]
          const sent = withBlocks(name, turns, [...standing, ...own], asUser)
          assert.deepStrictEqual(sent.slice(0, before.length), before)
          assert.deepStrictEqual(
            sent.filter((turn) => !isBlock(turn)),
            turns
          )
          sent.forEach((turn, at) => {
            if (isBlock(turn)) assert.notDeepEqual(sent[at - 1], tools[name][0])
          })
          before = sent
        }
      })
    )
  })

  it("fit into their tokens, and say what they hold on a line each", () => {
    const memory = fc.record({ content: fc.string({ maxLength: 3_000 }), id: fc.uuid() })
    fc.assert(
      fc.property(fc.array(memory, { maxLength: 20 }), fc.integer({ min: 50, max: 2_000 }), (contents, most) => {
        const memories = contents.map(({ content, id }) => ({
          id,
          content,
          apiKeyId: null,
          type: "factual" as const,
          source: "added" as const,
          key: "k",
          sessionId: null,
          createdAtMs: 0,
          updatedAtMs: 0,
          lastUsedAtMs: 0
        }))
        const estimate = (texts: ReadonlyArray<string>): number => Math.ceil(texts.join("").length / 4)
        const block = blockOf(memories, most, estimate)
        if (block === null) return
        assert.isAtMost(block.tokens, most)
        assert.isAtMost(estimate([block.text]), most)
        const [title, , ...lines] = block.text.split("\n")
        assert.strictEqual(title, "Memory context:")
        assert.lengthOf(lines, block.ids.length)
        for (const line of lines) assert.isString(JSON.parse(line.replace("- (factual) ", "")))
      })
    )
  })

  it("are forgotten with a memory that they hold, and are those of one session", () => {
    const blocks = makeBlocks()
    const turns = [user.chat("hello")]
    const { undecided } = recalled(userTurns("chat", "one", turns), (turn) => blocks.at(turn, 0))
    assert.isNotNull(undecided)
    if (undecided === null) return
    blocks.put(undecided.name, { text: "BLOCK", ids: ["m1"], tokens: 1, place: "before" }, 0)
    const standing = (session: string): number =>
      recalled(userTurns("chat", session, turns), (turn) => blocks.at(turn, 0)).standing.length
    assert.strictEqual(standing("one"), 1)
    assert.strictEqual(standing("two"), 0)
    blocks.forget("m2")
    assert.strictEqual(standing("one"), 1)
    blocks.forget("m1")
    assert.strictEqual(standing("one"), 0)
  })
})
