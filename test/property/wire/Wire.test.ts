import { assert, describe, it } from "@effect/vitest"
import * as Either from "effect/Either"
import * as FC from "effect/FastCheck"
import { codecs, makeStreamTranslator } from "../../../src/wire/Codec.ts"
import type { StreamEvent } from "../../../src/wire/Codec.ts"
import type { JsonObject } from "../../../src/wire/json/Json.ts"
import { replaceModelBytes } from "../../../src/wire/json/TopLevelSplice.ts"
import { encodeSse, makeSseScanner } from "../../../src/wire/sse/SseScanner.ts"
import { chatRequest, chatStream, cutBy, cutSizes, decodeAll, messagesRequest, messagesStream } from "./arbitraries.ts"
import { survivesMutations } from "./mutations.ts"

type Wire = "chat" | "messages"

const wires: ReadonlyArray<Wire> = ["chat", "messages"]
const requests = { chat: chatRequest, messages: messagesRequest }
const streams = { chat: chatStream, messages: messagesStream }
const context = { nowMs: 1, fallbackId: "g", model: "m", wantsUsage: true }
const run = { seed: 20_261_121, numRuns: 150 }

describe("requests", () => {
  for (const wire of wires) {
    it(`${wire}: encoding and decoding a conversation gives it back, and drops nothing`, () => {
      FC.assert(
        FC.property(requests[wire], (body) => {
          const codec = codecs[wire]
          const first = Either.getOrThrow(codec.decodeRequest(body))
          const encoded = codec.encodeRequest(first, {
            model: first.model,
            stream: true,
            maxOutputTokens: null,
            reasoning: null
          })
          assert.deepEqual(encoded.dropped, [])
          // A stream is always asked for its usage.
          assert.deepEqual(Either.getOrThrow(codec.decodeRequest(encoded.body)), { ...first, wantsUsage: true })
        }),
        run
      )
    })
  }

  it("survive any mutation: a refusal or a translation, never a throw", () => {
    for (const wire of wires) {
      survivesMutations({
        source: codecs[wire],
        requests: requests[wire] as FC.Arbitrary<JsonObject>,
        junk: [{ type: "text" }, [null], { type: "tool_use" }],
        targets: wires.map((name) => codecs[name]),
        options: { model: "claude-opus-4-6", stream: true, maxOutputTokens: 4096, reasoning: null },
        depth: 6,
        numRuns: 400
      })
    }
  })
})

/** Without usage, and without blocks that say nothing: those are not told again. */
const meaningOf = (all: ReadonlyArray<StreamEvent>): ReadonlyArray<StreamEvent> => {
  const speaks = (event: StreamEvent): boolean =>
    event.type === "delta" ||
    (event.type === "block_start" && (event.block.type === "tool_call" || event.block.type === "opaque"))
  const said = [...new Set(all.flatMap((event) => ("index" in event && speaks(event) ? event.index : [])))]
  const order = said.toSorted((a, b) => a - b)
  return all.flatMap((event): ReadonlyArray<StreamEvent> => {
    if (event.type === "usage") return []
    if (!("index" in event)) return [event]
    return order.includes(event.index) ? [{ ...event, index: order.indexOf(event.index) }] : []
  })
}

