import { assert, describe, it } from "@effect/vitest"
import * as Either from "effect/Either"
import * as FC from "effect/FastCheck"
import * as Schema from "effect/Schema"
import type { StreamEvent } from "../../../src/wire/canonical/Event.ts"
import type { Conversation } from "../../../src/wire/canonical/Conversation.ts"
import { chat } from "../../../src/wire/chat/Codec.ts"
import { makeStreamTranslator, translateRequest } from "../../../src/wire/Codec.ts"
import type { JsonObject } from "../../../src/wire/json/Json.ts"
import { messages } from "../../../src/wire/messages/Codec.ts"
import { ollama, ollamaGenerate } from "../../../src/wire/ollama/Codec.ts"
import { makeNdjsonScanner } from "../../../src/wire/ollama/NdjsonScanner.ts"
import { OllamaChatAnswer } from "../../../src/wire/ollama/Schema.ts"
import type { WireCodec } from "../../../src/wire/WireCodec.ts"
import {
  chatRequest,
  chatStream,
  cutBy,
  cutSizes,
  decodeAll,
  messagesRequest,
  messagesStream,
  text,
  word
} from "./arbitraries.ts"
import { survivesMutations } from "./mutations.ts"

const run = { seed: 20_261_121, numRuns: 150 }
const context = { nowMs: 1, fallbackId: "g", model: "m", wantsUsage: true }
const encodeOptions = { model: "m", stream: true, maxOutputTokens: 64_000, reasoning: null }

const args = FC.dictionary(word, FC.oneof(FC.integer(), text, FC.boolean(), FC.constant(null)), { maxKeys: 3 })
const picture = FC.constantFrom("iVBORw0KGgoAAAANSUhEUgAA", "/9j/4AAQSkZJRg==", "AAAA")

const some = (fields: Readonly<Record<string, FC.Arbitrary<unknown>>>): FC.Arbitrary<JsonObject> =>
  FC.record(fields, { requiredKeys: [] }) as FC.Arbitrary<JsonObject>

const call = FC.tuple(word, args, FC.option(word, { nil: undefined })).map(([name, input, id]): JsonObject => {
  const spec = { name, arguments: input }
  return id === undefined ? { function: spec } : { id, function: spec }
})

const withModel = (more: JsonObject, said: JsonObject): JsonObject => ({ model: "m", ...more, ...said })

const resultOf = (item: JsonObject, content: string, named: boolean): JsonObject => {
  const { name } = item["function"] as JsonObject
  return named ? { role: "tool", content, tool_name: name } : { role: "tool", content }
}

const toolTurn = FC.tuple(FC.array(call, { minLength: 1, maxLength: 3 }), text, FC.boolean()).map(
  ([calls, content, named]) => {
    const asked: JsonObject = { role: "assistant", content: "", tool_calls: calls }
    return [asked].concat(calls.map((item) => resultOf(item, content, named)))
  }
)

const turn = FC.tuple(
  some({ images: FC.array(picture, { minLength: 1, maxLength: 2 }), "x-turn": FC.integer() }),
  some({ thinking: text }),
  text
).map(([more, thought, content]): ReadonlyArray<JsonObject> => [
  { role: "user", content, ...more },
  { role: "assistant", content, ...thought }
])

const sharedFields = {
  stream: FC.boolean(),
  format: FC.constantFrom("json", { type: "object" }),
  think: FC.constantFrom(true, false, "low", "high"),
  keep_alive: FC.constantFrom("5m", 0),
  logprobs: FC.boolean(),
  options: some({
    temperature: FC.constantFrom(0, 0.5),
    num_predict: FC.constantFrom(-1, 5),
    num_ctx: FC.nat(),
    stop: FC.oneof(text, FC.array(text, { minLength: 1, maxLength: 6 })),
    top_k: FC.integer({ min: 1, max: 50 })
  })
}

const tool = FC.record({ name: word, description: text }).map((spec) => ({ type: "function", function: spec }))

const ollamaRequest = FC.tuple(
  some({ ...sharedFields, tools: FC.array(tool, { minLength: 1, maxLength: 3 }) }),
  FC.array(FC.oneof(turn, toolTurn), { minLength: 1, maxLength: 4 })
).map(([more, turns]): JsonObject => withModel(more, { messages: turns.flat() }))

