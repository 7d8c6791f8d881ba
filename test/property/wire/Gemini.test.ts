import { assert, describe, it } from "@effect/vitest"
import * as Either from "effect/Either"
import * as FC from "effect/FastCheck"
import * as Schema from "effect/Schema"
import { noTokens } from "../../../src/contract/domain/Usage.ts"
import { mergeUsage } from "../../../src/wire/canonical/Usage.ts"
import { chat } from "../../../src/wire/chat/Codec.ts"
import { makeStreamTranslator, type StreamEvent, type WireCodec } from "../../../src/wire/Codec.ts"
import { gemini } from "../../../src/wire/gemini/Codec.ts"
import { GeminiResponse } from "../../../src/wire/gemini/Schema.ts"
import { isObject, type JsonObject } from "../../../src/wire/json/Json.ts"
import { messages } from "../../../src/wire/messages/Codec.ts"
import { chatRequest, chatStream, cutBy, cutSizes, decodeAll, messagesRequest, messagesStream } from "./arbitraries.ts"
import { geminiAnswer, geminiChunks, geminiRequest, geminiStream } from "./GeminiArbitraries.ts"
import { survivesMutations } from "./mutations.ts"

const run = { seed: 20_261_121, numRuns: 150 }
const context = { nowMs: 1, fallbackId: "g", model: "m", wantsUsage: true }
const options = { model: "gemini-2.5-flash", stream: true, maxOutputTokens: 90_000, reasoning: true }
const others: ReadonlyArray<WireCodec> = [chat, messages]

/** What was said in the end, whichever way it was cut into blocks. */
const saidBy = (events: ReadonlyArray<StreamEvent>) => {
  const said = { text: "", reasoning: "", calls: [] as Array<readonly [string, unknown]>, stop: "", usage: noTokens }
  const blocks = new Map<number, { readonly type: string; readonly name: string; args: string }>()
  for (const event of events) {
    if (event.type === "block_start") {
      const name = event.block.type === "tool_call" ? event.block.name : ""
      blocks.set(event.index, { type: event.block.type, name, args: "" })
    } else if (event.type === "delta") {
      const block = blocks.get(event.index)
      if (event.delta.type === "args" && block !== undefined) block.args += event.delta.text
      if (event.delta.type === "text") said[block?.type === "reasoning" ? "reasoning" : "text"] += event.delta.text
    } else if (event.type === "block_stop") {
      const block = blocks.get(event.index)
      if (block?.type === "tool_call") said.calls.push([block.name, JSON.parse(block.args === "" ? "{}" : block.args)])
    } else if (event.type === "usage") said.usage = mergeUsage(said.usage, event.usage) ?? said.usage
    else if (event.type === "finish") said.stop = event.stop.reason
  }
  return said
}

/** The order the wire has: data lines only, each a whole answer, one finish reason, on the last. */
const readStrictly = (text: string): ReadonlyArray<JsonObject> => {
  assert.isTrue(text.endsWith("\n\n"))
  const chunks = text
    .slice(0, -2)
    .split("\n\n")
    .map((event) => {
      assert.match(event, /^data: \{[^\n]*\}$/)
      return JSON.parse(event.slice(6)) as JsonObject
    })
  for (const chunk of chunks) assert.isTrue(Schema.is(GeminiResponse)(chunk), JSON.stringify(chunk))
  const finished = chunks.map((chunk) => JSON.stringify(chunk).includes('"finishReason"'))
  assert.deepEqual(
    finished,
    chunks.map((_, index) => index === chunks.length - 1)
  )
  return chunks
}

