import { assert, describe, it } from "@effect/vitest"
import { codecs } from "../../../src/wire/Codec.ts"
import { chunk, sse, tapStream } from "./support.ts"

const usage = { prompt_tokens: 5, completion_tokens: 7 }
const text = (content: string) => ({
  type: "content_block_delta",
  index: 0,
  delta: { type: "text_delta", text: content }
})
const messageStart = {
  type: "message_start",
  message: { id: "m", content: [], usage: { input_tokens: 3, cache_read_input_tokens: 2, output_tokens: 1 } }
}
const messageEnd = [
  { type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { output_tokens: 8 } },
  { type: "message_stop" }
]

describe("a second end mark", () => {
  const pieces = {
    chat: [sse(chunk({ content: "a" }), chunk({}, "stop")), "data: [DONE]\n\n"],
    messages: [sse(messageStart, ...messageEnd.slice(0, 1)), sse(...messageEnd.slice(1))],
    responses: [
      sse({ type: "response.created", response: { id: "r", status: "in_progress", output: [] } }),
      sse({ type: "response.completed", response: { id: "r", status: "completed", output: [] } })
    ],
    ollama: [
      `${JSON.stringify({ message: { role: "assistant", content: "a" }, done: false })}\n`,
      `${JSON.stringify({ message: { role: "assistant", content: "" }, done: true, done_reason: "stop" })}\n`
    ]
  } as const
  for (const [wire, [answer, mark]] of Object.entries(pieces)) {
    it(`does not go on, nor what stands behind it (${wire})`, () => {
      const codec = codecs[wire as keyof typeof pieces]
      const more = answer + mark + mark + answer
      for (const size of [more.length, 7, 1]) {
        const tap = codec.makeStreamTap({ hideUsage: false })
        let told = ""
        for (let at = 0; at < more.length; at += size)
          told += tap.push(Buffer.from(more.slice(at, at + size))).toString()
        told += tap.end().toString()
        assert.strictEqual(told.split(mark).length, 2, `in pieces of ${size}`)
        assert.isTrue(told.endsWith(mark), `in pieces of ${size}`)
        assert.isTrue(tap.facts.terminated)
      }
      // The rest without its line end.
      const cut = codec.makeStreamTap({ hideUsage: false })
      const told = cut.push(Buffer.from(answer + mark + mark.trimEnd())).toString() + cut.end().toString()
      assert.strictEqual(told.split(mark.trimEnd()).length, 2)
    })
  }
})

