/** Requests of all wires: what stays the object that it was, and that a session's turns go out again as they went. */
import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import { operatorsOwn } from "../../../src/contract/domain/ContentPermission.ts"
import { aggressiveEngine } from "../../../src/plane/compression/engines/Aggressive.ts"
import { cavemanEngine, defaultCaveman } from "../../../src/plane/compression/caveman/Caveman.ts"
import { readBlocks } from "../../../src/plane/compression/Blocks.ts"
import { compress } from "../../../src/plane/compression/Compressor.ts"
import type { Engine } from "../../../src/plane/compression/Engine.ts"
import { liteEngine } from "../../../src/plane/compression/engines/Lite.ts"
import { compileBuiltIn } from "../../../src/plane/compression/rtk/Compiled.ts"
import { ordered } from "../../../src/plane/compression/rtk/Detect.ts"
import { builtInFilters } from "../../../src/plane/compression/rtk/filters/index.ts"
import { usualLimits } from "../../../src/plane/compression/rtk/Apply.ts"
import { rtkEngine } from "../../../src/plane/compression/ResultEngines.ts"
import { type KeptOutcomes, Stability } from "../../../src/plane/compression/Stability.ts"
import type { WireName } from "../../../src/contract/domain/Wire.ts"
import type { Json, JsonObject } from "../../../src/wire/json/Json.ts"

const engines: ReadonlyArray<Engine> = [
  liteEngine,
  rtkEngine(ordered(builtInFilters.map(compileBuiltIn)), usualLimits),
  cavemanEngine({ ...defaultCaveman, roles: ["user", "assistant"], minChars: 0 })
]

const prose = "I think that this is basically the way to do it, and you are really able to see that for the whole file."
const output = `On branch main\n${Array.from({ length: 400 }, (_, line) => `\tmodified:   src/file${line}.ts`).join("\n")}\n\nno changes added to commit (use "git add" and/or "git commit -a")\n`

type Turn = (index: number) => ReadonlyArray<Json>

/** A user, a call, its result, and an answer. */
const turns: Readonly<Record<WireName, Turn>> = {
  chat: (index) => [
    { role: "user", content: `${prose} ${index}` },
    {
      role: "assistant",
      content: null,
      tool_calls: [
        { id: `c${index}`, type: "function", function: { name: "bash", arguments: '{"command":"git status"}' } }
      ]
    },
    { role: "tool", tool_call_id: `c${index}`, content: output },
    { role: "assistant", content: [{ type: "text", text: `${prose} done ${index}` }] }
  ],
  ollama: (index) => [
    { role: "user", content: `${prose} ${index}` },
    {
      role: "assistant",
      content: "",
      tool_calls: [{ function: { name: "bash", arguments: { command: "git status" } } }]
    },
    { role: "tool", tool_name: "bash", content: output },
    { role: "assistant", content: `${prose} done ${index}` }
  ],
  messages: (index) => [
    { role: "user", content: [{ type: "text", text: `${prose} ${index}` }] },
    {
      role: "assistant",
      content: [
        { type: "thinking", thinking: prose, signature: "s" },
        { type: "tool_use", id: `c${index}`, name: "Bash", input: { command: "git status" } }
      ]
    },
    {
      role: "user",
      content: [{ type: "tool_result", tool_use_id: `c${index}`, content: [{ type: "text", text: output }] }]
    },
    { role: "assistant", content: `${prose} done ${index}` }
  ],
  responses: (index) => [
    { type: "message", role: "user", content: [{ type: "input_text", text: `${prose} ${index}` }] },
    { type: "function_call", call_id: `c${index}`, name: "shell", arguments: '{"command":["git","status"]}' },
    { type: "function_call_output", call_id: `c${index}`, output },
    { type: "message", role: "assistant", content: [{ type: "output_text", text: `${prose} done ${index}` }] }
  ],
  gemini: (index) => [
    { role: "user", parts: [{ text: `${prose} ${index}` }] },
    { role: "model", parts: [{ functionCall: { name: "bash", args: { command: "git status" } } }] },
    { role: "user", parts: [{ functionResponse: { name: "bash", response: { output } } }] },
    { role: "model", parts: [{ text: `${prose} done ${index}` }] }
  ]
}

const member: Readonly<Record<WireName, string>> = {
  chat: "messages",
  messages: "messages",
  ollama: "messages",
  responses: "input",
  gemini: "contents"
}

const wires = ["chat", "messages", "ollama", "responses", "gemini"] as const

const run = (wire: WireName, body: JsonObject, stability: KeptOutcomes | null, by = engines) =>
  compress({
    wire,
    body,
    engines: by,
    tools: { keep: () => "0".repeat(24) },
    owner: "k",
    stability,
    asTheyCame: false,
    monotonicMs: () => 0
  })

