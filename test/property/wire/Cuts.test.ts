/** A stream is the same stream wherever its bytes are cut and however it is framed: for all five wires, at every byte. */
import { assert, describe, it } from "@effect/vitest"
import type { WireName } from "../../../src/contract/domain/Wire.ts"
import { replay } from "../../../src/wire/canonical/Replay.ts"
import type { AnswerPart, Response } from "../../../src/wire/canonical/Response.ts"
import { codecs, type StreamEvent } from "../../../src/wire/Codec.ts"
import { cutBy } from "./arbitraries.ts"

const wires: ReadonlyArray<WireName> = ["chat", "messages", "responses", "gemini", "ollama"]
const context = { nowMs: 1_700_000_000_000, fallbackId: "g", model: "m", wantsUsage: true }

const parts: ReadonlyArray<AnswerPart> = [
  { type: "reasoning", text: "Hm… 🤔\n" },
  { type: "text", text: 'data: {"a"}\r\n\u2028 naïve 日本語 👩‍👩‍👧 [DONE]' },
  {
    type: "opaque",
    wire: null,
    kind: "web_search",
    value: {},
    search: {
      id: "s1",
      queries: ["naïve 日本"],
      hits: [{ url: "https://x.test/é", title: "🚀", snippet: "data: [DONE]\n\n", pageAge: null }],
      error: null
    }
  },
  {
    type: "text",
    text: "日本語 👩‍👩‍👧 ends",
    citations: [{ wire: null, value: {}, link: { url: "https://x.test/é", title: "🚀", text: "é", start: 4, end: 12 } }]
  },
  { type: "tool_call", id: "t1", name: "look", kind: "function", args: '{"q":"é 🚀","n":[1,2]}' },
  { type: "tool_call", id: "t2", name: "f", kind: "function", args: "{}" }
]

const answer: Response = {
  id: "r1",
  model: "m",
  createdMs: 1_700_000_000_000,
  parts,
  stop: { reason: "tool_calls", raw: "tool_calls", sequence: null },
  usage: { in: 9, out: 5, cacheRead: 2, cacheWrite: 0, reasoning: 1 },
  logprobs: null
}

const streamOf = (wire: WireName): string => {
  const encoder = codecs[wire].makeStreamEncoder(context)
  return replay(answer)
    .map((event) => encoder.encode(event))
    .join("")
}

/** JSON of one event on several `data:` lines. */
const spread = (stream: string): string =>
  stream.replaceAll(/^data: (\{.*\})$/gm, (_, json: string) =>
    JSON.stringify(JSON.parse(json), null, 1)
      .split("\n")
      .map((line) => `data: ${line}`)
      .join("\n")
  )

const framings: Readonly<Record<string, (stream: string) => string>> = {
  "as it is": (stream) => stream,
  CRLF: (stream) => stream.replaceAll("\n", "\r\n"),
  "comments between": (stream) => stream.replaceAll("\n\n", "\n\n: still here\n\n:\n\n"),
  "CR alone": (stream) => stream.replaceAll("\n", "\r"),
  "no space": (stream) => stream.replaceAll(/^(data|event): /gm, "$1:"),
  "byte order mark": (stream) => `\ufeff${stream}`,
  "ids and times": (stream) => stream.replaceAll(/^data:/gm, "id: 1\nretry: 10\ndata:"),
  "many data lines": spread,
  "no last empty line": (stream) => stream.replace(/\n+$/, "")
}

const lineFramings: Readonly<Record<string, (stream: string) => string>> = {
  "as it is": (stream) => stream,
  CRLF: (stream) => stream.replaceAll("\n", "\r\n"),
  "empty lines": (stream) => stream.replaceAll("\n", "\n\n"),
  "no last line end": (stream) => stream.replace(/\n$/, "")
}

const decode = (wire: WireName, pieces: ReadonlyArray<Buffer>): ReadonlyArray<StreamEvent> => {
  const decoder = codecs[wire].makeStreamDecoder()
  return [...pieces.flatMap((piece) => decoder.push(piece)), ...decoder.end()].filter(({ type }) => type !== "ping")
}

const relay = (wire: WireName, pieces: ReadonlyArray<Buffer>) => {
  const tap = codecs[wire].makeStreamTap({ hideUsage: false })
  const out = Buffer.concat([...pieces.map((piece) => tap.push(piece)), tap.end()])
  return { text: out.toString(), facts: { ...tap.facts } }
}

describe("a stream cut anywhere", () => {
  for (const wire of wires) {
    const stream = streamOf(wire)
    for (const [name, frame] of Object.entries(wire === "ollama" ? lineFramings : framings)) {
      it(`${wire}, ${name}`, () => {
        const bytes = Buffer.from(frame(stream))
        const events = decode(wire, [Buffer.from(stream)])
        assert.strictEqual(events.at(-1)?.type, "done")
        assert.deepEqual(decode(wire, [bytes]), events)
        for (const size of [1, 2, 3, 5, 7, 64]) assert.deepEqual(decode(wire, cutBy(bytes, [size])), events)
        const whole = relay(wire, [bytes])
        assert.isTrue(whole.facts.terminated)
        const expected = JSON.stringify(events)
        // Byte by byte above holds every framing to every place; in two pieces at every place, the wire's own.
        const stride = name === "as it is" ? 1 : 31
        for (let at = 1; at < bytes.length; at += stride) {
          const pieces = [bytes.subarray(0, at), bytes.subarray(at)]
          assert.strictEqual(JSON.stringify(decode(wire, pieces)), expected, `cut at ${at}`)
          const relayed = relay(wire, pieces)
          assert.strictEqual(relayed.text, whole.text, `cut at ${at}`)
          assert.deepEqual(relayed.facts, whole.facts, `cut at ${at}`)
        }
      })
    }
  }
})