describe("byte cuts", () => {
  it("do not change server-sent events", () => {
    const event = FC.tuple(FC.option(FC.stringMatching(/^[a-z]{1,6}$/)), FC.string({ minLength: 1, unit: "grapheme" }))
    FC.assert(
      FC.property(FC.array(event), cutSizes, FC.constantFrom("\n", "\r\n", "\r"), (events, sizes, newline) => {
        const clean = events.map(([name, data]) => [name, data.replaceAll("\r", "") || "x"] as const)
        const text = clean
          .map(([name, data]) => encodeSse(name, data))
          .join("")
          .replaceAll("\n", newline)
        const scanner = makeSseScanner()
        const seen = [...cutBy(Buffer.from(text), sizes).flatMap((piece) => scanner.push(piece)), ...scanner.end()]
        assert.deepEqual(
          seen.map((found) => [found.event, found.data]),
          clean.map(([name, data]) => [name, data])
        )
      }),
      run
    )
  })

  for (const wire of wires) {
    it(`${wire}: do not change decoded events`, () => {
      FC.assert(
        FC.property(streams[wire], cutSizes, (text, sizes) => {
          const whole = decodeAll(codecs[wire], text, [text.length * 4 + 1])
          assert.strictEqual(whole.at(-1)?.type, "done")
          assert.deepEqual(decodeAll(codecs[wire], text, sizes), whole)
        }),
        run
      )
    })

    it(`${wire}: a tap relays exactly what came, and learns what a translator learns`, () => {
      FC.assert(
        FC.property(streams[wire], cutSizes, (text, sizes) => {
          const tap = codecs[wire].makeStreamTap({ hideUsage: false })
          const pieces = cutBy(Buffer.from(text), sizes)
          const relayed = [...pieces.map((piece) => tap.push(piece)), tap.end()]
          assert.strictEqual(Buffer.concat(relayed).toString(), text)
          const translator = makeStreamTranslator(codecs.chat, codecs[wire], context)
          for (const piece of pieces) translator.push(piece)
          translator.end()
          // One counts the wire's events, the other canonical ones.
          const { events } = tap.facts
          assert.isAbove(events, 0)
          assert.deepEqual({ ...tap.facts, events }, { ...translator.facts, events })
          assert.isTrue(tap.facts.terminated)
        }),
        run
      )
    })

    it(`${wire}: a stream cut anywhere before its stop reason never ends in success`, () => {
      FC.assert(
        FC.property(streams[wire], FC.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }), (text, share) => {
          const stopAt = text.search(/"finish_reason":"|"stop_reason":"/)
          const bytes = Buffer.from(text.slice(0, Math.floor(stopAt * share)))
          for (const client of wires) {
            const translator = makeStreamTranslator(codecs[client], codecs[wire], context)
            const out = translator.push(bytes) + translator.end()
            assert.notMatch(out, /\[DONE\]|message_stop/)
            assert.isNotNull(translator.facts.problem)
          }
          const tap = codecs[wire].makeStreamTap({ hideUsage: false })
          tap.push(bytes)
          tap.end()
          assert.isNull(tap.facts.stop)
        }),
        run
      )
    })
  }

  it("messages: a stream goes through the canonical events and back unchanged in meaning", () => {
    FC.assert(
      FC.property(messagesStream, (text) => {
        const translator = makeStreamTranslator(codecs.messages, codecs.messages, context)
        const out = translator.push(Buffer.from(text)) + translator.end()
        assert.deepEqual(
          meaningOf(decodeAll(codecs.messages, out, [1000])),
          meaningOf(decodeAll(codecs.messages, text, [1000]))
        )
      }),
      run
    )
  })
})

describe("replaceModelBytes", () => {
  const key = FC.oneof(FC.constantFrom("model", "messages", '"model"', "mod\\el"), FC.string({ maxLength: 4 }))
  const value = FC.letrec((tie) => ({
    json: FC.oneof(
      { depthSize: "small" },
      FC.string(),
      FC.double({ noNaN: true, noDefaultInfinity: true }),
      FC.constantFrom(null, true, "model", '"model":'),
      FC.array(tie("json")),
      FC.dictionary(key, tie("json"))
    )
  })).json

  it("equals replacement on the parsed object, whatever stands around", () => {
    FC.assert(
      FC.property(FC.dictionary(key, value), FC.nat(3), FC.boolean(), FC.string(), (rest, indent, escaped, model) => {
        const body = { ...rest, model: "old" }
        const plain = JSON.stringify(body, null, indent)
        const text = escaped ? plain.replaceAll('"model":', '"\\u006dodel":') : plain
        const parsed = JSON.parse(text) as JsonObject
        const out = replaceModelBytes(Buffer.from(text), parsed, model).toString()
        assert.strictEqual(JSON.stringify(JSON.parse(out)), JSON.stringify({ ...parsed, model }))
        // Only the model's own text changed.
        assert.strictEqual(out.length - text.length, JSON.stringify(model).length - '"old"'.length)
      }),
      { ...run, numRuns: 400 }
    )
  })
})