describe("compressed requests", () => {
  for (const wire of wires) {
    it(`${wire}: twenty turns of a session go out as they went before`, () => {
      const stability = new Stability().of(operatorsOwn)
      const all: Array<Json> = []
      let before: ReadonlyArray<Json> = []
      let changes = 0
      for (let index = 0; index < 20; index += 1) {
        // Once the user has spoken, and once the tool has answered.
        const [user, call, result, answer] = turns[wire](index) as [Json, Json, Json, Json]
        for (const added of [[user], [call, result]]) {
          all.push(...added)
          const compressed = run(wire, { [member[wire]]: [...all] }, stability)
          const sent = compressed.body[member[wire]] as ReadonlyArray<Json>
          assert.deepStrictEqual(sent.slice(0, before.length), before)
          assert.strictEqual(JSON.stringify(sent.slice(0, before.length)), JSON.stringify(before))
          before = sent
          changes = compressed.changes.length
        }
        all.push(answer)
      }
      assert.isAbove(changes, 20)
    })

    it(`${wire}: the last user turn and what is no text stay the objects that they were`, () => {
      const list = [...turns[wire](1), ...turns[wire](2).slice(0, 1)]
      const body = { [member[wire]]: list, model: "m", tools: [{ name: "bash" }] }
      const { body: sent, changes } = run(wire, body, null)
      const now = sent[member[wire]] as ReadonlyArray<Json>
      assert.strictEqual(now[4], list[4])
      assert.strictEqual(now[1], list[1])
      assert.strictEqual(sent["tools"], body.tools)
      assert.lengthOf(changes, 3)
      const again = run(wire, sent, null)
      assert.lengthOf(again.changes, 0)
      assert.strictEqual(again.body, sent)
      assert.isBelow(JSON.stringify(sent).length, JSON.stringify(body).length)
    })
  }

  it("aggressive: what was sent goes out again as it was although its outcome was forgotten, at any moment", () => {
    const aside = "It was quite interesting to see how it all fits together. "
    const pieces = [aside, `${prose} `, "The colours look nice. ", "See `a b` for the rest. ", "\n\n"]
    const words = fc.array(fc.constantFrom(...pieces), { maxLength: 60, size: "max" })
    let changed = 0
    fc.assert(
      fc.property(fc.array(words, { minLength: 2, maxLength: 8 }), fc.nat(), (said, forget) => {
        const list = said.flatMap((parts, index): ReadonlyArray<Json> => [
          { role: "user", content: `question ${index}` },
          { role: "assistant", content: parts.join("") },
          { role: "tool", tool_call_id: "c", content: parts.toReversed().join("\n") }
        ])
        let stability = new Stability().of(operatorsOwn)
        let before: ReadonlyArray<Json> = []
        for (let end = 1; end <= said.length; end += 1) {
          if (end === forget % said.length) stability = new Stability().of(operatorsOwn)
          const body = { messages: [...list.slice(0, end * 3), { role: "user", content: "go on" }] }
          const { body: sent, changes } = run("chat", body, stability, [aggressiveEngine])
          const own = (sent["messages"] as ReadonlyArray<Json>).slice(0, -1)
          assert.deepStrictEqual(own.slice(0, before.length), before)
          before = own
          changed += changes.length
        }
      }),
      { numRuns: 25, seed: 7 }
    )
    assert.isAbove(changed, 100)
  })

  it("change nothing up to the client's last cache mark", () => {
    const marked = (at: number) => {
      const list = [...turns.messages(1), ...turns.messages(2)]
      list[at] = { role: "user", content: [{ type: "text", text: prose, cache_control: { type: "ephemeral" } }] }
      return readBlocks("messages", { messages: list })
    }
    fc.assert(
      fc.property(fc.nat(7), (at) => {
        assert.strictEqual(marked(at).lastMarkedTurn, at)
      })
    )
    const list = [...turns.messages(1), ...turns.messages(2)]
    list[4] = { role: "user", content: [{ type: "text", text: prose, cache_control: { type: "ephemeral" } }] }
    const { changes } = run("messages", { messages: list }, null)
    assert.deepStrictEqual(
      changes.map(({ path }) => path[1]),
      [6, 7]
    )
  })

  it("leave a text alone where an engine throws", () => {
    const broken: Engine = {
      name: "lite",
      compress: () => {
        throw new Error("no")
      }
    }
    const body = { messages: [...turns.chat(1), { role: "user", content: "go on" }] }
    const { body: sent, failures } = run("chat", body, null, [broken])
    assert.strictEqual(sent, body)
    assert.isNotEmpty(failures)
  })

  it("read whatever comes", () => {
    fc.assert(
      fc.property(fc.constantFrom(...wires), fc.json({ maxDepth: 5 }), (wire, json) => {
        const value = JSON.parse(json) as Json
        const body = {
          [member[wire]]: value,
          system: value,
          instructions: value,
          systemInstruction: value
        } as JsonObject
        assert.isArray(run(wire, body, null).changes)
      }),
      { numRuns: 2_000, seed: 17 }
    )
  })
})