describe("gemini requests", () => {
  it("come back from the canonical words as they were, with nothing dropped", () => {
    FC.assert(
      FC.property(geminiRequest, (body) => {
        const first = Either.getOrThrow(gemini.decodeRequest(body))
        const encoded = gemini.encodeRequest(first, { ...options, model: first.model })
        assert.deepEqual(encoded.dropped, [])
        const again = { ...encoded.body, model: first.model, stream: first.stream }
        assert.deepEqual(Either.getOrThrow(gemini.decodeRequest(again)), first)
      }),
      run
    )
  })

  it("read the same in snake_case", () => {
    const snake = (value: unknown, depth: number): unknown => {
      if (Array.isArray(value)) return value.map((item) => snake(item, depth))
      if (!isObject(value) || depth > 3) return value
      const renamed = Object.entries(value).map(([key, member]) => [
        key.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
        // Below these the keys are the client's own.
        /^(?:args|response|parametersJsonSchema|responseJsonSchema|labels|executableCode|codeExecutionResult|partMetadata)$/.test(
          key
        )
          ? member
          : snake(member, depth + 1)
      ])
      return Object.fromEntries(renamed)
    }
    FC.assert(
      FC.property(geminiRequest, (body) => {
        const other = gemini.decodeRequest(snake(body, 0) as JsonObject)
        assert.deepEqual(Either.getOrThrow(other), Either.getOrThrow(gemini.decodeRequest(body)))
      }),
      run
    )
  })

  it("survive any mutation: a refusal or a translation, never a throw", () => {
    survivesMutations({
      source: gemini,
      requests: geminiRequest,
      junk: [
        { functionCall: { name: "f" } },
        { functionResponse: { name: "f", id: 5 } },
        { parts: [{ inlineData: {} }] }
      ],
      targets: [...others, gemini],
      options,
      depth: 7,
      numRuns: 500
    })
  })

  it("say what requests of other wires say: texts, calls with their results, tools", () => {
    const sources = [
      [chat, chatRequest],
      [messages, messagesRequest]
    ] as const
    for (const [source, requests] of sources) {
      FC.assert(
        FC.property(requests, (body) => {
          const first = Either.getOrThrow(source.decodeRequest(body))
          const { body: encoded } = gemini.encodeRequest(first, options)
          const again = Either.getOrThrow(gemini.decodeRequest({ ...encoded, model: "m", stream: true }))
          const parts = (conversation: typeof first) => conversation.messages.flatMap((message) => message.parts)
          const texts = (conversation: typeof first) =>
            parts(conversation).flatMap((part) => {
              // A document of plain text is a text here.
              if (part.type === "file" && part.source.kind === "text") return part.source.text
              return part.type === "text" && part.text !== "" ? part.text : []
            })
          const calls = (conversation: typeof first) =>
            parts(conversation).flatMap((part) =>
              part.type === "tool_call" ? [[part.id, part.name, JSON.parse(part.args)]] : []
            )
          const results = (conversation: typeof first) =>
            parts(conversation).flatMap((part) =>
              part.type === "tool_result" ? [[part.callId, part.content, part.isError]] : []
            )
          const names = (conversation: typeof first) =>
            conversation.tools.flatMap((tool) => (tool.type === "function" ? tool.name : []))
          assert.sameMembers(texts(again), texts(first))
          assert.deepEqual(calls(again), calls(first))
          assert.deepEqual(results(again), results(first))
          assert.deepEqual(names(again), names(first))
          assert.strictEqual(again.maxOutputTokens, first.maxOutputTokens)
        }),
        run
      )
    }
  })
})

describe("gemini answers", () => {
  it("come back from the canonical words as they were", () => {
    FC.assert(
      FC.property(geminiAnswer, (body) => {
        const first = Either.getOrThrow(gemini.decodeResponse(body))
        const encoded = gemini.encodeResponse(first, context)
        assert.isTrue(Schema.is(GeminiResponse)(encoded))
        assert.deepEqual(Either.getOrThrow(gemini.decodeResponse(encoded)), first)
        assert.deepEqual(encoded["candidates"], body["candidates"])
      }),
      run
    )
  })

  it("keep texts, calls, usage and stop through other wires and back", () => {
    FC.assert(
      FC.property(geminiAnswer, (body) => {
        const first = Either.getOrThrow(gemini.decodeResponse(body))
        for (const other of others) {
          const there = other.encodeResponse(first, context)
          const back = Either.getOrThrow(other.decodeResponse(there))
          const said = (response: typeof first, type: "text" | "reasoning") =>
            response.parts.map((part) => (part.type === type ? part.text : "")).join("")
          const calls = (response: typeof first) =>
            response.parts.flatMap((part) =>
              part.type === "tool_call" ? [[part.id, part.name, JSON.parse(part.args)]] : []
            )
          assert.strictEqual(said(back, "text"), said(first, "text"))
          assert.strictEqual(said(back, "reasoning"), said(first, "reasoning"))
          assert.deepEqual(calls(back), calls(first))
          assert.strictEqual(back.stop.reason, first.stop.reason)
          assert.deepEqual(back.usage, first.usage)
        }
      }),
      run
    )
  })
})