describe("chat tap", () => {
  it("hands on the chunk object itself", () => {
    const tap = codecs.chat.makeStreamTap({ hideUsage: false })
    for (const part of [
      sse(chunk({ role: "assistant" })),
      ": ping\n\n",
      sse(chunk({ content: "a" }), chunk({ content: "b" }))
    ]) {
      const bytes = Buffer.from(part)
      assert.strictEqual(tap.push(bytes), bytes)
    }
  })

  it("tells content from mere signs of life", () => {
    const tap = codecs.chat.makeStreamTap({ hideUsage: false })
    tap.push(
      Buffer.from(": ping\n\n" + sse(chunk({ role: "assistant", content: "", refusal: null }), chunk({ content: "" })))
    )
    assert.isFalse(tap.facts.content)
    tap.push(Buffer.from(sse(chunk({ tool_calls: [{ index: 0, id: "t", function: { name: "f", arguments: "" } }] }))))
    assert.isTrue(tap.facts.content)
  })

  it("counts characters, also of events it does not parse", () => {
    const { facts } = tapStream(
      "chat",
      sse(
        chunk({ content: "one" }),
        chunk({ content: "two" }),
        chunk({ content: 'q"é\n' }),
        chunk({ content: "six" }),
        chunk({ reasoning_content: "hm" }),
        chunk({ tool_calls: [{ index: 0, id: "t", function: { name: "f", arguments: "{}" } }] })
      )
    )
    assert.strictEqual(facts.textChars, 13)
    assert.strictEqual(facts.reasoningChars, 2)
    assert.strictEqual(facts.toolArgChars, 2)
  })

  it("hides the unrequested usage chunk, and nothing else", () => {
    const head = sse(chunk({ content: "a" }), chunk({}, "stop"))
    const counted = sse(chunk({}, null, { choices: [], usage }))
    const whole = head + counted + sse("[DONE]")
    for (const size of [1, 7, 10_000]) {
      const hidden = tapStream("chat", whole, true, size)
      assert.strictEqual(hidden.text, head + sse("[DONE]"))
      assert.deepEqual(hidden.facts.usage, { in: 5, out: 7, cacheRead: 0, cacheWrite: 0, reasoning: 0 })
      assert.isTrue(hidden.facts.terminated)
    }
    assert.strictEqual(tapStream("chat", whole).text, whole)
    const onLast = sse(chunk({}, "stop", { usage }), "[DONE]")
    assert.strictEqual(tapStream("chat", onLast, true).text, onLast)
  })

  it("puts a finish reason before a [DONE] that has none, for any of several answers; not where nothing was said", () => {
    const { facts, text: out } = tapStream("chat", sse(chunk({ content: "a" }), "[DONE]"))
    assert.match(
      out,
      /"choices":\[\{"index":0,"delta":\{\},"logprobs":null,"finish_reason":"stop"\}\]\}\n\ndata: \[DONE\]\n\n$/
    )
    assert.deepInclude(facts.stop, { reason: "stop", isInferred: true })
    const called = chunk({
      tool_calls: [{ index: 0, id: "c", type: "function", function: { name: "f", arguments: "{}" } }]
    })
    assert.include(tapStream("chat", sse(called, "[DONE]")).text, '"finish_reason":"tool_calls"')
    const silent = tapStream("chat", sse(chunk({ role: "assistant" }), "[DONE]"))
    assert.notInclude(silent.text, "[DONE]")
    assert.isNull(silent.facts.stop)
    const second = (finish: string | null) =>
      chunk({}, null, { choices: [{ index: 1, delta: { content: "b" }, finish_reason: finish }] })
    assert.include(
      tapStream("chat", sse(second(null), chunk({}, "stop"), "[DONE]")).text,
      '"choices":[{"index":1,"delta":{},"logprobs":null,"finish_reason":"stop"}]'
    )
    assert.include(tapStream("chat", sse(second("stop"), chunk({}, "stop"), "[DONE]")).text, "[DONE]")
  })

  it("withholds an error event and all after it", () => {
    const { facts, text: out } = tapStream(
      "chat",
      sse(chunk({ content: "a" }), { error: { message: "boom", code: 503 } }, "[DONE]")
    )
    assert.strictEqual(out, sse(chunk({ content: "a" })))
    assert.deepInclude(facts.problem, { status: 503, message: "boom", type: null, code: "503" })
  })

  it("drops a cut event at the end, and completes a whole one that lacks its empty line", () => {
    assert.strictEqual(
      tapStream("chat", `${sse(chunk({ content: "a" }))}data: {"choi`).text,
      sse(chunk({ content: "a" }))
    )
    const whole = sse(chunk({}, "stop"), "[DONE]")
    const { facts, text: out } = tapStream("chat", whole.trimEnd())
    assert.strictEqual(out, whole)
    assert.isTrue(facts.terminated)
  })

  it("fails on an event that never ends", () => {
    const tap = codecs.chat.makeStreamTap({ hideUsage: false })
    const block = Buffer.alloc(9 * 1_048_576, 97)
    tap.push(block)
    tap.push(block)
    assert.strictEqual(tap.facts.problem?.status, 502)
  })
})

describe("messages tap", () => {
  it("merges usage reports and relays every byte", () => {
    const whole = sse(messageStart, { type: "ping" }, text("ab"), text("cd"), ...messageEnd)
    const { facts, text: out } = tapStream("messages", whole)
    assert.strictEqual(out, whole)
    assert.deepEqual(facts.usage, { in: 5, out: 8, cacheRead: 2, cacheWrite: 0, reasoning: 0 })
    assert.strictEqual(facts.stop?.reason, "stop")
    assert.strictEqual(facts.textChars, 4)
    assert.isTrue(facts.terminated)
  })

  it("puts in the event names that an upstream leaves out: clients of this wire choose by them", () => {
    const whole = sse(messageStart, text("ab"), text("cd"), ...messageEnd)
    const { facts, text: out } = tapStream("messages", whole.replaceAll(/^event: .*\n/gm, ""))
    assert.strictEqual(out, whole)
    assert.strictEqual(facts.textChars, 4)
  })

  it("sees no content in starts, pings and empty deltas", () => {
    const { facts } = tapStream(
      "messages",
      sse(
        messageStart,
        { type: "ping" },
        { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
        text("")
      )
    )
    assert.isFalse(facts.content)
  })

  it("puts a stop reason before a message_stop that has none; withholds one behind nothing, errors, and a repeated start", () => {
    const { facts, text: out } = tapStream("messages", sse(messageStart, text("a"), { type: "message_stop" }))
    assert.match(out, /event: message_delta\ndata: .*"stop_reason":"end_turn".*\n\nevent: message_stop\n/)
    assert.deepInclude(facts.stop, { reason: "stop", isInferred: true })
    assert.strictEqual(tapStream("messages", sse(messageStart, { type: "message_stop" })).text, sse(messageStart))
    const failed = tapStream(
      "messages",
      sse(messageStart, { type: "error", error: { type: "overloaded_error", message: "busy" } }, ...messageEnd)
    )
    assert.strictEqual(failed.text, sse(messageStart))
    assert.strictEqual(failed.facts.problem?.status, 529)
    assert.strictEqual(
      tapStream("messages", sse(messageStart, messageStart, text("a"))).text,
      sse(messageStart, text("a"))
    )
    assert.strictEqual(
      tapStream("messages", sse(messageStart, text("a"), messageStart)).facts.problem?.code,
      "incomplete_stream"
    )
  })
})