const generateRequest = FC.tuple(
  some({ ...sharedFields, system: text, images: FC.array(picture, { maxLength: 2 }), suffix: text, raw: FC.boolean() }),
  text
).map(([more, prompt]): JsonObject => withModel(more, { prompt }))

const says = FC.oneof(
  text.map((content): JsonObject => ({ content })),
  text.map((thinking): JsonObject => ({ content: "", thinking })),
  call.map((item): JsonObject => ({ content: "", tool_calls: [item] })),
  FC.constant<JsonObject>({ content: "" })
)

/** A well-formed stream in one of the legal framings. */
const ollamaStream = FC.tuple(
  FC.array(says, { maxLength: 8 }),
  FC.constantFrom("stop", "length"),
  FC.constantFrom("\n", "\r\n", "\n\n")
).map(([pieces, reason, newline]) => {
  const head = { model: "l", created_at: "2025-07-07T20:22:19.184789Z" }
  const lines = pieces.map((said) => ({ ...head, message: { role: "assistant", ...said }, done: false }))
  const end = { ...head, message: { role: "assistant", content: "" }, done: true, done_reason: reason, eval_count: 3 }
  return [...lines, end].map((value) => JSON.stringify(value) + newline).join("")
})

const through = (client: WireCodec, upstream: WireCodec, stream: string, sizes: ReadonlyArray<number>) => {
  const translator = makeStreamTranslator(client, upstream, context)
  const out = cutBy(Buffer.from(stream), sizes).map((piece) => translator.push(piece))
  return { text: out.join("") + translator.end(), facts: translator.facts }
}

/** What an answer said, without regard to pieces, ids and order between kinds. */
const meaningOf = (events: ReadonlyArray<StreamEvent>) => {
  const kinds = new Map<number, string>()
  const said = { text: "", reasoning: "", calls: [] as Array<readonly [string, unknown]>, stop: "", out: 0 }
  const inputs = new Map<number, string>()
  for (const event of events) {
    if (event.type === "block_start") {
      kinds.set(event.index, event.block.type)
      if (event.block.type === "tool_call") inputs.set(event.index, "")
    } else if (event.type === "delta" && event.delta.type === "args")
      inputs.set(event.index, (inputs.get(event.index) ?? "") + event.delta.text)
    else if (event.type === "delta" && event.delta.type === "text") {
      if (kinds.get(event.index) === "reasoning") said.reasoning += event.delta.text
      else said.text += event.delta.text
    } else if (event.type === "usage") said.out = event.usage.out ?? said.out
    else if (event.type === "finish") said.stop = event.stop.reason
  }
  for (const event of events) {
    if (event.type !== "block_start" || event.block.type !== "tool_call") continue
    said.calls.push([event.block.name, JSON.parse(inputs.get(event.index) || "{}")])
  }
  return said
}

