/** Transcripts as text, as subtitles and as JSON. */
import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import {
  asText,
  asVerbose,
  segmentsOf,
  type Segment,
  subtitles,
  timestamp
} from "../../../../src/wire/media/transcriptions/Transcript.ts"

const said = (text: string, start: number, end: number): Segment => ({ text, start, end })
const bare = { language: null, duration: null, words: [], segments: [] }

describe("a transcript", () => {
  it("has timestamps of hours, minutes, seconds and milliseconds", () => {
    assert.strictEqual(timestamp(3_661.0425, ","), "01:01:01,043")
    assert.strictEqual(timestamp(0, "."), "00:00:00.000")
    assert.strictEqual(timestamp(360_000, "."), "100:00:00.000")
  })

  it("is divided at sentences, silences, and where it is too long to read", () => {
    const words = [
      said("Hi.", 0, 0.4),
      said("Is", 0.5, 0.6),
      said("it", 0.6, 0.7),
      said("late?", 3, 3.4),
      said("Yes", 3.5, 12)
    ]
    assert.deepStrictEqual(segmentsOf(words), [
      said("Hi.", 0, 0.4),
      said("Is it", 0.5, 0.7),
      said("late?", 3, 3.4),
      said("Yes", 3.5, 12)
    ])
  })

  it("loses no word when it is divided, and none comes before the one before it", () => {
    const word = fc.record({
      text: fc.stringMatching(/^[a-z]{1,30}[.?]?$/),
      length: fc.double({ min: 0, max: 9, noNaN: true })
    })
    fc.assert(
      fc.property(fc.array(word, { maxLength: 60 }), (drawn) => {
        let at = 0
        const words = drawn.map(({ length, text }) => said(text, at, (at += length)))
        const segments = segmentsOf(words)
        assert.strictEqual(segments.map(({ text }) => text).join(" "), words.map(({ text }) => text).join(" "))
        for (const [index, segment] of segments.entries()) {
          assert.isAtMost(segment.start, segment.end)
          assert.isAtLeast(segment.start, segments[index - 1]?.end ?? 0)
        }
      }),
      { seed: 7 }
    )
  })

  it("does not let a text end its cue or begin another", () => {
    const cues = subtitles("srt", [said("a\n\n2\n00:00 --> 00:01\nb", 0, 1)])
    assert.strictEqual(cues, "1\n00:00:00,000 --> 00:00:01,000\na 2 00:00 -> 00:01 b\n\n")
  })

  it("is no subtitles without times, unless nothing was said", () => {
    assert.isNull(asText("srt", { ...bare, text: "Hello." }))
    assert.strictEqual(asText("vtt", { ...bare, text: "" }), "WEBVTT\n\n")
    assert.strictEqual(asText("text", { ...bare, text: "Hello." }), "Hello.\n")
  })

  it("tells its length by its last piece where the provider does not", () => {
    const verbose = asVerbose({ ...bare, text: "Hi.", words: [said("Hi.", 0, 0.4)] }, false)
    assert.deepInclude(verbose, { duration: 0.4, language: "unknown" })
    assert.notProperty(verbose, "words")
  })
})
