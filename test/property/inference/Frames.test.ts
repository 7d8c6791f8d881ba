/** The events of a stream are the same wherever its bytes are cut, and no byte is lost: for all wires, at every byte. */
import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import { type Frame, type Framing, framingOf, makeFrames, withData } from "../../../src/plane/reply/Frames.ts"
import { replay } from "../../../src/wire/canonical/Replay.ts"
import type { Response } from "../../../src/wire/canonical/Response.ts"
import { codecs } from "../../../src/wire/Codec.ts"
import { geminiArray } from "../../../src/wire/gemini/Codec.ts"
import { ollamaGenerate } from "../../../src/wire/ollama/Codec.ts"
import type { WireCodec } from "../../../src/wire/WireCodec.ts"

const answer: Response = {
  id: "r1",
  model: "m",
  createdMs: 1_700_000_000_000,
  parts: [
    { type: "reasoning", text: "Hm… 🤔\n" },
    { type: "text", text: 'data: {"a"}\r\n\u2028 naïve 日本語 👩‍👩‍👧 [DONE] ]},{[' },
    { type: "tool_call", id: "t1", name: "look", kind: "function", args: '{"q":"é 🚀 }","n":[1,2]}' }
  ],
  stop: { reason: "tool_calls", raw: "tool_calls", sequence: null },
  usage: { in: 9, out: 5, cacheRead: 2, cacheWrite: 0, reasoning: 1 },
  logprobs: null
}

const context = { nowMs: 1_700_000_000_000, fallbackId: "g", model: "m", wantsUsage: true }

const streamOf = (codec: WireCodec): string => {
  const encoder = codec.makeStreamEncoder(context)
  return replay(answer)
    .map((event) => encoder.encode(event))
    .join("")
}

const clients: Readonly<Record<string, WireCodec>> = { ...codecs, geminiArray, ollamaGenerate }

const framesOf = (framing: Framing, pieces: ReadonlyArray<Buffer>, maxBytes?: number): ReadonlyArray<Frame> => {
  const frames = makeFrames(framing, maxBytes)
  return [...pieces.flatMap((piece) => frames.push(piece)), ...frames.end()]
}

const bytesOf = (frames: ReadonlyArray<Frame>): string =>
  Buffer.concat(frames.map(({ bytes }) => bytes)).toString("hex")
const saidBy = (frames: ReadonlyArray<Frame>): ReadonlyArray<readonly [string | null, string]> =>
  frames.flatMap(({ data, event }) => (data === null ? [] : [[event, data] as const]))

const lineEndings: Readonly<Record<string, (stream: string) => string>> = {
  "as it is": (stream) => stream,
  CRLF: (stream) => stream.replaceAll("\n", "\r\n"),
  "a byte order mark, comments and blanks": (stream) => `\ufeff${stream.replaceAll("\n\n", "\n\n: still here\n\n\n")}`,
  "no last line end": (stream) => stream.replace(/\n+$/, "")
}

describe("frames of a stream", () => {
  for (const [name, codec] of Object.entries(clients)) {
    const framing = framingOf(codec)
    const shapes = framing === "array" ? { "as it is": lineEndings["as it is"] ?? String } : lineEndings
    for (const [shape, shaped] of Object.entries(shapes)) {
      it(`${name}, ${shape}: cut at every byte`, () => {
        const bytes = Buffer.from(
          framing === "lines" ? shaped(streamOf(codec)).replace("\ufeff", "") : shaped(streamOf(codec))
        )
        const whole = framesOf(framing, [bytes])
        assert.strictEqual(bytesOf(whole), bytes.toString("hex"))
        assert.isAtLeast(saidBy(whole).length, 4)
        for (let at = 1; at < bytes.length; at += 1) {
          const frames = framesOf(framing, [bytes.subarray(0, at), bytes.subarray(at)])
          assert.strictEqual(bytesOf(frames), bytes.toString("hex"), `cut at ${at}`)
          assert.deepStrictEqual(saidBy(frames), saidBy(whole), `cut at ${at}`)
        }
        const single = framesOf(
          framing,
          Array.from(bytes, (_, at) => bytes.subarray(at, at + 1))
        )
        assert.strictEqual(bytesOf(single), bytes.toString("hex"))
        assert.deepStrictEqual(saidBy(single), saidBy(whole))
      })

      it(`${name}, ${shape}: other data takes the place of an event's own and nothing else changes`, () => {
        const text = framing === "lines" ? shaped(streamOf(codec)).replace("\ufeff", "") : shaped(streamOf(codec))
        const frames = framesOf(framing, [Buffer.from(text)])
        const said = frames.map((frame, index) =>
          frame.data?.startsWith("{") === true ? withData(framing, frame, `{"other":${index}}`) : frame.bytes
        )
        const again = saidBy(framesOf(framing, [Buffer.concat(said)]))
        const expected = frames.flatMap(({ data, event }, index) =>
          data === null ? [] : [[event, data.startsWith("{") ? `{"other":${index}}` : data] as const]
        )
        assert.deepStrictEqual(again, expected)
      })
    }
  }

  it("any bytes, cut anywhere, come out as they went in", () => {
    const alphabet = fc.constantFrom(
      "\n",
      "\r",
      "\r\n",
      "data: {}",
      "data:",
      "{",
      "}",
      '"',
      "\\",
      ":",
      " ",
      "é",
      "[",
      "]",
      ",",
      "event: x"
    )
    const framings = fc.constantFrom<Framing>("events", "lines", "array")
    fc.assert(
      fc.property(fc.array(fc.array(alphabet, { maxLength: 6 }), { maxLength: 12 }), framings, (texts, framing) => {
        const pieces = texts.map((text) => Buffer.from(text.join("")))
        const frames = framesOf(framing, pieces, 64)
        assert.strictEqual(bytesOf(frames), Buffer.concat(pieces).toString("hex"))
      }),
      { numRuns: 500 }
    )
  })

  it("passes an event beyond the limit in torn frames, without gathering it, and reads the next", () => {
    for (const [framing, long, next] of [
      ["events", `data: {"a":"${"x".repeat(500)}"}\n\n`, 'data: {"b":1}\n\n'],
      ["lines", `{"a":"${"x".repeat(500)}"}\n`, '{"b":1}\n'],
      ["array", `[{"a":"${"x".repeat(500)}"}`, ',{"b":1}']
    ] as const) {
      const bytes = Buffer.from(long + next)
      const frames = makeFrames(framing, 100)
      const out: Array<Frame> = []
      for (let at = 0; at < bytes.length; at += 10) {
        out.push(...frames.push(bytes.subarray(at, at + 10)))
        assert.isAtMost(frames.pendingBytes(), 110)
      }
      out.push(...frames.end())
      assert.strictEqual(bytesOf(out), bytes.toString("hex"))
      assert.isTrue(out.some(({ isTorn }) => isTorn))
      assert.deepStrictEqual(
        saidBy(out).map(([, data]) => data),
        ['{"b":1}']
      )
    }
  })

  it("gives a sign of life between two events at once", () => {
    const frames = makeFrames("events")
    frames.push('data: {"a":1}\n\n')
    assert.deepStrictEqual(
      frames.push("\n").map(({ bytes }) => bytes.toString()),
      ["\n"]
    )
    assert.strictEqual(frames.pendingBytes(), 0)
    frames.push("data: {")
    assert.deepStrictEqual(frames.push("\n"), [])
  })
})
