/** What an answer rests on, in bytes on one wire and in units of text on the others. */
import { assert, describe, it } from "@effect/vitest"
import * as Either from "effect/Either"
import * as FastCheck from "effect/FastCheck"
import { makeGrounded, makeGrounding } from "../../../../src/wire/gemini/Grounding.ts"
import { codecs } from "../../../../src/wire/Codec.ts"
import { objectOr } from "../../../../src/wire/json/Json.ts"

const metadata = (start: number, end: number) => ({
  webSearchQueries: ["q"],
  groundingChunks: [{ web: { uri: "https://x.test", title: "X" } }],
  groundingSupports: [{ segment: { startIndex: start, endIndex: end }, groundingChunkIndices: [0, 7, "x"] }]
})

describe("grounding", () => {
  it("has the same words, whatever they are made of", () => {
    const texts = FastCheck.tuple(
      FastCheck.string({ unit: "grapheme", maxLength: 20 }),
      FastCheck.string({ unit: "grapheme", minLength: 1, maxLength: 20 }),
      FastCheck.string({ unit: "grapheme", maxLength: 20 })
    )
    FastCheck.assert(
      FastCheck.property(texts, ([before, words, after]) => {
        const text = before + words + after
        const start = Buffer.byteLength(before)
        const [citation] = makeGrounded(metadata(start, start + Buffer.byteLength(words)))(text, () => true)
        assert.strictEqual(text.slice(citation?.link?.start ?? 0, citation?.link?.end ?? 0), words)
        const writer = makeGrounding()
        writer.links(citation?.link === undefined ? [] : [citation.link], text, 0, 0)
        const [support] = objectOr(writer.metadata())["groundingSupports"] as unknown as ReadonlyArray<{
          readonly segment: { readonly startIndex?: number; readonly endIndex: number; readonly text: string }
        }>
        assert.deepInclude(support?.segment, { text: words, endIndex: start + Buffer.byteLength(words) })
        assert.strictEqual(support?.segment.startIndex ?? 0, start)
      })
    )
  })

  it("beyond the text, of other shapes, or of other parts is nothing wrong", () => {
    for (const wrong of [
      metadata(0, 9_999),
      metadata(9_999, 0),
      metadata(-5, -1),
      { groundingSupports: "x", groundingChunks: [null, 1, {}] },
      { groundingSupports: [{ segment: null, groundingChunkIndices: null }] }
    ]) {
      const decoded = codecs.gemini.decodeResponse({
        candidates: [{ content: { parts: [{ text: "a" }] }, finishReason: "STOP", groundingMetadata: wrong }]
      })
      assert.isTrue(Either.isRight(decoded))
      for (const wire of ["chat", "messages", "responses", "gemini", "ollama"] as const) {
        if (Either.isRight(decoded))
          codecs[wire].encodeResponse(decoded.right, { nowMs: 1, fallbackId: "f", model: "m", wantsUsage: true })
      }
    }
  })

  it("stays as it was between two of its own wire", () => {
    const given = metadata(0, 1)
    const body = {
      candidates: [{ index: 0, content: { parts: [{ text: "a" }] }, finishReason: "STOP", groundingMetadata: given }]
    }
    const decoded = Either.getOrThrow(codecs.gemini.decodeResponse(body))
    const [candidate] = codecs.gemini.encodeResponse(decoded, {
      nowMs: 1,
      fallbackId: "f",
      model: "m",
      wantsUsage: true
    })["candidates"] as unknown as ReadonlyArray<{ readonly groundingMetadata: object }>
    assert.deepEqual(candidate?.groundingMetadata, given)
  })
})
