import { assert, describe, it } from "@effect/vitest"
import { ollama } from "../../../../src/wire/ollama/Codec.ts"
import { makeNdjsonScanner } from "../../../../src/wire/ollama/NdjsonScanner.ts"
import { makeStreamDecoder } from "../../../../src/wire/ollama/StreamDecode.ts"
import { chunk, events, sse } from "../support.ts"
import { doneLine, itemsOf, line, linesOf, ndjson, translateStream } from "./support.ts"

const call = (name: string) => ({ content: "", tool_calls: [{ function: { name, arguments: { a: 1 } } }] })
const usage = { choices: [], usage: { prompt_tokens: 5, completion_tokens: 7 } }

describe("NdjsonScanner", () => {
  const scan = (pieces: ReadonlyArray<string>, limit?: number) => {
    const scanner = makeNdjsonScanner(limit)
    const lines: Array<string> = []
    const offsets = pieces.map((piece) =>
      scanner.push(Buffer.from(piece), (bytes, start, end) => lines.push(bytes.toString("utf8", start, end)))
    )
    return { lines, offsets, scanner }
  }

  it("gives whole lines, and the offset after the last one", () => {
    const { lines, offsets, scanner } = scan(["a\nb", "c", "\r\n\nd"])
    assert.deepEqual(lines, ["a\n", "bc\r\n", "\n"])
    assert.deepEqual(offsets, [2, 0, 3])
    assert.strictEqual(scanner.pendingBytes(), 1)
    assert.strictEqual(scanner.takePending().toString(), "d")
    assert.strictEqual(scanner.pendingBytes(), 0)
  })

  it("fails on a line that never ends, and gives nothing more", () => {
    const { lines, scanner } = scan(["abc", "def", "\n"], 5)
    assert.deepEqual(scanner.failure(), { reason: "line_too_large", limitBytes: 5 })
    assert.deepEqual(lines, [])
    assert.strictEqual(scanner.pendingBytes(), 0)
  })
})

describe("ollama stream → chat", () => {
  it("puts pieces into blocks, with counts and the stop at the end", () => {
    const { facts, text } = translateStream(
      "chat",
      "ollama",
      ndjson(
        line({ thinking: "hm" }),
        line({ content: "A" }),
        line({ content: "é" }),
        line(call("f")),
        line(call("f")),
        doneLine()
      )
    )
    const chunks = events(text)
    const deltas = chunks
      .filter((value) => value !== "[DONE]")
      .flatMap((value) => itemsOf(value, "choices").map((choice) => choice.delta))
    assert.deepEqual(deltas.map(({ content, reasoning_content: hm }) => hm ?? content ?? null).filter(Boolean), [
      "hm",
      "A",
      "é"
    ])
    const calls = deltas.flatMap(({ tool_calls: list }) => list ?? [])
    assert.deepEqual(
      calls.map(({ function: { arguments: args }, index }) => [index, args]),
      [
        [0, ""],
        [0, '{"a":1}'],
        [1, ""],
        [1, '{"a":1}']
      ]
    )
    assert.notStrictEqual(calls[0].id, calls[2].id)
    assert.strictEqual(chunks.at(-3).choices[0].finish_reason, "tool_calls")
    assert.deepInclude(chunks.at(-2).usage, { prompt_tokens: 26, completion_tokens: 9 })
    assert.strictEqual(chunks.at(-1), "[DONE]")
    assert.isTrue(facts.terminated)
    assert.deepInclude(facts, { content: true, textChars: 2, reasoningChars: 2, toolArgChars: 14, problem: null })
  })

  it("tells the same id in a stream as in a whole answer", () => {
    const decoder = ollama.makeStreamDecoder()
    const started = decoder.push(Buffer.from(ndjson(line(call("f"))))).find(({ type }) => type === "block_start")
    const whole = ollama.decodeResponse({ ...doneLine(), message: call("f") })
    const id = whole._tag === "Right" ? whole.right.parts.flatMap((part) => ("id" in part ? part.id : []))[0] : null
    assert.deepEqual(started, {
      type: "block_start",
      index: 0,
      block: { type: "tool_call", id, name: "f", kind: "function" }
    } as never)
  })

  it("never takes an unfinished stream for an answer", () => {
    for (const cut of [ndjson(line({ content: "A" })), `${ndjson(line({ content: "A" }))}{"done":tr`, ""]) {
      const { facts, text } = translateStream("chat", "ollama", cut)
      assert.strictEqual(facts.problem?.code, "incomplete_stream")
      assert.notInclude(text, "[DONE]")
    }
  })

  it("takes a last line without its end", () => {
    const { facts } = translateStream("chat", "ollama", ndjson(line({ content: "A" }), doneLine()).trimEnd())
    assert.isNull(facts.problem)
    assert.isTrue(facts.terminated)
  })

  it("reads an error line, and a line it cannot read, as a failure", () => {
    const failed = translateStream(
      "chat",
      "ollama",
      ndjson(line({ content: "A" }), { error: "out of memory" }, doneLine())
    )
    assert.deepInclude(failed.facts.problem, { status: 502, message: "out of memory" })
    assert.notInclude(failed.text, "[DONE]")
    const broken = translateStream("chat", "ollama", `${ndjson(line({ content: "A" }))}<html>\n${ndjson(doneLine())}`)
    assert.strictEqual(broken.facts.problem?.code, "unreadable_stream")
  })

  it("skips blank lines, a byte order mark, and what follows the end", () => {
    const text = `\ufeff\r\n\n${ndjson(line({ content: "A" }), doneLine(), line({ content: "B" }))}`
    const { facts } = translateStream("chat", "ollama", text)
    assert.deepInclude(facts, { textChars: 1, problem: null, terminated: true })
  })

  it("bounds a line", () => {
    const decoder = makeStreamDecoder(10)
    assert.deepEqual(
      decoder.push(Buffer.alloc(11, 97)).map((event) => (event.type === "error" ? event.problem.status : event.type)),
      [502]
    )
    assert.deepEqual(decoder.end(), [])
  })
})

