/** Streams of all wires, with their texts split at will, and what a client makes of them. */
import { makePartCollector } from "../../../../src/wire/canonical/PartCollector.ts"
import { readers } from "../../../../src/plane/features/guardrails/answers/wires/readers.ts"
import { makeStreamFilter } from "../../../../src/plane/features/guardrails/answers/StreamFilter.ts"
import type { TextGuard } from "../../../../src/plane/features/guardrails/answers/TextGuard.ts"
import { framingOf } from "../../../../src/plane/reply/Frames.ts"
import { replay } from "../../../../src/wire/canonical/Replay.ts"
import type { AnswerPart, Response } from "../../../../src/wire/canonical/Response.ts"
import { codecs, type StreamEvent } from "../../../../src/wire/Codec.ts"
import { geminiArray } from "../../../../src/wire/gemini/Codec.ts"
import { ollamaGenerate } from "../../../../src/wire/ollama/Codec.ts"
import type { WireCodec } from "../../../../src/wire/WireCodec.ts"

export const clients: Readonly<Record<string, WireCodec>> = { ...codecs, geminiArray, ollamaGenerate }

export const answerOf = (parts: ReadonlyArray<AnswerPart>): Response => ({
  id: "r1",
  model: "m",
  createdMs: 1_700_000_000_000,
  parts,
  stop: { reason: "stop", raw: "stop", sequence: null },
  usage: { in: 9, out: 5, cacheRead: 2, cacheWrite: 0, reasoning: 1 },
  logprobs: null
})

const context = { nowMs: 1_700_000_000_000, fallbackId: "g", model: "m", wantsUsage: true }

/** Splits the text of each delta into pieces. */
export type Split = (text: string) => ReadonlyArray<string>

export const whole: Split = (text) => [text]
export const bySingleCharacters: Split = (text) =>
  Array.from({ length: text.length }, (_, at) => text.slice(at, at + 1))
export const twice =
  (at: number): Split =>
  (text) =>
    at > 0 && at < text.length ? [text.slice(0, at), text.slice(at)] : [text]

export const streamOf = (codec: WireCodec, parts: ReadonlyArray<AnswerPart>, split: Split = whole): string => {
  const encoder = codec.makeStreamEncoder(context)
  return replay(answerOf(parts))
    .flatMap((event): ReadonlyArray<StreamEvent> => {
      if (event.type !== "delta" || (event.delta.type !== "text" && event.delta.type !== "args")) return [event]
      const { delta } = event
      const { index, type } = event
      return split(delta.text).map((text) => ({ type, index, delta: { type: delta.type, text } }))
    })
    .map((event) => encoder.encode(event))
    .join("")
}

export const bodyOf = (codec: WireCodec, parts: ReadonlyArray<AnswerPart>): string =>
  JSON.stringify(codec.encodeResponse(answerOf(parts), context))

export interface Filtered {
  readonly text: string
  readonly found: ReadonlyArray<string>
  readonly pieces: ReadonlyArray<string>
}

export const filtered = (codec: WireCodec, guard: TextGuard, pieces: ReadonlyArray<Buffer | string>): Filtered => {
  const out: Array<Buffer> = []
  const found: Array<string> = []
  const filter = makeStreamFilter({
    framing: framingOf(codec),
    reader: readers[codec.name],
    guard,
    found: ({ detector }) => void found.push(detector),
    unread: () => {},
    read: () => {},
    release: (bytes) => void out.push(bytes)
  })
  for (const piece of pieces) filter.push(piece)
  filter.end()
  return { text: Buffer.concat(out).toString(), found, pieces: out.map(String) }
}

/** The parts of an answer as its client has them. */
export const partsOf = (codec: WireCodec, stream: string): ReadonlyArray<AnswerPart> => {
  const decoder = codec.makeStreamDecoder()
  const collector = makePartCollector()
  for (const event of [...decoder.push(Buffer.from(stream)), ...decoder.end()]) collector.add(event)
  return collector.parts() ?? []
}

/** The texts of a kind of part, joined: wires differ in how many parts they make of them. */
export const textOf = (parts: ReadonlyArray<AnswerPart>, type: "text" | "reasoning"): string =>
  parts.flatMap((part) => (part.type === type ? [part.text] : [])).join("")

export const argsOf = (parts: ReadonlyArray<AnswerPart>): ReadonlyArray<unknown> =>
  parts.flatMap((part): ReadonlyArray<unknown> => (part.type === "tool_call" ? [JSON.parse(part.args)] : []))
