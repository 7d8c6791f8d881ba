/** What the fuzz tests feed: random values, mutations of sound bodies and streams, and values made to break walkers. */
import * as FC from "effect/FastCheck"
import type { WireName } from "../../src/contract/domain/Wire.ts"
import { isObject, type JsonObject } from "../../src/wire/json/Json.ts"
import { ollama } from "../../src/wire/ollama/Codec.ts"
import { responses } from "../../src/wire/responses/Codec.ts"
import type { StreamEvent, WireCodec } from "../../src/wire/Codec.ts"
import { chatRequest, chatStream, messagesRequest, messagesStream } from "../property/wire/arbitraries.ts"
import { geminiAnswer, geminiRequest, geminiStream } from "../property/wire/GeminiArbitraries.ts"
import { answersOf, bodies, requestsOf } from "../unit/wire/fields/examples.ts"
import { answerFields } from "../../src/wire/fields/AnswerFields.ts"
import { requestFields } from "../../src/wire/fields/RequestFields.ts"

export const wires: ReadonlyArray<WireName> = ["chat", "messages", "responses", "gemini", "ollama"]

/** Sound requests: one per row of the field table, and random ones where there are. */
const examples = (wire: WireName): ReadonlyArray<JsonObject> =>
  requestFields.flatMap<JsonObject>(({ id }) => {
    const more = requestsOf(id)[wire]
    return more === undefined ? [] : bodies[wire](more)
  })

const withExamples = (wire: WireName, more?: FC.Arbitrary<JsonObject>): FC.Arbitrary<JsonObject> => {
  const known = FC.constantFrom(...examples(wire))
  return more === undefined ? known : FC.oneof(known, more)
}

export const requests: Readonly<Record<WireName, FC.Arbitrary<JsonObject>>> = {
  chat: withExamples("chat", chatRequest),
  messages: withExamples("messages", messagesRequest),
  responses: withExamples("responses"),
  gemini: withExamples("gemini", geminiRequest),
  ollama: withExamples("ollama")
}

const answerExamples = (wire: WireName): FC.Arbitrary<JsonObject> =>
  FC.constantFrom(...answerFields.flatMap<JsonObject>(({ id }) => answersOf(id)[wire] ?? []))

export const answers: Readonly<Record<WireName, FC.Arbitrary<JsonObject>>> = {
  chat: answerExamples("chat"),
  messages: answerExamples("messages"),
  responses: answerExamples("responses"),
  gemini: FC.oneof(answerExamples("gemini"), geminiAnswer),
  ollama: answerExamples("ollama")
}

/** Sound streams of wires without an arbitrary of their own: what the encoder makes of events. */
const said = FC.array(
  FC.record({
    type: FC.constantFrom("text" as const, "reasoning" as const, "refusal" as const, "call" as const),
    text: FC.string({ maxLength: 12, unit: "grapheme" })
  }),
  { maxLength: 5 }
)

const encoded = (codec: WireCodec): FC.Arbitrary<string> =>
  said.map((blocks) => {
    const events: Array<StreamEvent> = [{ type: "start", id: "r", model: "m", createdMs: 1000 }]
    for (const [index, { text, type }] of blocks.entries()) {
      const call = type === "call"
      const block = call
        ? { type: "tool_call" as const, id: `t${index}`, name: "f", kind: "function" as const }
        : { type }
      events.push({ type: "block_start", index, block })
      const delta = call ? { type: "args" as const, text: JSON.stringify({ text }) } : { type: "text" as const, text }
      events.push({ type: "delta", index, delta }, { type: "block_stop", index })
    }
    const usage = { in: 1, out: 2, cacheRead: 0, cacheWrite: 0, reasoning: 0 }
    const stop = { reason: "stop" as const, raw: "stop", sequence: null }
    events.push({ type: "usage", usage }, { type: "finish", stop }, { type: "done" })
    const encoder = codec.makeStreamEncoder({ nowMs: 1, fallbackId: "g", model: "m", wantsUsage: true })
    return events.map((event) => encoder.encode(event)).join("")
  })

export const streams: Readonly<Record<WireName, FC.Arbitrary<string>>> = {
  chat: chatStream,
  messages: messagesStream,
  responses: encoded(responses),
  gemini: geminiStream,
  ollama: encoded(ollama)
}

const nested = (levels: number, open: string, close: string): string => open.repeat(levels) + "1" + close.repeat(levels)

/** JSON texts: deep, huge, and full of keys and characters that have caused bugs. */
export const nastyTexts: ReadonlyArray<string> = [
  nested(400, "[", "]"),
  nested(400, '{"a":', "}"),
  nested(10_000, "[", "]"),
  nested(10_000, '{"properties":{"a":', "}}"),
  '{"__proto__":{"type":"text","text":"x"},"constructor":1,"prototype":2,"toString":3,"hasOwnProperty":4}',
  '{"type":"text","type":"image","text":"a","text":5}',
  '"\\ud800 lone"',
  '"\\udc00\\ud800"',
  '"\\u0000\\u0001\\u001f"',
  "1e999",
  "-1e999",
  "9007199254740993",
  "1e-400",
  "-0",
  '""',
  "[]",
  "{}",
  "null",
  `"${"x".repeat(20_000)}"`,
  '"data:image/png;base64,%%%"',
  '"data:;base64,"',
  '"constructor"',
  '"__proto__"'
]

/** A value that is written into a body as text, so that what JSON.parse makes of it is what arrives. */
const mark = "\u0001nasty\u0001"

export const nasty: FC.Arbitrary<string> = FC.oneof(FC.constantFrom(...nastyTexts), FC.json())

const mutate = (value: unknown, path: ReadonlyArray<number>): unknown => {
  const [step, ...rest] = path
  if (step === undefined || typeof value !== "object" || value === null) return mark
  const entries = Object.entries(value)
  const [key, inner] = entries[step % Math.max(1, entries.length)] ?? ["x", null]
  const changed = mutate(inner, rest)
  if (Array.isArray(value)) return value.map((item, index) => (String(index) === key ? changed : item))
  return isObject(value) ? { ...value, [key]: changed } : mark
}

const path = FC.array(FC.nat(30), { minLength: 1, maxLength: 7 })

/** JSON text of a sound value in which one place holds something else. */
export const mutated = (values: FC.Arbitrary<JsonObject>): FC.Arbitrary<string> =>
  FC.tuple(values, path, nasty).map(([value, at, text]) =>
    JSON.stringify(mutate(value, at)).replace(JSON.stringify(mark), () => text)
  )

/** JSON text of a sound value from which bytes were taken, doubled, or into which some were put. */
export const mangled = (texts: FC.Arbitrary<string>): FC.Arbitrary<Buffer> =>
  FC.tuple(texts, FC.nat(), FC.nat(40), FC.oneof(FC.uint8Array({ maxLength: 40 }), FC.constant(null))).map(
    ([text, at, length, bytes]) => {
      const whole = Buffer.from(text)
      const from = at % (whole.length + 1)
      const cut = whole.subarray(from, from + length)
      return Buffer.concat([
        whole.subarray(0, from),
        bytes ?? cut,
        bytes === null ? cut : nothing,
        whole.subarray(from + length)
      ])
    }
  )

const nothing = Buffer.alloc(0)
