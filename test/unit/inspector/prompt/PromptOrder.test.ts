import { assert, describe, it } from "@effect/vitest"
import type { WireName } from "../../../../src/contract/domain/Wire.ts"
import type { Prompt } from "../../../../src/observe/inspector/prompt/Prompt.ts"
import { promptOf } from "../../../../src/observe/inspector/prompt/PromptOrder.ts"
import { segmentTokens } from "../../../../src/observe/inspector/prompt/SegmentTokens.ts"
import type { JsonObject } from "../../../../src/wire/json/Json.ts"
import { bodyOf, type Talk } from "../cache/Conversations.ts"

const small: Talk = {
  tools: [{ name: "bash", description: "Runs.", schema: { type: "object" } }],
  system: "Be brief.",
  events: [
    { type: "user", text: "Hello." },
    { type: "thinking", text: "A greeting." },
    { type: "call", id: "c1", command: "ls" },
    { type: "result", id: "c1", text: "a.txt" },
    { type: "assistant", text: "One file." },
    { type: "user", text: "Thanks." }
  ]
}

const pathsOf = ({ segments }: Prompt) => segments.map(({ kind, path }) => `${kind} ${path}`)

const expected: Readonly<Record<WireName, ReadonlyArray<string>>> = {
  chat: [
    "tools tools[0]",
    "system messages[0].content",
    "message messages[1].content",
    "message messages[2].tool_calls[0]",
    "message messages[3]",
    "message messages[3].content",
    "message messages[4].content",
    "message messages[5].content"
  ],
  ollama: [
    "tools tools[0]",
    "system messages[0].content",
    "message messages[1].content",
    "message messages[2].tool_calls[0]",
    "message messages[3]",
    "message messages[3].content",
    "message messages[4].content",
    "message messages[5].content"
  ],
  messages: [
    "tools tools[0]",
    "system system[0]",
    "message messages[0].content[0]",
    "message messages[1].content[1]",
    "message messages[2].content[0]",
    "message messages[3].content[0]",
    "message messages[4].content[0]"
  ],
  responses: [
    "tools tools[0]",
    "system instructions",
    "message input[0].content[0]",
    "message input[2]",
    "message input[3]",
    "message input[4].content[0]",
    "message input[5].content[0]"
  ],
  gemini: [
    "tools tools[0].functionDeclarations[0]",
    "system systemInstruction.parts[0]",
    "message contents[0].parts[0]",
    "message contents[2].parts[0]",
    "message contents[3].parts[0]",
    "message contents[4].parts[0]",
    "message contents[5].parts[0]"
  ]
}

const wires = Object.keys(expected) as ReadonlyArray<WireName>