describe("requests", () => {
  const own: ReadonlyArray<readonly [string, WireCodec, FC.Arbitrary<JsonObject>]> = [
    ["chat", ollama, ollamaRequest],
    ["generate", ollamaGenerate, generateRequest]
  ]
  for (const [endpoint, codec, arbitrary] of own) {
    it(`${endpoint}: encoding and decoding a conversation gives it back, and drops nothing`, () => {
      FC.assert(
        FC.property(arbitrary, (body) => {
          const first = Either.getOrThrow(codec.decodeRequest(body))
          const encoded = codec.encodeRequest(first, { ...encodeOptions, stream: first.stream })
          assert.deepEqual(encoded.dropped, [])
          assert.deepEqual(Either.getOrThrow(codec.decodeRequest(encoded.body)), first)
        }),
        run
      )
    })
  }

  const saidIn = ({ messages: turns }: Conversation) => {
    const parts = turns.flatMap((message) => message.parts)
    return {
      texts: parts.flatMap((part) => (part.type === "text" && part.text !== "" ? [part.text] : [])),
      calls: parts.flatMap((part) => (part.type === "tool_call" ? [[part.name, JSON.parse(part.args)]] : [])),
      results: parts.flatMap((part) =>
        part.type === "tool_result" ? part.content.flatMap((item) => (item.type === "text" ? item.text : [])) : []
      ),
      images: parts.filter((part) => part.type === "image").length
    }
  }

  it("keep texts, calls, results and pictures over another wire and back", () => {
    for (const other of [chat, messages]) {
      FC.assert(
        FC.property(ollamaRequest, (body) => {
          const there = Either.getOrThrow(translateRequest(ollama, other, body, encodeOptions))
          const back = Either.getOrThrow(translateRequest(other, ollama, there.body, encodeOptions))
          const first = saidIn(Either.getOrThrow(ollama.decodeRequest(body)))
          const last = saidIn(Either.getOrThrow(ollama.decodeRequest(back.body)))
          assert.deepEqual({ ...last, texts: last.texts.join("\n") }, { ...first, texts: last.texts.join("\n") })
          // The messages wire joins turns of one role, and trims a last answer.
          const words = (texts: ReadonlyArray<string>) => texts.join("").replaceAll(/\s/g, "")
          assert.strictEqual(words(last.texts), words(first.texts))
        }),
        run
      )
    }
  })

  it("survive any mutation: a refusal or a translation, never a throw", () => {
    const sources: ReadonlyArray<readonly [WireCodec, FC.Arbitrary<JsonObject>]> = [
      [ollama, ollamaRequest],
      [ollamaGenerate, generateRequest],
      [chat, chatRequest],
      [messages, messagesRequest as FC.Arbitrary<JsonObject>]
    ]
    for (const [source, arbitrary] of sources) {
      survivesMutations({
        source,
        requests: arbitrary,
        junk: [[null], { function: 5 }, "__proto__"],
        targets: sources.map(([codec]) => codec),
        options: encodeOptions,
        depth: 6,
        numRuns: 400
      })
    }
  })
})

describe("answers", () => {
  it("survive any body: a problem or an answer, never a throw", () => {
    FC.assert(
      FC.property(
        FC.dictionary(FC.constantFrom("message", "done", "response", "error", "created_at"), FC.jsonValue()),
        (body) => {
          ollama.readAnswer(body as JsonObject)
          const answer = ollama.decodeResponse(body as JsonObject)
          if (Either.isRight(answer))
            for (const codec of [ollama, chat, messages]) codec.encodeResponse(answer.right, context)
        }
      ),
      { ...run, numRuns: 400 }
    )
  })

  it("are themselves again after encoding and decoding", () => {
    FC.assert(
      FC.property(says, FC.constantFrom("stop", "length"), (said, reason) => {
        const body = {
          model: "l",
          created_at: "2025-07-07T20:22:19.184Z",
          message: said,
          done: true,
          done_reason: reason
        }
        const first = Either.getOrThrow(ollama.decodeResponse({ ...body, eval_count: 3, prompt_eval_count: 4 }))
        assert.deepEqual(Either.getOrThrow(ollama.decodeResponse(ollama.encodeResponse(first, context))), first)
      }),
      run
    )
  })
})

describe("byte cuts", () => {
  it("do not change lines", () => {
    FC.assert(
      FC.property(FC.array(FC.string({ unit: "grapheme" })), cutSizes, (contents, sizes) => {
        const lines = contents.map((content) => `${content.replaceAll("\n", "")}\n`)
        const scanner = makeNdjsonScanner()
        const seen: Array<string> = []
        for (const piece of cutBy(Buffer.from(lines.join("")), sizes))
          scanner.push(piece, (bytes, start, end) => seen.push(bytes.toString("utf8", start, end)))
        assert.deepEqual(seen, lines)
      }),
      run
    )
  })

  it("do not change decoded events", () => {
    FC.assert(
      FC.property(ollamaStream, cutSizes, (stream, sizes) => {
        const whole = decodeAll(ollama, stream, [stream.length * 4 + 1])
        assert.strictEqual(whole.at(-1)?.type, "done")
        assert.deepEqual(decodeAll(ollama, stream, sizes), whole)
      }),
      run
    )
  })

  it("do not change what a tap relays and learns", () => {
    FC.assert(
      FC.property(ollamaStream, cutSizes, (stream, sizes) => {
        const tap = ollama.makeStreamTap({ hideUsage: false })
        const relayed = [...cutBy(Buffer.from(stream), sizes).map((piece) => tap.push(piece)), tap.end()]
        assert.strictEqual(Buffer.concat(relayed).toString(), stream)
        const { facts } = through(chat, ollama, stream, sizes)
        // A tap counts lines, a translator counts canonical events.
        assert.deepEqual({ ...tap.facts, events: 0 }, { ...facts, events: 0 })
      }),
      run
    )
  })

  it("anywhere before the end never make a success", () => {
    FC.assert(
      FC.property(ollamaStream, FC.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }), (stream, share) => {
        const bytes = Buffer.from(stream.slice(0, Math.floor(stream.indexOf('"done":true') * share)))
        for (const client of [chat, messages, ollama]) {
          const { facts, text: out } = through(client, ollama, bytes.toString(), [1000])
          assert.notMatch(out, /\[DONE\]|message_stop|"done":true/)
          assert.isNotNull(facts.problem)
        }
        const tap = ollama.makeStreamTap({ hideUsage: false })
        tap.push(bytes)
        tap.end()
        assert.isFalse(tap.facts.terminated)
      }),
      run
    )
  })
})

