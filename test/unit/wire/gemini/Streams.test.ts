import { assert, describe, it } from "@effect/vitest"
import { context, chunk, events, sse } from "../support.ts"
import { gemini } from "../../../../src/wire/gemini/Codec.ts"
import type { JsonObject } from "../../../../src/wire/json/Json.ts"
import { answer, data, decodeStream, translateStream } from "./support.ts"

const usageMetadata = { promptTokenCount: 9, candidatesTokenCount: 4, thoughtsTokenCount: 2, totalTokenCount: 15 }
const state = (signature: string) => ({ type: "state", state: { wire: "gemini", signature } })

describe("gemini stream → events", () => {
  const chunks = [
    answer([{ text: "hm", thought: true }], null, { usageMetadata: { promptTokenCount: 9 } }),
    answer([{ text: "A" }]),
    answer([{ text: "B" }]),
    answer([{ functionCall: { id: "1", name: "f", args: { a: 1 } }, thoughtSignature: "s1" }]),
    answer([{ functionCall: { name: "g" } }, { functionCall: { name: "g" } }]),
    answer([{ text: "", thoughtSignature: "s2" }], "STOP", { usageMetadata })
  ]
  const usage = (out: number, reasoning: number) => ({
    type: "usage",
    usage: { in: 9, out, cacheRead: 0, cacheWrite: 0, reasoning }
  })
  const expected = [
    { type: "start", id: "r-1", model: "gemini-x", createdMs: null },
    { type: "block_start", index: 0, block: { type: "reasoning" } },
    { type: "delta", index: 0, delta: { type: "text", text: "hm" } },
    usage(0, 0),
    { type: "block_stop", index: 0 },
    { type: "block_start", index: 1, block: { type: "text" } },
    { type: "delta", index: 1, delta: { type: "text", text: "A" } },
    { type: "delta", index: 1, delta: { type: "text", text: "B" } },
    { type: "block_stop", index: 1 },
    { type: "block_start", index: 2, block: { type: "tool_call", id: "1", name: "f", kind: "function" } },
    { type: "delta", index: 2, delta: state("s1") },
    { type: "delta", index: 2, delta: { type: "args", text: '{"a":1}' } },
    { type: "block_stop", index: 2 },
    { type: "block_start", index: 3, block: { type: "tool_call", id: "call_r-1_1", name: "g", kind: "function" } },
    { type: "delta", index: 3, delta: { type: "args", text: "{}" } },
    { type: "block_stop", index: 3 },
    { type: "block_start", index: 4, block: { type: "tool_call", id: "call_r-1_2", name: "g", kind: "function" } },
    { type: "delta", index: 4, delta: { type: "args", text: "{}" } },
    { type: "block_stop", index: 4 },
    { type: "block_start", index: 5, block: { type: "text" } },
    { type: "delta", index: 5, delta: state("s2") },
    usage(6, 2),
    { type: "block_stop", index: 5 },
    { type: "finish", stop: { reason: "tool_calls", raw: "STOP", sequence: null } },
    { type: "done" }
  ]

  it("reads events, an array, and a single object, under any cut", () => {
    for (const size of [1, 5, 100_000]) {
      assert.deepEqual<unknown>(decodeStream(data(...chunks), size), expected)
      assert.deepEqual<unknown>(decodeStream(`\ufeff\r\n${JSON.stringify(chunks, null, 2)}\r\n`, size), expected)
    }
    const single = decodeStream(JSON.stringify(answer([{ text: 'a"{[\\' }], "STOP")))
    assert.deepEqual(single.at(-1), { type: "done" })
    assert.deepInclude(single, { type: "delta", index: 0, delta: { type: "text", text: 'a"{[\\' } })
  })

  it("hangs a late signature on the text before it", () => {
    const list = decodeStream(data(answer([{ text: "A" }]), answer([{ text: "", thoughtSignature: "s" }], "STOP")))
    assert.deepEqual(
      list.filter(({ type }) => type !== "start").map((event) => ("index" in event ? event.index : event.type)),
      [0, 0, 0, 0, "finish", "done"]
    )
    assert.deepInclude<unknown>(list, { type: "delta", index: 0, delta: state("s") })
  })

  it("puts pieces of arguments together, and shows that it lives meanwhile", () => {
    const pieces = (...functionCall: ReadonlyArray<JsonObject>) =>
      functionCall.map((call) => answer([{ functionCall: call }]))
    const list = decodeStream(
      data(
        ...pieces(
          { name: "put", id: "p", willContinue: true },
          { partialArgs: [{ jsonPath: "$.path", stringValue: "/t" }], willContinue: true },
          { partialArgs: [{ jsonPath: "$.path", stringValue: "mp" }], willContinue: true },
          {
            partialArgs: [
              { jsonPath: "$.list[0].n", numberValue: 1 },
              { jsonPath: "$.list[1]['a.b']", boolValue: true },
              { jsonPath: "$.gone", nullValue: null }
            ],
            willContinue: true
          },
          {},
          { name: "list", partialArgs: [{ jsonPath: "$['__proto__'].x", stringValue: "y" }] }
        ),
        answer([{ text: "" }], "STOP")
      )
    )
    assert.deepEqual(
      list.flatMap((event) => (event.type === "delta" && event.delta.type === "args" ? event.delta.text : [])),
      ['{"path":"/tmp","list":[{"n":1},{"a.b":true}],"gone":null}', '{"__proto__":{"x":"y"}}']
    )
    assert.lengthOf(
      list.filter(({ type }) => type === "ping"),
      4
    )
  })

  it("does not make arguments up from pieces that do not fit", () => {
    for (const jsonPath of ["", "path", "$", "$.a[7]", "$.a.b", "$[0]", "$.a[", `$${".x".repeat(100)}`]) {
      const list = decodeStream(
        data(
          answer([
            { functionCall: { name: "f", partialArgs: [{ jsonPath: "$.a", stringValue: "1" }], willContinue: true } }
          ]),
          answer([{ functionCall: { partialArgs: [{ jsonPath, stringValue: "2" }] } }]),
          answer([], "STOP")
        )
      )
      assert.strictEqual(list.at(-1)?.type, "error", jsonPath)
    }
  })

  it("fails on errors, broken models, and streams that end early", () => {
    const last = (text: string) => {
      const event = decodeStream(text).at(-1)
      return event?.type === "error" ? [event.problem.status, event.problem.message] : event?.type
    }
    const error = { error: { code: 429, message: "slow", status: "RESOURCE_EXHAUSTED" } }
    assert.deepEqual(last(data(answer([{ text: "A" }]), error)), [429, "slow"])
    assert.deepEqual(last(JSON.stringify([error])), [429, "slow"])
    assert.deepEqual(last(data(answer([], "MALFORMED_FUNCTION_CALL"))), [
      502,
      "The upstream's model broke off: MALFORMED_FUNCTION_CALL."
    ])
    const early = [502, "The upstream's stream ended before the answer was complete."]
    assert.deepEqual(last(data(answer([{ text: "A" }]))), early)
    assert.deepEqual(last(""), early)
    assert.deepEqual(last('[{"candidates":[{"finishReason":"STOP"}'), early)
    assert.strictEqual(last(data(answer([], "STOP"))), "done")
    assert.strictEqual(last(data({ promptFeedback: { blockReason: "SAFETY" } })), "done")
  })
})

