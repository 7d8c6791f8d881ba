/** Random and mangled streams into every decoder and tap: no throw, no endless work, bounded memory. Seeded. */
import { assert, describe, it } from "@effect/vitest"
import * as FC from "effect/FastCheck"
import { codecs, makeStreamTranslator, type StreamEvent } from "../../src/wire/Codec.ts"
import { makeArrayScanner } from "../../src/wire/gemini/stream/ArrayScanner.ts"
import { makeNdjsonScanner } from "../../src/wire/ollama/NdjsonScanner.ts"
import { makeSseFramer } from "../../src/wire/sse/SseFramer.ts"
import { cutBy, cutSizes } from "../property/wire/arbitraries.ts"
import { mangled, nastyTexts, streams, wires } from "./material.ts"

const run = { seed: 20_261_121, numRuns: 120 }
const context = { nowMs: 1, fallbackId: "g", model: "m", wantsUsage: true }

type Wire = (typeof wires)[number]

/** A stream through the tap and to every client: it ends in success or in a problem, and never in both. */
const feed = (wire: Wire, pieces: ReadonlyArray<Buffer>): void => {
  for (const hideUsage of [false, true]) {
    const tap = codecs[wire].makeStreamTap({ hideUsage })
    for (const piece of pieces) tap.push(piece)
    tap.end()
    assert.isFalse(tap.facts.terminated && tap.facts.problem !== null && tap.facts.stop === null)
  }
  for (const client of wires) {
    const translator = makeStreamTranslator(codecs[client], codecs[wire], context)
    for (const piece of pieces) translator.push(piece)
    translator.end()
    const { facts } = translator
    assert.isTrue(facts.problem !== null || (facts.terminated && facts.stop !== null))
  }
}

const framed = (wire: Wire, data: string): string => (wire === "ollama" ? `${data}\n` : `data: ${data}\n\n`)

const decodeAll = (wire: Wire, pieces: ReadonlyArray<Buffer>): ReadonlyArray<StreamEvent> => {
  const decoder = codecs[wire].makeStreamDecoder()
  return [...pieces.flatMap((piece) => decoder.push(piece)), ...decoder.end()]
}

describe("fuzzed streams", () => {
  for (const wire of wires) {
    it(`${wire}: any bytes`, () => {
      FC.assert(
        FC.property(FC.uint8Array({ maxLength: 300 }), cutSizes, (bytes, sizes) =>
          feed(wire, cutBy(Buffer.from(bytes), sizes))
        ),
        run
      )
    })

    it(`${wire}: a sound stream with bytes missing, doubled or strange`, () => {
      FC.assert(
        FC.property(mangled(streams[wire]), cutSizes, (bytes, sizes) => feed(wire, cutBy(bytes, sizes))),
        run
      )
    })

    it(`${wire}: events that are any JSON, between sound ones`, () => {
      const event = FC.oneof(FC.constantFrom(...nastyTexts), FC.json()).map((text) => framed(wire, text))
      FC.assert(
        FC.property(streams[wire], FC.array(event, { maxLength: 4 }), FC.nat(), (stream, events, at) => {
          const blocks = stream.split(/(?<=\n\n)/)
          const from = at % (blocks.length + 1)
          feed(wire, [Buffer.from([...blocks.slice(0, from), ...events, ...blocks.slice(from)].join(""))])
        }),
        run
      )
    })

    it(`${wire}: what follows a whole answer changes nothing`, () => {
      FC.assert(
        FC.property(streams[wire], FC.uint8Array({ maxLength: 60 }), (stream, tail) => {
          const seen = decodeAll(wire, [Buffer.from(stream), Buffer.from(tail)])
          const ends = seen.filter(({ type }) => type === "done" || type === "error")
          assert.strictEqual(ends.length, 1)
        }),
        run
      )
    })
  }

  it("an event that does not end is given up, whatever the chunks", () => {
    const limit = 1000
    const chunk = Buffer.alloc(64, "x")
    for (const framer of [makeSseFramer(limit), makeNdjsonScanner(limit)]) {
      for (let sent = 0; sent < 100; sent += 1) {
        framer.push(chunk, () => assert.fail("no block ends here"))
        assert.isAtMost(framer.pendingBytes(), limit + chunk.length)
      }
      assert.isNotNull(framer.failure())
      assert.strictEqual(framer.pendingBytes(), 0)
    }
  })

  it("an object of an array stream that does not end is given up", () => {
    const scanner = makeArrayScanner(1000)
    scanner.push(Buffer.from('[{"a":"'))
    for (let sent = 0; sent < 100; sent += 1) assert.deepEqual(scanner.push(Buffer.alloc(64, "x")), [])
    assert.isTrue(scanner.tooLarge())
    assert.deepEqual(scanner.push(Buffer.from('"},{"b":1}]')), [])
  })

  it("many small events are read in linear time: no chunk is looked at twice", () => {
    for (const wire of wires) {
      const stream = Buffer.from(framed(wire, '{"type":"ping"}').repeat(20_000))
      const pieces = cutBy(stream, [7])
      const decoder = codecs[wire].makeStreamDecoder()
      for (const piece of pieces) decoder.push(piece)
      decoder.end()
    }
  })
})