describe("streams", () => {
  /** The rules a strict client of this wire goes by. */
  const checkLines = (out: string): void => {
    assert.isTrue(out.endsWith("\n"))
    const lines = out.slice(0, -1).split("\n")
    for (const [index, value] of lines.entries()) {
      const parsed: unknown = JSON.parse(value)
      if (!Schema.is(OllamaChatAnswer)(parsed)) throw new Error(`no line of this wire: ${value}`)
      assert.strictEqual(parsed.done, index === lines.length - 1)
      assert.isFalse(Number.isNaN(Date.parse(parsed.created_at)))
      assert.notProperty(parsed, "error")
    }
  }

  const foreign: ReadonlyArray<readonly [WireCodec, FC.Arbitrary<string>]> = [
    [chat, chatStream],
    [messages, messagesStream],
    [ollama, ollamaStream]
  ]

  for (const [upstream, arbitrary] of foreign) {
    it(`${upstream.name} → ollama: lines a strict client takes, with the same meaning`, () => {
      FC.assert(
        FC.property(arbitrary, cutSizes, (stream, sizes) => {
          const { text: out } = through(ollama, upstream, stream, sizes)
          checkLines(out)
          const first = meaningOf(decodeAll(upstream, stream, [1000]))
          const last = meaningOf(decodeAll(ollama, out, [1000]))
          // This wire has no word for a stop that waits for tools: the calls tell.
          const stop = first.calls.length > 0 && first.stop === "stop" ? "tool_calls" : first.stop
          const calls = first.calls.map(
            ([name, input]) => [name, Array.isArray(input) ? { arguments: JSON.stringify(input) } : input] as const
          )
          assert.deepEqual(last, { ...first, calls, stop })
        }),
        run
      )
    })
  }

  for (const client of [chat, messages]) {
    it(`ollama → ${client.name}: the same meaning`, () => {
      FC.assert(
        FC.property(ollamaStream, cutSizes, (stream, sizes) => {
          const { text: out } = through(client, ollama, stream, sizes)
          assert.deepEqual(meaningOf(decodeAll(client, out, [1000])), meaningOf(decodeAll(ollama, stream, [1000])))
        }),
        run
      )
    })
  }

  it("survive any bytes: decoder and tap never throw, and end in a failure or an answer", () => {
    const bytes = FC.oneof(
      FC.uint8Array({ maxLength: 200 }).map((value) => Buffer.from(value)),
      FC.tuple(ollamaStream, FC.nat(), FC.string({ maxLength: 5 })).map(([stream, at, junk]) => {
        const cut = at % stream.length
        return Buffer.from(stream.slice(0, cut) + junk + stream.slice(cut))
      })
    )
    FC.assert(
      FC.property(bytes, cutSizes, (input, sizes) => {
        const decoder = ollama.makeStreamDecoder()
        const events = [...cutBy(input, sizes).flatMap((piece) => decoder.push(piece)), ...decoder.end()]
        assert.oneOf(events.at(-1)?.type, ["done", "error"])
        const tap = ollama.makeStreamTap({ hideUsage: false })
        for (const piece of cutBy(input, sizes)) tap.push(piece)
        tap.end()
      }),
      { ...run, numRuns: 400 }
    )
  })
})