describe("gemini stream → other wires", () => {
  it("ends in tool calls on the chat wire, with usage", () => {
    const { facts, text } = translateStream(
      "chat",
      "gemini",
      data(
        answer([{ text: "A" }]),
        answer([{ functionCall: { name: "f", args: { a: 1 } }, thoughtSignature: "s" }], "STOP", { usageMetadata })
      )
    )
    const list = events(text)
    assert.strictEqual(list.at(-3).choices[0].finish_reason, "tool_calls")
    assert.deepInclude(list.at(-2).usage, { prompt_tokens: 9, completion_tokens: 6, total_tokens: 15 })
    assert.strictEqual(list.at(-1), "[DONE]")
    assert.deepInclude(facts, { terminated: true, textChars: 1, toolArgChars: 7, problem: null })
  })

  it("tells no proof to the messages wire, and no block for it", () => {
    const { text } = translateStream(
      "messages",
      "gemini",
      data(answer([{ text: "A" }]), answer([{ text: "", thoughtSignature: "s" }], "STOP"))
    )
    assert.notInclude(text, "signature")
    assert.deepEqual(
      events(text).map(({ type }) => type),
      [
        "message_start",
        "content_block_start",
        "content_block_delta",
        "content_block_stop",
        "message_delta",
        "message_stop"
      ]
    )
  })
})