describe("chat stream → ollama", () => {
  it("writes pieces, whole calls, and one last line with counts and durations", () => {
    let now = 0
    const { text } = translateStream(
      "ollama",
      "chat",
      sse(
        chunk({ reasoning_content: "hm" }),
        chunk({ content: "A" }),
        chunk({ tool_calls: [{ index: 0, id: "t", function: { name: "f", arguments: '{"a"' } }] }),
        chunk({ tool_calls: [{ index: 0, function: { arguments: ":1}" } }] }),
        chunk({ tool_calls: [{ index: 1, id: "u", function: { name: "g", arguments: "" } }] }),
        chunk({}, "tool_calls"),
        usage,
        "[DONE]"
      ),
      { elapsedMs: () => (now += 1) }
    )
    const head = { model: "gpt", created_at: "2023-11-14T22:13:20.000Z" }
    const says = (message: object) => ({
      ...head,
      message: { role: "assistant", content: "", ...message },
      done: false
    })
    assert.deepEqual(linesOf(text), [
      says({ thinking: "hm" }),
      says({ content: "A" }),
      says({ tool_calls: [{ id: "t", function: { name: "f", arguments: { a: 1 } } }] }),
      says({ tool_calls: [{ id: "u", function: { name: "g", arguments: {} } }] }),
      {
        ...says({}),
        done: true,
        done_reason: "stop",
        total_duration: 2_000_000,
        load_duration: 0,
        prompt_eval_duration: 1_000_000,
        eval_duration: 1_000_000,
        prompt_eval_count: 5,
        eval_count: 7
      }
    ])
  })

  it("speaks in the shape of the prompt endpoint", () => {
    const { text } = translateStream("generate", "chat", sse(chunk({ content: "A" }), chunk({}, "length"), "[DONE]"))
    assert.deepEqual(
      linesOf(text).map(({ done, done_reason: reason, response }) => [response, done, reason]),
      [
        ["A", false, undefined],
        ["", true, "length"]
      ]
    )
  })

  it("writes no end for a stream that broke, and the error as a line", () => {
    const { facts, text } = translateStream("ollama", "chat", sse(chunk({ content: "A" })))
    assert.isTrue(linesOf(text).every(({ done }) => !done))
    assert.isNotNull(facts.problem)
    const encoder = ollama.makeStreamEncoder({ nowMs: 0, fallbackId: "g", model: "m", wantsUsage: true })
    encoder.encode({ type: "error", problem: { status: 500, message: "x", type: null, code: null } })
    assert.strictEqual(encoder.encode({ type: "done" }), "")
  })

  it("gives signs of life as pieces that say nothing", () => {
    const encoder = ollama.makeStreamEncoder({ nowMs: 0, fallbackId: "g", model: "m", wantsUsage: true })
    assert.deepEqual(linesOf(encoder.encode({ type: "ping" })), [
      { model: "m", created_at: "1970-01-01T00:00:00.000Z", message: { role: "assistant", content: "" }, done: false }
    ])
  })
})