describe("gemini streams", () => {
  it("decode to the same events under any cut, as events and as an array", () => {
    FC.assert(
      FC.property(geminiStream, geminiChunks, cutSizes, FC.nat(2), (text, chunks, sizes, indent) => {
        for (const stream of [text, JSON.stringify(chunks, null, indent)]) {
          const whole = decodeAll(gemini, stream, [stream.length * 4 + 1])
          assert.strictEqual(whole.at(-1)?.type, "done")
          assert.deepEqual(decodeAll(gemini, stream, sizes), whole)
        }
      }),
      run
    )
  })

  it("are relayed byte by byte, and the tap learns what a translator learns", () => {
    FC.assert(
      FC.property(geminiStream, cutSizes, (text, sizes) => {
        const tap = gemini.makeStreamTap({ hideUsage: false })
        const pieces = cutBy(Buffer.from(text), sizes)
        const relayed = [...pieces.map((piece) => tap.push(piece)), tap.end()]
        assert.strictEqual(Buffer.concat(relayed).toString(), text)
        const translator = makeStreamTranslator(chat, gemini, context)
        for (const piece of pieces) translator.push(piece)
        translator.end()
        assert.deepEqual({ ...tap.facts, events: 0 }, { ...translator.facts, events: 0 })
        assert.isTrue(tap.facts.terminated)
      }),
      run
    )
  })

  it("cut anywhere before the finish reason never end in success", () => {
    const share = FC.double({ min: 0, max: 1, maxExcluded: true, noNaN: true })
    FC.assert(
      FC.property(geminiStream, share, (text, at) => {
        const bytes = Buffer.from(text.slice(0, Math.floor(text.search(/"finishReason":"/) * at)))
        for (const client of [...others, gemini]) {
          const translator = makeStreamTranslator(client, gemini, context)
          const out = translator.push(bytes) + translator.end()
          assert.notMatch(out, /\[DONE\]|message_stop|finishReason/)
          assert.isNotNull(translator.facts.problem)
        }
        const tap = gemini.makeStreamTap({ hideUsage: false })
        tap.push(bytes)
        tap.end()
        assert.isFalse(tap.facts.terminated)
      }),
      run
    )
  })

  it("go through the canonical events and back unchanged in meaning, signatures too", () => {
    const proofs = (events: ReadonlyArray<StreamEvent>) =>
      events.flatMap((event) => (event.type === "delta" && event.delta.type === "state" ? event.delta.state : []))
    FC.assert(
      FC.property(geminiStream, (text) => {
        const translator = makeStreamTranslator(gemini, gemini, context)
        const out = translator.push(Buffer.from(text)) + translator.end()
        readStrictly(out)
        const [there, back] = [decodeAll(gemini, text, [1000]), decodeAll(gemini, out, [1000])]
        assert.deepEqual(saidBy(back), saidBy(there))
        assert.deepEqual(proofs(back), proofs(there))
      }),
      run
    )
  })

  it("keep what was said through other wires and back", () => {
    FC.assert(
      FC.property(geminiStream, (text) => {
        const said = saidBy(decodeAll(gemini, text, [1000]))
        for (const other of others) {
          const there = makeStreamTranslator(other, gemini, context)
          const middle = there.push(Buffer.from(text)) + there.end()
          assert.deepEqual(saidBy(decodeAll(other, middle, [1000])), said)
          const back = makeStreamTranslator(gemini, other, context)
          const out = back.push(Buffer.from(middle)) + back.end()
          readStrictly(out)
          assert.deepEqual(saidBy(decodeAll(gemini, out, [1000])), said)
        }
      }),
      run
    )
  })

  it("of other wires are written in the order of this one", () => {
    const sources = [
      [chat, chatStream],
      [messages, messagesStream]
    ] as const
    for (const [source, streams] of sources) {
      FC.assert(
        FC.property(streams, (text) => {
          const translator = makeStreamTranslator(gemini, source, context)
          const out = translator.push(Buffer.from(text)) + translator.end()
          readStrictly(out)
          const { stop, ...said } = saidBy(decodeAll(gemini, out, [1000]))
          const { stop: expected, ...source_ } = saidBy(decodeAll(source, text, [1000]))
          assert.deepEqual({ ...said, calls: said.calls.length }, { ...source_, calls: source_.calls.length })
          assert.strictEqual(stop, said.calls.length > 0 ? "tool_calls" : expected)
        }),
        run
      )
    }
  })

  it("survive any bytes", () => {
    const junk = FC.oneof(
      FC.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)),
      FC.json().map((text) => Buffer.from(text))
    )
    const mangled = FC.tuple(geminiStream, FC.nat(), junk).map(([text, at, bytes]) => {
      const whole = Buffer.from(text)
      const cut = at % whole.length
      return Buffer.concat([whole.subarray(0, cut), bytes, whole.subarray(cut)])
    })
    FC.assert(
      FC.property(FC.oneof(junk, mangled), cutSizes, (bytes, sizes) => {
        for (const client of [...others, gemini]) {
          const translator = makeStreamTranslator(client, gemini, context)
          for (const piece of cutBy(bytes, sizes)) translator.push(piece)
          translator.end()
          assert.isTrue(translator.facts.terminated !== (translator.facts.problem !== null))
        }
        const tap = gemini.makeStreamTap({ hideUsage: false })
        for (const piece of cutBy(bytes, sizes)) tap.push(piece)
        tap.end()
      }),
      { ...run, numRuns: 300 }
    )
  })
})