describe("streams of other wires → gemini", () => {
  const candidate = (part: JsonObject, more: JsonObject = {}) => ({
    candidates: [{ content: { parts: [part], role: "model" }, ...more, index: 0 }],
    modelVersion: "gpt",
    responseId: "c1"
  })

  it("writes one part a chunk, calls whole, and the end with usage", () => {
    const upstream = sse(
      chunk({ role: "assistant", content: "" }),
      chunk({ reasoning_content: "hm" }),
      chunk({ content: "A" }),
      chunk({ tool_calls: [{ index: 0, id: "t", function: { name: "f", arguments: '{"a"' } }] }),
      chunk({ tool_calls: [{ index: 0, function: { arguments: ":1}" } }] }),
      chunk({ tool_calls: [{ index: 1, id: "u", function: { name: "g", arguments: "" } }] }),
      chunk({}, "tool_calls"),
      chunk({}, null, { choices: [], usage: { prompt_tokens: 5, completion_tokens: 7 } }),
      "[DONE]"
    )
    const { text } = translateStream("gemini", "chat", upstream)
    assert.deepEqual(events(text), [
      candidate({ text: "hm", thought: true }),
      candidate({ text: "A" }),
      candidate({ functionCall: { id: "t", name: "f", args: { a: 1 } } }),
      candidate({ functionCall: { id: "u", name: "g", args: {} } }),
      {
        ...candidate({ text: "" }, { finishReason: "STOP" }),
        usageMetadata: { promptTokenCount: 5, candidatesTokenCount: 7, totalTokenCount: 12 }
      }
    ])
  })

  it("writes nothing but data lines, and white space for a sign of life", () => {
    const encoder = gemini.makeStreamEncoder(context)
    assert.strictEqual(encoder.encode({ type: "ping" }).trim(), "")
    const text = [
      { type: "block_start" as const, index: 0, block: { type: "text" as const } },
      { type: "delta" as const, index: 0, delta: { type: "text" as const, text: "a\nb\u2028" } },
      { type: "done" as const },
      { type: "ping" as const }
    ]
      .map(encoder.encode)
      .join("")
    assert.isTrue(text.split("\n\n").every((event) => event === "" || /^data: [^\n]+$/.test(event)))
    assert.isTrue(text.endsWith("\n\n"))
  })

  it("writes no end after a failure", () => {
    const { facts, text } = translateStream("gemini", "chat", sse(chunk({ content: "A" })))
    assert.notInclude(text, "finishReason")
    assert.isNotNull(facts.problem)
  })
})

describe("gemini tap", () => {
  const tap = (text: string, size = 9) => {
    const stream = gemini.makeStreamTap({ hideUsage: false })
    const bytes = Buffer.from(text)
    const out: Array<Buffer> = []
    for (let at = 0; at < bytes.length; at += size) out.push(stream.push(bytes.subarray(at, at + size)))
    const before = stream.facts.terminated
    out.push(stream.end())
    return { text: Buffer.concat(out).toString(), facts: stream.facts, before }
  }

  it("relays what came, and is done when the stream is", () => {
    const text = data(
      answer([{ text: "abc" }]),
      answer([{ text: "def" }]),
      answer([{ text: "hm", thought: true }]),
      answer([{ functionCall: { name: "f", args: { a: 1 } } }]),
      answer([{ text: "" }], "STOP", { usageMetadata })
    )
    for (const size of [1, 7, 10_000]) {
      const seen = tap(text, size)
      assert.strictEqual(seen.text, text)
      assert.isFalse(seen.before)
      assert.deepInclude(seen.facts, {
        events: 5,
        terminated: true,
        stop: { reason: "tool_calls", raw: "STOP", sequence: null },
        usage: { in: 9, out: 6, cacheRead: 0, cacheWrite: 0, reasoning: 2 },
        textChars: 6,
        reasoningChars: 2,
        toolArgChars: 7
      })
    }
  })

  it("takes usage that comes after the finish reason", () => {
    const seen = tap(data(answer([{ text: "a" }], "STOP"), { usageMetadata }))
    assert.strictEqual(seen.facts.usage?.out, 6)
  })

  it("withholds an error, and what was cut", () => {
    const begun = data(answer([{ text: "a" }]))
    const failed = tap(begun + data({ error: { code: 503, message: "busy", status: "UNAVAILABLE" } }) + begun)
    assert.strictEqual(failed.text, begun)
    assert.deepInclude(failed.facts.problem, { status: 503, message: "busy" })
    const cut = tap(begun + data(answer([{ text: "b" }], "STOP")).slice(0, -20))
    assert.strictEqual(cut.text, begun)
    assert.isFalse(cut.facts.terminated)
    const blocked = tap(data({ promptFeedback: { blockReason: "SAFETY" } }))
    assert.strictEqual(blocked.facts.stop?.reason, "content_filter")
  })

  it("waits for every one of several answers", () => {
    const second = (finishReason: string | null) => ({
      candidates: [
        { index: 1, content: { parts: [{ text: "b" }] }, ...(finishReason === null ? {} : { finishReason }) }
      ]
    })
    const open = data(answer([{ text: "a" }]), second(null), answer([], "STOP"))
    assert.isNull(tap(open).facts.stop)
    assert.isNotNull(tap(open + data(second("STOP"), answer([], "STOP"))).facts.stop)
  })
})
