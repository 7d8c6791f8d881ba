/** Protected places are found word by word and without what is marked already; they are those that the patterns find in the whole text. */
import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import {
  isUnprotected,
  patterns,
  protectedSpans,
  rememberedSpans,
  wordPatterns
} from "../../../src/plane/compression/Spans.ts"

const byDefinition = (text: string): ReadonlyArray<{ start: number; end: number }> => {
  const found = [...patterns, ...wordPatterns]
    .flatMap((pattern) =>
      Array.from(text.matchAll(pattern), (match) => ({ start: match.index, end: match.index + match[0].length }))
    )
    .toSorted((one, other) => one.start - other.start)
  const merged: Array<{ start: number; end: number }> = []
  for (const span of found) {
    const last = merged.at(-1)
    if (last !== undefined && span.start <= last.end) last.end = Math.max(last.end, span.end)
    else merged.push(span)
  }
  return merged
}

const pieces = [
  ..."the |really | |\n|\t|  |.|,|a.b|./x|/usr/bin|~/a|~~~|http://|C:\\x|A|AB|aB|a_b|--x|-|@|#t|$v|1|1.5|no |not |error".split(
    "|"
  ),
  ..."'|\"|`|```|[|]|{|}|<b>|>|é|ß|的|了|ない|\u00A0|\u2028|\r\n|\uD83D|😀|x.X|I |e.g. |Ünicode|kein|x-y|...|\\|\u3000|“q”|fooBar|don't ".split(
    "|"
  ),
  "|"
]
const texts = fc.array(fc.constantFrom(...pieces), { maxLength: 60 }).map((parts) => parts.join(""))

describe("protected places", () => {
  it("are those that the patterns find in the whole text", () => {
    fc.assert(
      fc.property(texts, (text) => {
        const spans = protectedSpans(text)
        assert.deepStrictEqual(spans, byDefinition(text))
        assert.strictEqual(isUnprotected(text), spans.length === 0)
      }),
      { numRuns: 3_000 }
    )
  })

  it("are the same when they are asked for again", () => {
    const spansOf = rememberedSpans()
    const text = "Read src/app.ts, then `run` it 3 times."
    assert.strictEqual(spansOf(text), spansOf(text))
    assert.deepStrictEqual(spansOf(text), protectedSpans(text))
  })
})