describe("the prompt of a request", () => {
  for (const wire of wires) {
    it(`is tools, system prompt and messages on the ${wire} wire, wherever they stand in the body`, () => {
      const body = bodyOf(wire, small) as JsonObject
      assert.deepStrictEqual(pathsOf(promptOf(wire, body)), expected[wire])
      const turned = Object.fromEntries(Object.entries(body).reverse())
      assert.deepStrictEqual(promptOf(wire, turned).segments, promptOf(wire, body).segments)
    })

    it(`keeps reasoning apart on the ${wire} wire, and knows the last turn of the user`, () => {
      const prompt = promptOf(wire, bodyOf(wire, small) as JsonObject)
      assert.strictEqual(prompt.reasoning.length, 1)
      assert.strictEqual(prompt.lastUser, prompt.segments.length)
      const without = bodyOf(wire, { ...small, events: small.events.filter(({ type }) => type !== "thinking") })
      assert.deepStrictEqual(
        promptOf(wire, without as JsonObject).segments.map(({ hash }) => hash),
        prompt.segments.map(({ hash }) => hash)
      )
    })

    it(`adds up to its bytes on the ${wire} wire`, () => {
      const { bytes, segments } = promptOf(wire, bodyOf(wire, { ...small, system: "Grüße, 世界 🌍" }) as JsonObject)
      assert.strictEqual(
        bytes,
        segments.reduce((sum, { text }) => sum + Buffer.byteLength(text), 0)
      )
    })
  }

  it("has the marks beside it, with the time they ask for", () => {
    const hour = { cache_control: { type: "ephemeral", ttl: "1h" } }
    const short = { cache_control: { type: "ephemeral" } }
    const body = {
      tools: [{ name: "a", ...hour }],
      system: [
        { type: "text", text: "S" },
        { type: "text", text: "T", ...short }
      ],
      messages: [
        {
          role: "user",
          content: [{ type: "tool_result", tool_use_id: "x", content: [{ type: "text", text: "r", ...short }] }]
        }
      ],
      ...short
    }
    const prompt = promptOf("messages", body)
    assert.deepStrictEqual(prompt.marks, [
      { after: 1, path: "tools[0].cache_control", ttlMs: 3_600_000 },
      { after: 3, path: "system[1].cache_control", ttlMs: 300_000 },
      { after: 4, path: "messages[0].content[0].cache_control", ttlMs: 300_000 },
      { after: 4, path: "cache_control", ttlMs: 300_000 }
    ])
    assert.notInclude(prompt.segments.map(({ text }) => text).join(), "cache_control")
  })

  it("is another one when members stand in another order", () => {
    const [one, other] = [
      { a: 1, b: 2 },
      { b: 2, a: 1 }
    ].map((schema) => promptOf("messages", { tools: [{ name: "x", input_schema: schema }], messages: [] }))
    assert.notStrictEqual(one?.segments[0]?.hash, other?.segments[0]?.hash)
  })

  it("is without what the provider leaves out: deferred tools, the billing header of Claude Code, signatures", () => {
    const claude = promptOf("messages", {
      tools: [{ name: "a" }, { name: "b", defer_loading: true }],
      system: [
        { type: "text", text: "x-anthropic-billing-header: cc_version=1;" },
        { type: "text", text: "S" }
      ],
      messages: []
    })
    assert.deepStrictEqual(pathsOf(claude), ["tools tools[0]", "system system[1]"])
    const [signed, plain] = [{ thoughtSignature: "x" }, {}].map((more) =>
      promptOf("gemini", { contents: [{ role: "model", parts: [{ functionCall: { name: "f", args: {} }, ...more }] }] })
    )
    assert.strictEqual(signed?.segments[0]?.hash, plain?.segments[0]?.hash)
  })

  it("is read in both spellings of the gemini wire, and from texts alone", () => {
    const gemini = promptOf("gemini", {
      system_instruction: { parts: [{ text: "S" }] },
      tools: [{ function_declarations: [{ name: "f" }] }, { google_search: {} }],
      contents: [{ parts: [{ text: "Hi" }] }]
    })
    assert.deepStrictEqual(pathsOf(gemini), [
      "tools tools[0].function_declarations[0]",
      "tools tools[1]",
      "system system_instruction.parts[0]",
      "message contents[0].parts[0]"
    ])
    assert.deepStrictEqual(pathsOf(promptOf("responses", { input: "Hi", instructions: "S" })), [
      "system instructions",
      "message input"
    ])
    assert.deepStrictEqual(pathsOf(promptOf("ollama", { prompt: "Hi", system: "S" })), [
      "system system",
      "message prompt"
    ])
    assert.isTrue(promptOf("responses", { input: "Hi", previous_response_id: "resp_1" }).isContinued)
    assert.isTrue(promptOf("gemini", { cachedContent: "cachedContents/1", contents: [] }).isContinued)
  })

  it("takes anything for a body", () => {
    const odd = [null, 1, "x", [], [null, 1, "x", [[]], {}], {}, { content: { a: [null] } }]
    for (const wire of wires) {
      for (const value of odd) {
        for (const name of [
          "tools",
          "system",
          "messages",
          "input",
          "instructions",
          "contents",
          "systemInstruction",
          "generationConfig"
        ]) {
          const { bytes, segments } = promptOf(wire, { [name]: value as JsonObject })
          assert.strictEqual(
            bytes,
            segments.reduce((sum, segment) => sum + segment.bytes, 0)
          )
        }
      }
    }
  })

  it("stops at its limit of parts", () => {
    const content = Array.from({ length: 20_000 }, (_, at) => ({ type: "text", text: String(at) }))
    const prompt = promptOf("messages", { messages: [{ role: "user", content }] })
    assert.strictEqual(prompt.segments.length, 16_384)
    assert.isTrue(prompt.isCut)
    const marked = Array.from({ length: 200 }, () => ({
      type: "text",
      text: "x",
      cache_control: { type: "ephemeral" }
    }))
    assert.strictEqual(promptOf("messages", { messages: [{ role: "user", content: marked }] }).marks.length, 64)
  })
})

describe("tokens of a part", () => {
  it("are those of a picture, not of its base64", () => {
    const data = "iVBORw0KGgo".padEnd(400_000, "A")
    const { segments } = promptOf("messages", {
      messages: [
        { role: "user", content: [{ type: "image", source: { type: "base64", media_type: "image/png", data } }] }
      ]
    })
    const [picture] = segments
    assert.isDefined(picture)
    if (picture !== undefined) assert.isBelow(segmentTokens(picture, "claude-sonnet-4-5"), 12_000)
  })
})
